/** Stages over time: one bar each, the critical path marked. */
import type { JSX } from 'preact'
import type { RunDocument } from '../../src/console/documents/runs.ts'
import type { RunView, StageView } from '../../src/run/run-view.ts'
import { formatDuration } from '../parts/format.ts'
import { linkTo, route } from '../state/location.ts'

interface RunTimelineProps {
  readonly folded: RunView
  readonly document: RunDocument
  readonly end: number
}

const MARKS = 5

export function RunTimeline({ folded, document, end }: RunTimelineProps): JSX.Element {
  const start = folded.startedAt
  const length = Math.max(1000, end - start)
  const critical = new Set(document.criticalPath)
  const started = [...folded.stages.values()]
    .filter(({ startedAt }) => startedAt !== undefined)
    .toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))
  return (
    <div class="timeline">
      <div class="timeline-scale" aria-hidden="true">
        {Array.from({ length: MARKS }, (_, index) => (
          <span key={index} style={{ left: `${(index / (MARKS - 1)) * 100}%` }}>
            {formatDuration((length * index) / (MARKS - 1))}
          </span>
        ))}
      </div>
      <ul>
        {started.map((stage) => (
          <TimelineRow
            key={stage.id}
            stage={stage}
            start={start}
            length={length}
            end={end}
            critical={critical.has(stage.id)}
          />
        ))}
      </ul>
    </div>
  )
}

interface TimelineRowProps {
  readonly stage: StageView
  readonly start: number
  readonly length: number
  readonly end: number
  readonly critical: boolean
}

function TimelineRow({ stage, start, length, end, critical }: TimelineRowProps): JSX.Element {
  const from = (stage.startedAt ?? start) - start
  const time = stage.ms ?? Math.max(0, end - start - from)
  return (
    <li>
      <a
        data-item
        class="timeline-row"
        href={linkTo('run', { ...route.value.params, selected: stage.id })}
        aria-current={route.value.params['selected'] === stage.id ? 'true' : undefined}
      >
        <span class="timeline-name">
          {stage.id}
          {critical && <span class="unseen"> on the critical path</span>}
        </span>
        <span class="timeline-track">
          <span
            class={`timeline-bar ${stage.state}${critical ? ' critical' : ''}`}
            style={{ left: `${(from / length) * 100}%`, width: `max(2px, ${(time / length) * 100}%)` }}
          />
        </span>
        <span class="quiet number">{formatDuration(time)}</span>
      </a>
    </li>
  )
}
