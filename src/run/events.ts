/**
 * What a run says while it works: one stream of events, read by every printer and written by every engine.
 *
 * The shape is an interface to the outside (`--events jsonl`): fields may be added, kinds too; readers ignore
 * kinds that they do not know.
 */
import type { Finding } from '../errors/finding.ts'

/** An object that an event is about, as far as a reader needs it. */
export interface EventObject {
  readonly apiVersion?: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export type StageOutcome = 'done' | 'failed' | 'stopped' | 'blocked'
export type RunOutcome = 'done' | 'failed' | 'stopped'
/** What an apply did to one object. */
export type AppliedChange = 'created' | 'changed' | 'unchanged' | 'deleted'

interface EventBase {
  /** RFC 3339. */
  readonly time: string
  /** Identity of this run. */
  readonly run: string
  readonly cloud?: string
  readonly stage?: string
  readonly object?: EventObject
}

export type RunEvent =
  | (EventBase & {
      readonly kind: 'run-started'
      readonly what: string
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

/** A stage as the run announces it: whose it is, what it is called, what it waits for. */
export interface StageRef {
  readonly id: string
  readonly stage: string
  readonly cloud?: string
  readonly after: readonly string[]
}

type WithoutEnvelope<E> = E extends RunEvent ? Omit<E, 'time' | 'run'> : never

/** What a stage emits; the engine adds time, run, cloud and stage. */
export type StageEvent = WithoutEnvelope<RunEvent>

export type EventSink = (event: RunEvent) => void
