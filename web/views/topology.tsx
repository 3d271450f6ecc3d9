/** Topology: nodes, NICs, segments, networks and clouds in columns; a selection shows what it touches in all clouds. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type {
  TopologyDocument,
  TopologyEdge,
  TopologyItem,
  TopologyItemDocument,
} from '../../src/console/documents/topology.ts'
import { fillRoute } from '../../src/console/routes.ts'
import { Choice } from '../parts/choice.tsx'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { Mark } from '../parts/mark.tsx'
import { Panel } from '../parts/panel.tsx'
import { ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param, route, setParams } from '../state/location.ts'
import { useResource } from '../state/resource.ts'
import { useDocument } from '../state/store.ts'
import { compactRows, itemsOfCloud } from '../state/topology-part.ts'
import { ItemDetails } from './topology-item.tsx'

/** Columns share the width of the screen: a column is 100 units wide, an item part of it. Heights are pixels. */
const COLUMN = 100
const ITEM_LEFT = 2
const ITEM_WIDTH = 80
const MIN_COLUMN_PIXELS = 118
const ROW = 27
const ITEM_HEIGHT = 22
const HEAD = 24
/** More clouds than this are drawn one at a time. */
const ALL_DRAWN = 8

export function TopologyView(): JSX.Element {
  return (
    <WithDocument view="topology" loaded={useDocument('topology')}>
      {(document) => <Topology document={document} />}
    </WithDocument>
  )
}

function Topology({ document }: { readonly document: TopologyDocument }): JSX.Element {
  const { items, edges, command, notes } = document
  const [selected, filter, show] = [param('selected'), param('filter'), param('show')]
  const { value: chosen } = useResource<TopologyItemDocument>(
    selected === '' ? '' : fillRoute('topologyItem', { item: selected }),
    (event) => event.kind === 'changed' && event.route === 'topologyItem',
  )
  const lit = useMemo(() => {
    if (chosen) return new Set(show === 'l2' ? chosen.l2 : chosen.touches)
    if (filter === '') return undefined
    return new Set(items.filter((item) => matchesItem(filter, item)).map(({ id }) => id))
  }, [chosen, show, filter, items])
  const clouds = useMemo(() => items.filter(({ kind }) => kind === 'cloud'), [items])
  const cloud = param('cloud') || (clouds.length > ALL_DRAWN ? (clouds[0]?.cloud ?? '') : '')
  const drawn = useMemo(() => {
    if (clouds.length <= ALL_DRAWN && param('cloud') === '') return document
    return compactRows(document, chosen && lit ? lit : itemsOfCloud(document, cloud))
  }, [document, clouds, cloud, chosen, lit])
  const matching = lit && !chosen ? lit.size : items.length
  return (
    <>
      <ViewHead title="Topology" command={command} notes={notes} />
      <Problems edges={edges} items={items} />
      <div class="tools">
        <CloudChoice clouds={clouds} cloud={cloud} />
        <Filter label="Mark matching items" shown={matching} total={items.length} />
        {selected !== '' && (
          <>
            <Choice
              label="What is marked"
              name="show"
              values={[
                ['', 'What it touches'],
                ['l2', 'Its L2 domain'],
              ]}
            />
            <a href={linkTo('topology', { filter, cloud: param('cloud') })}>Clear the selection</a>
          </>
        )}
      </div>
      <Panel title="Map">
        <Drawing columns={document.columns} items={drawn.items} edges={drawn.edges} lit={lit} selected={selected} />
      </Panel>
      <ItemDetails document={document} chosen={chosen} selected={selected} />
    </>
  )
}

function matchesItem(filter: string, { label, kind, cloud, details }: TopologyItem): boolean {
  return matchesFilter(filter, [label, kind, cloud, ...details])
}

interface CloudChoiceProps {
  readonly clouds: readonly TopologyItem[]
  readonly cloud: string
}

function CloudChoice({ clouds, cloud }: CloudChoiceProps): JSX.Element | null {
  if (clouds.length < 2) return null
  return (
    <select
      aria-label="Cloud"
      value={cloud}
      onChange={(event) => setParams({ cloud: event.currentTarget.value, selected: '' })}
    >
      {clouds.length <= ALL_DRAWN && <option value="">all clouds</option>}
      {clouds.map(({ id, label, cloud: name }) => (
        <option key={id} value={name}>
          {label}
        </option>
      ))}
    </select>
  )
}

interface DrawingProps extends Pick<TopologyDocument, 'columns' | 'items' | 'edges'> {
  /** Ids that are marked; undefined marks everything. */
  readonly lit: ReadonlySet<string> | undefined
  readonly selected: string
}

function Drawing({ columns, items, edges, lit, selected }: DrawingProps): JSX.Element {
  const places = useMemo(() => new Map(items.map((item) => [item.id, item])), [items])
  const height = HEAD + (Math.max(0, ...items.map(({ row }) => row)) + 1) * ROW
  const unit = 100 / (columns.length * COLUMN)
  return (
    <div class="scroll map" tabIndex={0} role="group" aria-label="Items by column">
      <div class="map-area" style={{ minWidth: `${columns.length * MIN_COLUMN_PIXELS}px`, height: `${height}px` }}>
        {columns.map((title, column) => (
          <h3 key={title} class="map-column quiet" style={{ left: `${left(column) * unit}%` }}>
            {title}
          </h3>
        ))}
        <svg viewBox={`0 0 ${columns.length * COLUMN} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {edges.map((edge) => (
            <Edge key={edge.id} edge={edge} places={places} lit={lit} />
          ))}
        </svg>
        {items.map((item) => (
          <Item
            key={item.id}
            item={item}
            unit={unit}
            lit={!lit ? '' : lit.has(item.id) ? 'lit' : 'dim'}
            selected={item.id === selected}
          />
        ))}
      </div>
    </div>
  )
}

function left(column: number): number {
  return ITEM_LEFT + column * COLUMN
}

interface EdgeProps {
  readonly edge: TopologyEdge
  readonly places: ReadonlyMap<string, TopologyItem>
  readonly lit: ReadonlySet<string> | undefined
}

function Edge({ edge, places, lit }: EdgeProps): JSX.Element | null {
  const [from, to] = [places.get(edge.from), places.get(edge.to)]
  if (!from || !to) return null
  const isLit = !lit || lit.has(edge.id) || (lit.has(edge.from) && lit.has(edge.to))
  const state = edge.problem ? 'problem' : edge.probe ? `probe-${edge.probe.verdict}` : ''
  return <path class={`link ${edge.kind} ${state}${isLit ? '' : ' dim'}`} d={edgePath(from, to)} />
}

function edgePath(from: TopologyItem, to: TopologyItem): string {
  const [y1, y2] = [middle(from), middle(to)]
  if (from.column === to.column) {
    // Two items of one column: an arc beside it.
    const x = left(from.column) + ITEM_WIDTH
    return `M${x} ${y1}C${x + 24} ${y1} ${x + 24} ${y2} ${x} ${y2}`
  }
  const [first, last] = from.column < to.column ? [from, to] : [to, from]
  const x1 = left(first.column) + ITEM_WIDTH
  const x2 = left(last.column)
  const half = (x2 - x1) / 2
  return `M${x1} ${middle(first)}C${x1 + half} ${middle(first)} ${x2 - half} ${middle(last)} ${x2} ${middle(last)}`
}

function middle({ row }: TopologyItem): number {
  return HEAD + row * ROW + ITEM_HEIGHT / 2
}

interface ItemProps {
  /** Per cent of the width. */
  readonly unit: number
  readonly item: TopologyItem
  readonly lit: '' | 'lit' | 'dim'
  readonly selected: boolean
}

function Item({ item, unit, lit, selected }: ItemProps): JSX.Element {
  const { id, kind, column, row, label, count, state, details } = item
  return (
    <a
      data-item
      class={`item ${kind} ${lit}`}
      style={{
        left: `${left(column) * unit}%`,
        top: `${HEAD + row * ROW}px`,
        width: `${ITEM_WIDTH * unit}%`,
        height: `${ITEM_HEIGHT}px`,
      }}
      href={linkTo('topology', { ...route.value.params, selected: selected ? '' : id })}
      aria-current={selected ? 'true' : undefined}
      title={[label, ...details].join('\n')}
    >
      {state && state !== 'unknown' && <Mark state={state} short />}
      <span class="item-label">{label}</span>
      {count !== undefined && count > 1 && <span class="count">{count}</span>}
    </a>
  )
}

function Problems({
  edges,
  items,
}: {
  readonly edges: readonly TopologyEdge[]
  readonly items: readonly TopologyItem[]
}): JSX.Element | null {
  const problems = edges.filter(({ problem }) => problem !== undefined)
  if (problems.length === 0) return null
  const label = (id: string): string => items.find((item) => item.id === id)?.label ?? id
  return (
    <Panel title="Isolation problems">
      <ul class="attention">
        {problems.map(({ id, from, to, problem }) => (
          <li key={id} class={problem?.severity}>
            <Mark state={problem?.severity ?? 'error'} short />
            <div>
              <a data-item href={linkTo('topology', { selected: from })}>{`${label(from)} and ${label(to)}`}</a>
              <p class="quiet wrap">{`${problem?.code} ${problem?.message}`}</p>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
