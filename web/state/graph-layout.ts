/** Lays out the graph of stages with dagre, from left to right. */
import dagre from '@dagrejs/dagre'
import type { StageView } from '../../src/run/run-view.ts'

interface Point {
  readonly x: number
  readonly y: number
}

export interface GraphLayout {
  readonly width: number
  readonly height: number
  /** The position is the middle of a node. */
  readonly nodes: readonly (Point & { readonly id: string; readonly width: number; readonly height: number })[]
  readonly edges: readonly { readonly from: string; readonly to: string; readonly points: readonly Point[] }[]
}

const CHARACTER = 7.4
const MARGIN = 12

export function layOutStages(stages: readonly Pick<StageView, 'id' | 'after'>[]): GraphLayout {
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 8, ranksep: 30, marginx: MARGIN, marginy: MARGIN })
  graph.setDefaultEdgeLabel(() => ({}))
  const ids = new Set(stages.map(({ id }) => id))
  for (const { id } of stages) graph.setNode(id, { width: id.length * CHARACTER + 16, height: 26 })
  for (const { id, after } of stages) for (const before of after) if (ids.has(before)) graph.setEdge(before, id)
  dagre.layout(graph)
  const edges: GraphLayout['edges'] = graph
    .edges()
    .map((edge) => ({ from: edge.v, to: edge.w, points: graph.edge(edge).points ?? [] }))
  // Edges may leave the box of the nodes.
  const ys = edges.flatMap(({ points }) => points.map(({ y }) => y))
  const { width = 0, height = 0 } = graph.graph()
  const top = Math.min(0, ...ys.map((y) => y - MARGIN))
  const down = <T extends Point>(point: T): T => ({ ...point, y: point.y - top })
  return {
    width,
    height: Math.max(height, ...ys.map((y) => y + MARGIN)) - top,
    nodes: graph.nodes().map((id) => down({ id, ...sizeOf(graph.node(id)) })),
    edges: edges.map(({ points, ...edge }) => ({ ...edge, points: points.map(down) })),
  }
}

type Box = Point & { readonly width: number; readonly height: number }

function sizeOf({ x, y, width, height }: Box): Box {
  return { x, y, width, height }
}
