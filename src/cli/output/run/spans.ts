/** Turns the events of a run into spans: one for the run, one for each stage below it. */
import { ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { EventSink, RunEvent } from '../../../run/events.ts'
import { keyOfStage } from '../../../run/run-view.ts'

export interface SpanRecorder {
  readonly sink: EventSink
  /** Ends what an interrupted run left open. */
  readonly close: () => void
}

export function spanRecorder(tracer: Tracer): SpanRecorder {
  let run: Span | undefined
  let last = 0
  const stages = new Map<string, Span>()
  const startStage = (event: RunEvent, startTime: number): Span => {
    const context = run ? trace.setSpan(ROOT_CONTEXT, run) : ROOT_CONTEXT
    const span = tracer.startSpan(event.stage ?? 'stage', { startTime, attributes: attributesOf(event) }, context)
    stages.set(keyOfStage(event), span)
    return span
  }
  const end = (span: Span | undefined, time: number, outcome: string, reason?: string): void => {
    span?.setAttribute('stackloom.outcome', outcome)
    if (outcome === 'failed') span?.setStatus({ code: SpanStatusCode.ERROR, ...(reason && { message: reason }) })
    span?.end(time)
  }
  return {
    sink: (event) => {
      const time = Date.parse(event.time)
      last = time
      const span = event.stage === undefined ? run : stages.get(keyOfStage(event))
      switch (event.kind) {
        case 'run-started':
          run = tracer.startSpan(event.what, {
            startTime: time,
            root: true,
            attributes: { 'stackloom.run': event.run },
          })
          return
        case 'stage-started':
          startStage(event, time)
          return
        case 'stage-skipped':
          startStage(event, time).setAttribute('stackloom.reason', event.reason)
          end(stages.get(keyOfStage(event)), time, 'skipped')
          stages.delete(keyOfStage(event))
          return
        case 'waiting':
          span?.addEvent('waiting', { reason: event.reason }, time)
          return
        case 'finding': {
          const { code, severity, message } = event.finding
          span?.addEvent('finding', { code, severity, message }, time)
          return
        }
        case 'stage-finished':
          // A stage that is blocked never started.
          end(span ?? startStage(event, time), time, event.outcome, event.reason)
          stages.delete(keyOfStage(event))
          return
        case 'run-finished':
          end(run, time, event.outcome)
          run = undefined
          return
        default:
      }
    },
    close: () => {
      for (const span of stages.values()) end(span, last, 'stopped')
      end(run, last, 'stopped')
    },
  }
}

function attributesOf({ run, cloud, stage }: RunEvent): Record<string, string> {
  return {
    'stackloom.run': run,
    ...(stage !== undefined && { 'stackloom.stage': stage }),
    ...(cloud !== undefined && { 'stackloom.cloud': cloud }),
  }
}
