/** Draws the topology: items in columns on the background of their cloud, and the edges between them. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TopologyDocument, TopologyEdge, TopologyItem } from '../../src/console/documents/topology.ts'
import { Mark } from '../parts/mark.tsx'
import { linkTo, route } from '../state/location.ts'

/** Heights are pixels; widths are parts of the drawing, which is as wide as the screen allows. */
const ROW = 27
const ITEM_HEIGHT = 22
const HEAD = 26

interface DrawingProps extends Pick<TopologyDocument, 'columns' | 'items' | 'edges'> {
  /** Ids that are marked; undefined marks everything. */
  readonly lit: ReadonlySet<string> | undefined
  readonly selected: string
}

/** Left edge and width of the items of a column. */
interface Lane {
  readonly left: number
  readonly width: number
}

const WIDTH = 1000
/** In characters: the space between columns, edges, mark and count beside a label, and the labels that set the width. */
const GAP = 2.6
const [EDGES, MARK, COUNT] = [2.4, 2.8, 4.2]
const [SHORTEST, LONGEST] = [7, 20]
const CHARACTER_PIXELS = 6.9

function layOutColumns({ columns, items }: Pick<DrawingProps, 'columns' | 'items'>): {
  readonly lanes: readonly Lane[]
  readonly pixels: number
} {
  const widths = columns.map((_, column) => {
    const widths = items
      .filter((item) => item.column === column)
      .map((item) => Math.min(LONGEST, item.label.length) + (hasMark(item) ? MARK : 0) + (hasCount(item) ? COUNT : 0))
    return Math.max(SHORTEST, ...widths) + EDGES
  })
  const total = widths.reduce((sum, width) => sum + width + GAP, 0)
  let next = GAP / 2
  const lanes = widths.map((width) => {
    const lane = { left: (next / total) * WIDTH, width: (width / total) * WIDTH }
    next += width + GAP
    return lane
  })
  return { lanes, pixels: Math.round(total * CHARACTER_PIXELS) }
}

export function Drawing({ columns, items, edges, lit, selected }: DrawingProps): JSX.Element {
  const places = useMemo(() => new Map(items.map((item) => [item.id, item])), [items])
  const { lanes, pixels } = useMemo(() => layOutColumns({ columns, items }), [columns, items])
  const height = HEAD + (Math.max(0, ...items.map(({ row }) => row)) + 1) * ROW
  return (
    <div class="scroll map" tabIndex={0} role="group" aria-label="Items by column">
      <div class="map-area" style={{ minWidth: `${pixels}px`, height: `${height}px` }}>
        <Bands items={items} lanes={lanes} />
        {columns.map((title, column) => (
          <h3 key={title} class="map-column quiet" style={{ left: percent(lanes[column]?.left) }}>
            {title}
          </h3>
        ))}
        <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {edges.filter(isDrawn).map((edge) => (
            <Edge key={edge.id} edge={edge} places={places} lanes={lanes} lit={lit} />
          ))}
        </svg>
        {items.map((item) => (
          <Item
            key={item.id}
            item={item}
            lane={lanes[item.column]}
            lit={!lit ? '' : lit.has(item.id) ? 'lit' : 'dim'}
            selected={item.id === selected}
          />
        ))}
      </div>
    </div>
  )
}

/** The cloud of a network is its band: a line to it would cross pools and VIPs. */
function isDrawn({ kind, from, problem, probe }: TopologyEdge): boolean {
  return kind !== 'belongs' || !from.startsWith('network:') || problem !== undefined || probe !== undefined
}

function percent(value: number | undefined): string {
  return `${((value ?? 0) / WIDTH) * 100}%`
}

/** What belongs to one cloud, on one background. */
function Bands({
  items,
  lanes,
}: {
  readonly items: readonly TopologyItem[]
  readonly lanes: readonly Lane[]
}): JSX.Element {
  const bands = new Map<string, { first: number; last: number; column: number }>()
  for (const { cloud, row, column } of items) {
    if (cloud === undefined) continue
    const band = bands.get(cloud) ?? { first: row, last: row, column }
    bands.set(cloud, {
      first: Math.min(band.first, row),
      last: Math.max(band.last, row),
      column: Math.min(band.column, column),
    })
  }
  return (
    <>
      {[...bands].map(([cloud, { first, last, column }]) => (
        <div
          key={cloud}
          class="map-band"
          style={{
            left: percent((lanes[column]?.left ?? 0) - 8),
            right: '0',
            top: `${HEAD + first * ROW - 4}px`,
            height: `${(last - first) * ROW + ITEM_HEIGHT + 8}px`,
          }}
        />
      ))}
    </>
  )
}

interface EdgeProps {
  readonly edge: TopologyEdge
  readonly places: ReadonlyMap<string, TopologyItem>
  readonly lanes: readonly Lane[]
  readonly lit: ReadonlySet<string> | undefined
}

function Edge({ edge, places, lanes, lit }: EdgeProps): JSX.Element | null {
  const [from, to] = [places.get(edge.from), places.get(edge.to)]
  if (!from || !to) return null
  const isLit = !lit || lit.has(edge.id) || (lit.has(edge.from) && lit.has(edge.to))
  const state = edge.problem ? 'problem' : edge.probe ? `probe-${edge.probe.verdict}` : ''
  return <path class={`link ${edge.kind} ${state}${isLit ? '' : ' dim'}`} d={edgePath(from, to, lanes)} />
}

function edgePath(from: TopologyItem, to: TopologyItem, lanes: readonly Lane[]): string {
  const leftOf = ({ column }: TopologyItem): number => lanes[column]?.left ?? 0
  const rightOf = (item: TopologyItem): number => leftOf(item) + (lanes[item.column]?.width ?? 0)
  const [y1, y2] = [middle(from), middle(to)]
  if (from.column === to.column) {
    // Two items of one column: an arc beside it.
    const x = rightOf(from)
    return `M${x} ${y1}C${x + 24} ${y1} ${x + 24} ${y2} ${x} ${y2}`
  }
  const [first, last] = from.column < to.column ? [from, to] : [to, from]
  const [x1, x2] = [rightOf(first), leftOf(last)]
  const half = (x2 - x1) / 2
  return `M${x1} ${middle(first)}C${x1 + half} ${middle(first)} ${x2 - half} ${middle(last)} ${x2} ${middle(last)}`
}

function middle({ row }: TopologyItem): number {
  return HEAD + row * ROW + ITEM_HEIGHT / 2
}

interface ItemProps {
  readonly item: TopologyItem
  readonly lane: Lane | undefined
  readonly lit: '' | 'lit' | 'dim'
  readonly selected: boolean
}

function Item({ item, lane, lit, selected }: ItemProps): JSX.Element {
  const { id, kind, row, label, count, state, details } = item
  return (
    <a
      data-item
      class={`item ${kind} ${lit}`}
      style={{
        left: percent(lane?.left),
        top: `${HEAD + row * ROW}px`,
        width: percent(lane?.width),
        height: `${ITEM_HEIGHT}px`,
      }}
      href={linkTo('topology', { ...route.value.params, selected: selected ? '' : id })}
      aria-current={selected ? 'true' : undefined}
      title={[label, ...details].join('\n')}
    >
      {hasMark(item) && <Mark state={state ?? ''} short />}
      <span class="item-label">{label}</span>
      {hasCount(item) && <span class="count">{count}</span>}
    </a>
  )
}

function hasMark({ state }: TopologyItem): boolean {
  return state !== undefined && state !== 'unknown'
}

function hasCount({ count }: TopologyItem): boolean {
  return count !== undefined && count > 1
}
