/** The graph of stages, laid out by dagre, which is loaded only for this drawing. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { RunView, StageView } from '../../src/run/run-view.ts'
import { Loading } from '../parts/view.tsx'
import type { GraphLayout } from '../state/graph-layout.ts'
import { linkTo, route } from '../state/location.ts'

interface RunGraphProps {
  readonly folded: RunView
  readonly critical: readonly string[]
}

export function RunGraph({ folded, critical }: RunGraphProps): JSX.Element {
  const layout = useSignal<GraphLayout | undefined>(undefined)
  const stages = [...folded.stages.values()]
  // The layout depends on the stages alone: a state that changes moves nothing.
  const shape = stages.map(({ id, after }) => `${id}<${after.join()}`).join(' ')
  useEffect(() => {
    let open = true
    void import('../state/graph-layout.ts').then(({ layOutStages }) => {
      if (open) layout.value = layOutStages(stages)
    })
    return () => {
      open = false
    }
  }, [shape])
  const steps = useMemo(() => new Set(critical.slice(1).map((id, index) => `${critical[index]} ${id}`)), [critical])
  if (!layout.value) return <Loading />
  const { width, height, nodes, edges } = layout.value
  return (
    <div class="scroll">
      <svg
        class="graph"
        style={{ maxWidth: `${width}px`, minWidth: `${Math.round(width * 0.72)}px` }}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label="Stages"
      >
        {edges.map(({ from, to, points }) => (
          <path
            key={`${from} ${to}`}
            class={`edge${steps.has(`${from} ${to}`) ? ' critical' : ''}`}
            d={curve(points)}
          />
        ))}
        {nodes.map(({ id, x, y, width: nodeWidth, height: nodeHeight }) => {
          const stage = folded.stages.get(id)
          return (
            stage && (
              <StageNode
                key={id}
                stage={stage}
                x={x - nodeWidth / 2}
                y={y - nodeHeight / 2}
                width={nodeWidth}
                height={nodeHeight}
              />
            )
          )
        })}
      </svg>
    </div>
  )
}

/** Through the points, level at each of them. */
function curve(points: GraphLayout['edges'][number]['points']): string {
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1]
      if (!before) return `M${x} ${y}`
      const half = (before.x + x) / 2
      return `C${half} ${before.y} ${half} ${y} ${x} ${y}`
    })
    .join('')
}

interface StageNodeProps {
  readonly stage: StageView
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function StageNode({ stage, x, y, width, height }: StageNodeProps): JSX.Element {
  const { id, state } = stage
  return (
    <a
      data-item
      href={linkTo('run', { ...route.value.params, selected: id })}
      aria-label={`${id}, ${state}`}
      aria-current={route.value.params['selected'] === id ? 'true' : undefined}
    >
      <rect class={`node ${state}`} x={x} y={y} width={width} height={height} rx="4" />
      <text x={x + 8} y={y + height / 2 + 4}>
        {id}
      </text>
    </a>
  )
}
