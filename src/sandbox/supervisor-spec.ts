/** Describes what a supervisor runs. The launcher writes it; the supervisor runs processes and knows no Kubernetes. */

/** How to check that a task is ready. */
export type ReadinessProbe =
  | { readonly kind: 'tcp'; readonly port: number; readonly host?: string }
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'https'; readonly port: number; readonly path: string; readonly pair: string }
  /** Ready as soon as it runs. */
  | { readonly kind: 'none' }

export interface Task {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly probe: ReadinessProbe
  /** Tasks that must be ready before this one starts. */
  readonly after: readonly string[]
  /** The time limit for becoming ready. */
  readonly readyMs: number
}

/** Set where the supervisor has its own process ids: the id by which the rest of the machine knows its first process. */
export const OUTER_PID = 'STACKLOOM_SUPERVISOR_PID'

export interface SupervisorSpec {
  readonly name: string
  readonly tasks: readonly Task[]
  /** The folder with `ca.crt`, `<pair>.crt` and `<pair>.key` for probes. */
  readonly pki: string
  /** The loopback port to which connections on the inherited listening socket are forwarded. */
  readonly forwardTo?: number
  /** Exits with its parent and removes the folder. */
  readonly ephemeral: boolean
  /** A command prefix that kills a program when the supervisor exits. */
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

/** Why a start failed; the launcher turns it into a finding. */
export interface StartFailure {
  readonly task: string
  readonly reason: string
  readonly log: string
}
