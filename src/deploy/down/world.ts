/** What taking down needs: the cluster, the view of it, what is listed, and how far to go. */
import type { KubeClient } from '../../kube/client.ts'
import type { Inventory } from '../inventory.ts'
import type { Limiter } from '../limiter.ts'
import type { LiveView } from '../live-view.ts'
import type { RetryPolicy } from '../retry.ts'

export interface DownDeps {
  readonly client: KubeClient
  readonly lookout: LiveView
  readonly inventories: readonly Inventory[]
  readonly patience: RetryPolicy
  readonly gate: Limiter
  /** Volumes go, too. */
  readonly deleteData: boolean
  /** A finalizer that stays longer is stuck. */
  readonly stuckMs: number
}
