/**
 * Defines the events of a run: one stream for all printers.
 *
 * The shape is a public interface (`--events jsonl`): fields and kinds may be added; readers ignore unknown kinds.
 */
import type { Finding } from '../errors/finding.ts'

/** The object of an event. */
export interface EventObject {
  readonly apiVersion?: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export type StageOutcome = 'done' | 'failed' | 'stopped' | 'blocked'
export type RunOutcome = 'done' | 'failed' | 'stopped'
/** What an apply changed. */
export type AppliedChange = 'created' | 'changed' | 'unchanged' | 'deleted'

interface EventBase {
  /** RFC 3339. */
  readonly time: string
  /** Identifies this run. */
  readonly run: string
  readonly cloud?: string
  readonly stage?: string
  readonly object?: EventObject
}

export type RunEvent =
  | (EventBase & {
      readonly kind: 'run-started'
      readonly what: string
      /** The command line without the name of the program. Earlier versions did not record it. */
      readonly command?: readonly string[]
      readonly stages: readonly StageRef[]
    })
  | (EventBase & { readonly kind: 'stage-started' })
  | (EventBase & { readonly kind: 'stage-skipped'; readonly reason: string })
  | (EventBase & { readonly kind: 'applied'; readonly change: AppliedChange })
  | (EventBase & { readonly kind: 'waiting'; readonly reason: string })
  | (EventBase & {
      readonly kind: 'progress'
      readonly message: string
      readonly done?: number
      readonly total?: number
    })
  | (EventBase & { readonly kind: 'finding'; readonly finding: Finding })
  | (EventBase & {
      readonly kind: 'stage-finished'
      readonly outcome: StageOutcome
      readonly ms: number
      readonly reason?: string
    })
  | (EventBase & { readonly kind: 'run-finished'; readonly outcome: RunOutcome; readonly ms: number })

/** A stage as announced at the start of a run. */
export interface StageRef {
  readonly id: string
  readonly stage: string
  readonly cloud?: string
  readonly after: readonly string[]
}

type WithoutEnvelope<E> = E extends RunEvent ? Omit<E, 'time' | 'run'> : never

/** An event of a stage; the engine adds time, run, cloud and stage. */
export type StageEvent = WithoutEnvelope<RunEvent>

export type EventSink = (event: RunEvent) => void
