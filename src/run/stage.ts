/**
 * A stage: one step of a run, as data. What it needs first and why, what it must not share, and the work itself.
 *
 * A stage may apply objects, wait for a cluster or drive child processes; the engine does not care which.
 */
import type { Clock } from '../clock/clock.ts'
import type { StageEvent } from './events.ts'

/** A stage that must be over before this one begins, and the reason, for people. */
export interface StageDependency {
  readonly id: string
  readonly why: string
}

export interface StageContext {
  readonly emit: (event: StageEvent) => void
  /** Aborted when the run shall stop: finish the write in flight, then throw `stop.reason`. */
  readonly stop: AbortSignal
  readonly clock: Clock
}

/** Whether there is anything to do. Satisfied needs a reason: "skipped" alone convinces nobody. */
export type StageCheck =
  | { readonly kind: 'satisfied'; readonly reason: string }
  | { readonly kind: 'needed'; readonly reason?: string }

export interface Stage {
  /** Unique in its run: `nncp`, `rhoso1/control-plane`. */
  readonly id: string
  /** What it is called on the command line; every cloud has one of that name. */
  readonly name: string
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly after: readonly StageDependency[]
  /** Stages that share a lock never run at the same time. */
  readonly locks: readonly string[]
  readonly check?: (context: StageContext) => Promise<StageCheck>
  /** Ends when the stage is done; throws a `Failure` when it cannot be. */
  readonly work: (context: StageContext) => Promise<void>
}

export function stageId(name: string, cloud?: string): string {
  return cloud === undefined ? name : `${cloud}/${name}`
}
