/** Defines the options of a running operator. */

import type { ExecutorKind } from '../dataplane/execution/executor.ts'
import type { Environment } from '../dataplane/service-definitions/images.ts'

export interface OperatorOptions {
  readonly env: Environment
  readonly webhookUrl?: string
  readonly webhookService?: string
  readonly certDir?: string
  readonly webhookPort: number
  readonly healthPort: number
  readonly bind: string
  readonly leaderElection: boolean
  /** For a cluster with infra-operator: records Events and metrics, writes nothing else. */
  readonly observe?: boolean
  /** Where Ansible runs: in Jobs by default. */
  readonly runs?: ExecutorKind
  /** Milliseconds after which an Ansible run is terminated; an hour by default. */
  readonly runTimeLimit?: number
  /** Only these parts; all that the cluster supports by default. */
  readonly parts?: readonly string[]
  /** For tests: the interval of certificate checks. */
  readonly certificateCheckMs?: number
}
