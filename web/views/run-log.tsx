/** The log of a run: its events as lines, the newest last. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { RunEvent } from '../../src/run/events.ts'
import { keyOfStage } from '../../src/run/run-view.ts'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { formatClock, formatDuration } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { param } from '../state/location.ts'

const SHOWN = 300

interface LogLine {
  readonly index: number
  readonly time: string
  readonly stage: string
  readonly text: string
  readonly tone: string
}

export function RunLog({ events }: { readonly events: readonly RunEvent[] }): JSX.Element {
  const [filter, selected] = [param('filter'), param('selected')]
  const lines = events.flatMap((event, index): readonly LogLine[] => {
    const text = describeEvent(event)
    const stage = event.stage === undefined ? '' : keyOfStage(event)
    if (text === undefined || (selected !== '' && stage !== selected)) return []
    return [{ index, time: formatClock(event.time), stage, text, tone: toneOf(event) }]
  })
  const matching = lines.filter(({ stage, text }) => matchesFilter(filter, [stage, text]))
  const list = useRef<HTMLOListElement>(null)
  const follows = useRef(true)
  // The end stays in sight unless the reader has scrolled up.
  useEffect(() => {
    if (list.current && follows.current) list.current.scrollTop = list.current.scrollHeight
  }, [matching.length])
  const noteScroll = (): void => {
    const box = list.current
    if (box) follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < 30
  }
  return (
    <Panel
      title={selected === '' ? 'Log' : `Log of ${selected}`}
      more={<Filter label="Filter the log" shown={matching.length} total={lines.length} />}
    >
      <ol
        class={`log${selected === '' ? '' : ' of-stage'}`}
        ref={list}
        onScroll={noteScroll}
        tabIndex={0}
        aria-label="Log"
      >
        {matching.slice(-SHOWN).map(({ index, time, stage, text, tone }) => (
          <li key={index} class={tone}>
            <time>{time}</time>
            {selected === '' && (
              <span class="log-stage" title={stage}>
                {stage}
              </span>
            )}
            <span class="wrap">{text}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function toneOf(event: RunEvent): string {
  if (event.kind === 'finding') return event.finding.severity === 'error' ? 'bad' : 'warn'
  if (event.kind === 'waiting' || event.kind === 'progress') return 'quiet'
  return (event.kind === 'stage-finished' || event.kind === 'run-finished') && event.outcome !== 'done' ? 'bad' : ''
}

/** Undefined for an event that is not worth a line; the same events are lines on a terminal. */
function describeEvent(event: RunEvent): string | undefined {
  switch (event.kind) {
    case 'run-started':
      return `${event.what}: ${event.stages.length} stages`
    case 'stage-started':
      return 'started'
    case 'stage-skipped':
      return `skipped: ${event.reason}`
    case 'applied': {
      const { change, object } = event
      if (change === 'unchanged' || !object) return undefined
      return `${change} ${object.kind} ${object.namespace ? `${object.namespace}/` : ''}${object.name}`
    }
    case 'waiting':
      return event.reason.startsWith('waits ') ? event.reason : `waiting: ${event.reason}`
    case 'progress':
      return `${event.message}${event.done === undefined ? '' : ` (${event.done}/${event.total})`}`
    case 'finding':
      return `${event.finding.severity} ${event.finding.code}: ${event.finding.message}`
    case 'stage-finished':
      return `${event.outcome} after ${formatDuration(event.ms)}${event.reason === undefined ? '' : `: ${event.reason}`}`
    case 'run-finished':
      return `${event.outcome} after ${formatDuration(event.ms)}`
    default:
      return undefined
  }
}
