/** What every step of an adoption works with: the cluster, the plan, and a look at what is still to do. */
import type { Clock } from '../../clock/clock.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { EventSink } from '../../run/events.ts'
import type { LiveView } from '../live-view.ts'
import type { RetryPolicy } from '../retry.ts'
import type { Adoption } from './adoption.ts'

export interface AdoptOptions {
  readonly client: KubeClient
  readonly lookout: LiveView
  readonly plan: Plan
  readonly cloud: PlannedCloud
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly clock?: Clock
  readonly patience?: RetryPolicy
  /** How long MetalLB may take to give an address back. */
  readonly returnMs?: number
}

export interface Scene extends AdoptOptions {
  /** Filled while networks move. */
  readonly gaps: Map<string, number>
  /** Anew, each time. */
  readonly look: () => Adoption
}
