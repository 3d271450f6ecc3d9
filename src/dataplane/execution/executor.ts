/**
 * An executor runs one attempt of a run, once. There are two: Jobs of the cluster, and processes of this machine.
 *
 * Only interfaces. Whether, when and how often something runs is decided by `decide.ts`; an executor does not retry.
 */
import type { AnsibleRun, HostResult, RunReason } from '../kinds/ansible-run.ts'
import type { RunInputs } from './run-inputs.ts'

/** One attempt among all attempts of all runs. */
export interface Attempt {
  readonly run: AnsibleRun
  /** 1, 2, …: which try of this run. */
  readonly number: number
}

export interface RunEnd {
  readonly reason: RunReason
  /** One line for a person, without secrets. */
  readonly message?: string
  readonly hosts?: Readonly<Record<string, HostResult>>
}

export type ExecutorState =
  /** Nothing of it is there: it was never begun, or nobody knows how it ended. */
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'running'
      readonly task?: string
      /** What failed on a host since the last look. */
      readonly failures?: readonly string[]
    }
  /** Told again until `forget`, whatever restarts in between. */
  | { readonly kind: 'ended'; readonly end: RunEnd }

export interface Executor {
  readonly name: 'jobs' | 'local'
  /** Begins the attempt; one that was begun already is left alone. A throw means that no host was touched. */
  readonly start: (attempt: Attempt, materials: RunInputs, signal: AbortSignal) => Promise<void>
  /** What is absent here runs nowhere any more. */
  readonly inspect: (attempt: Attempt, signal: AbortSignal) => Promise<ExecutorState>
  /** Asks for its end; true when nothing of it runs any more. */
  readonly cancel: (attempt: Attempt, signal: AbortSignal) => Promise<boolean>
  /** Its end is recorded: what only served to know it may go, and every secret must. */
  readonly cleanUp: (attempt: Attempt, signal: AbortSignal) => Promise<void>
}
