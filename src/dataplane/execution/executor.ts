/**
 * Defines the interface of executors, which execute one attempt of a run: as a Job, or as a process of this machine.
 *
 * An executor does not retry: `decide-attempt.ts` decides when and how often a run is started.
 */
import type { Finding } from '../../errors/finding.ts'
import type { AnsibleRun, HostResult, RunReason } from '../kinds/ansible-run.ts'
import type { HostKeys } from './host-keys.ts'
import type { RunInputs } from './run-inputs.ts'

/** `jobs`: pods of the cluster. `local`: processes of the operator's machine. */
export type ExecutorKind = 'jobs' | 'local'

export interface Attempt {
  readonly run: AnsibleRun
  /** 1, 2, … */
  readonly number: number
}

export interface RunEnd {
  readonly reason: RunReason
  /** One line, without secrets. */
  readonly message?: string
  readonly hosts?: Readonly<Record<string, HostResult>>
  /** The keys with which hosts were reached, by host. */
  readonly hostKeys?: HostKeys
  /** The first host whose key is not the recorded one, and what it sent. */
  readonly refusedKey?: { readonly host: string; readonly sent: string }
}

export type ExecutorState =
  /** It was never started, or its result is lost. */
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'running'
      readonly task?: string
      /** What failed on a host since the last call. */
      readonly failures?: readonly string[]
      /** Why it makes no progress. */
      readonly stall?: Finding
    }
  /** Reported again until `cleanUp`, across restarts. */
  | { readonly kind: 'ended'; readonly end: RunEnd }

export interface Executor {
  readonly name: ExecutorKind
  /** Starts the attempt unless it was started before. After a throw no host was touched. */
  readonly start: (attempt: Attempt, materials: RunInputs, signal: AbortSignal) => Promise<void>
  /** An attempt that is absent does not run anywhere. */
  readonly inspect: (attempt: Attempt, signal: AbortSignal) => Promise<ExecutorState>
  /** Cancels the attempt; true when nothing of it runs any more. */
  readonly cancel: (attempt: Attempt, signal: AbortSignal) => Promise<boolean>
  /** Called after the result is recorded: removes evidence that is not needed any more, and every secret. */
  readonly cleanUp: (attempt: Attempt, signal: AbortSignal) => Promise<void>
}
