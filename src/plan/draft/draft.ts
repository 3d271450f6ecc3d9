/**
 * A draft: the networks of all clouds with everything decided, still as values. The plan, the lock and the ledger
 * are made from it.
 */
import type { Address } from '../../net/address.ts'
import type { Range } from '../../net/range.ts'
import type { AllocatorRole } from '../../site/site.ts'
import type { NamedAddress, PlannedHostAddress, PlannedVip } from '../plan.ts'
import type { NetworkRequest, SubnetRequest } from '../requests.ts'
import type { Placement } from './placement.ts'

export interface DraftSubnet extends Omit<SubnetRequest, 'spans'> {
  readonly spans: Readonly<Partial<Record<AllocatorRole, readonly Range[]>>>
  /** Whether somebody wrote it, or the planner chose it. */
  readonly pinned: boolean
}

/** Somebody with an address outside his own span: the span does not speak for him in the ledger. */
export interface Stray {
  readonly role: 'node' | 'host'
  readonly name: string
  readonly address: Address
}

/** A single address that a pod has for good. */
export interface DraftEndpoint extends NamedAddress {
  readonly value: Address
}

export interface DraftNetwork {
  readonly wish: NetworkRequest
  readonly placement: Placement | undefined
  readonly dnsDomain: string
  readonly subnets: readonly DraftSubnet[]
  /** The shared address of each group of slots. */
  readonly groupVips: Readonly<Record<string, readonly string[]>>
  readonly slotVips: readonly PlannedVip[]
  readonly nodes: readonly NamedAddress[]
  readonly hosts: readonly PlannedHostAddress[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly strays: readonly Stray[]
}
