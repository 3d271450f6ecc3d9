/** What an operator that runs is told. */

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
  /** Beside infra-operator: look and tell, write nothing else. */
  readonly observe?: boolean
  /** Where Ansible runs: in Jobs unless said. */
  readonly runs?: ExecutorKind
  /** After so long Ansible is ended; an hour unless said. */
  readonly runTimeLimit?: number
  /** Only these parts; all that fit unless said. */
  readonly parts?: readonly string[]
  /** For tests: how often certificates are looked at. */
  readonly certificateCheckMs?: number
}
