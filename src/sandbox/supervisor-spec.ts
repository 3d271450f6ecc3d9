/**
 * A mission: what a supervisor is to run, as data that survives between two processes.
 *
 * The launcher decides (paths, ports, order); the supervisor runs processes and knows no Kubernetes.
 */

/** How to see that a task is ready: it answers on its port. */
export type ReadinessProbe =
  | { readonly kind: 'tcp'; readonly port: number }
  | { readonly kind: 'https'; readonly port: number; readonly path: string; readonly pair: string }
  /** Ready as soon as it runs. */
  | { readonly kind: 'none' }

export interface Task {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly probe: ReadinessProbe
  /** Names of tasks that must be ready before this one starts. */
  readonly after: readonly string[]
  /** A start that takes longer has failed. */
  readonly readyMs: number
}

export interface SupervisorSpec {
  readonly name: string
  readonly tasks: readonly Task[]
  /** Where probes find the authority (`ca.crt`) and `<pair>.crt`, `<pair>.key`. */
  readonly pki: string
  /** Connections to the listening socket that the launcher handed down go to this port of loopback. */
  readonly forwardTo?: number
  /** Ends with its parent, and takes the folder along. */
  readonly ephemeral: boolean
  /** Put before every program: ends it when the supervisor is gone, however it went. */
  readonly wrapper: readonly string[]
  readonly graceMs: number
}

export type TaskState = 'waiting' | 'starting' | 'ready' | 'crashed' | 'down'

export interface TaskStatus {
  readonly name: string
  readonly state: TaskState
  readonly pid?: number
  readonly restarts: number
}

export interface SupervisorStatus {
  readonly pid: number
  readonly ready: boolean
  readonly tasks: readonly TaskStatus[]
}

/** Why a start failed, in the supervisor's words; the launcher makes it a finding. */
export interface StartFailure {
  readonly task: string
  readonly reason: string
  readonly log: string
}
