/** What taking down needs: the cluster, the view of it, what is listed, and how far to go. */
import type { KubeClient } from '../../kube/client.ts'
import type { Gate } from '../gate.ts'
import type { Inventory } from '../inventory.ts'
import type { Lookout } from '../lookout.ts'
import type { Patience } from '../patience.ts'

export interface DownWorld {
  readonly client: KubeClient
  readonly lookout: Lookout
  readonly inventories: readonly Inventory[]
  readonly patience: Patience
  readonly gate: Gate
  /** Volumes go, too. */
  readonly deleteData: boolean
  /** A finalizer that stays longer is stuck. */
  readonly stuckMs: number
}
