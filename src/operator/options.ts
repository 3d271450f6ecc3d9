/** What an operator that runs is told. */
import type { Environment } from '../api/service-images.ts'
import type { RunWay } from '../controllers/dataplane/runs/start.ts'

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
  readonly runs?: RunWay
  /** After so long Ansible is ended; an hour unless said. */
  readonly runTimeLimit?: number
  /** Only these parts; all that fit unless said. */
  readonly parts?: readonly string[]
  /** For tests: how often certificates are looked at. */
  readonly certificatesEveryMs?: number
}
