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
import { linkTo, param, setParams } from '../state/location.ts'
import { useResource } from '../state/resource.ts'
import { useDocument } from '../state/store.ts'
import { compactRows, itemsOfCloud } from '../state/topology-part.ts'
import { ItemDetails } from './topology-item.tsx'
import { Drawing } from './topology-map.tsx'

/** More clouds than this are drawn one at a time. */
const ALL_DRAWN = 8

const choices: readonly (readonly [value: string, title: string])[] = [
  ['touches', 'What it touches'],
  ['l2', 'Its L2 domain'],
]

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
  // Of a segment its L2 domain is the first question.
  const isSegment = selected.startsWith('segment:')
  const marksL2 = (show || (isSegment ? 'l2' : 'touches')) === 'l2'
  const lit = useMemo(() => {
    if (chosen) return new Set(marksL2 ? chosen.l2 : chosen.touches)
    if (filter === '') return undefined
    return new Set(items.filter((item) => matchesItem(filter, item)).map(({ id }) => id))
  }, [chosen, marksL2, filter, items])
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
            <Choice label="What is marked" name="show" values={isSegment ? choices.toReversed() : choices} />
            <a href={linkTo('topology', { filter, cloud: param('cloud') })}>Clear the selection</a>
            {chosen?.falls.text && <p role="status">{chosen.falls.text}</p>}
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
