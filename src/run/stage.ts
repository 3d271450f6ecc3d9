/**
 * Defines a stage: one step of a run, with its dependencies, locks and work.
 *
 * A stage may apply objects, wait for a cluster or run child processes; the engine does not know which.
 */
import type { Clock } from '../clock/clock.ts'
import type { StageEvent } from './events.ts'

/** A stage that must finish before this one starts, and why, for people. */
export interface StageDependency {
  readonly id: string
  readonly why: string
}

export interface StageContext {
  readonly emit: (event: StageEvent) => void
  /** Aborted when the run must stop: finish the write in flight, then throw `stop.reason`. */
  readonly stop: AbortSignal
  readonly clock: Clock
}

/** Whether there is anything to do. `satisfied` needs a reason to show to the user. */
export type StageCheck =
  | { readonly kind: 'satisfied'; readonly reason: string }
  | { readonly kind: 'needed'; readonly reason?: string }

export interface Stage {
  /** Unique in its run: `nncp`, `rhoso1/control-plane`. */
  readonly id: string
  /** Its name on the command line; every cloud has a stage of this name. */
  readonly name: string
  /** Absent for stages that the clouds share. */
  readonly cloud?: string
  readonly after: readonly StageDependency[]
  /** Stages that share a lock never run at the same time. */
  readonly locks: readonly string[]
  readonly check?: (context: StageContext) => Promise<StageCheck>
  /** Resolves when the stage is done; throws a `Failure` when it fails. */
  readonly work: (context: StageContext) => Promise<void>
}

export function stageId(name: string, cloud?: string): string {
  return cloud === undefined ? name : `${cloud}/${name}`
}
