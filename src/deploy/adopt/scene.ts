/** What every step of an adoption works with: the cluster, the plan, and a look at what is still to do. */
import type { Clock } from '../../clock/clock.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { EventSink } from '../../run/events.ts'
import type { Lookout } from '../lookout.ts'
import type { Patience } from '../patience.ts'
import type { Adoption } from './adoption.ts'

export interface AdoptSettings {
  readonly client: KubeClient
  readonly lookout: Lookout
  readonly plan: Plan
  readonly cloud: PlannedCloud
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly clock?: Clock
  readonly patience?: Patience
  /** How long MetalLB may take to give an address back. */
  readonly returnMs?: number
}

export interface Scene extends AdoptSettings {
  /** Filled while networks move. */
  readonly gaps: Map<string, number>
  /** Anew, each time. */
  readonly look: () => Adoption
}
