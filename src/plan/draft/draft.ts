/**
 * A draft: the networks of all clouds with everything decided, still as values. The plan, the lock and the ledger
 * are made from it.
 */
import { type Address } from '../../net/address.ts'
import { type Range } from '../../net/range.ts'
import { type AllocatorRole } from '../../site/site.ts'
import { type NamedAddress, type PlannedHostAddress, type PlannedVip } from '../plan.ts'
import { type NetworkRequest, type SubnetRequest } from '../requests.ts'
import { type Tag } from './vlan-ids.ts'

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

// FOLDED src/plan/draft/placement.ts
/** Where one network has its place on the nodes. */
export interface Placement {
  /** Absent when the network rides on another's bridge. */
  readonly segment: string | undefined
  readonly nic: string
  readonly vlan: number | undefined
  /** The VLAN's interface, or the NIC. */
  readonly carrier: string
  readonly bridge: string | undefined
  readonly mtu: number
}

/** What a NIC carries when nobody says otherwise. */
export const STANDARD_MTU = 1500

// FOLDED src/plan/draft/segment-id.ts
/** How a segment is called: `main/20` in data, "VLAN 20 of NIC main" in a sentence. */
export function segmentId(nic: string, tag: Tag): string {
  return `${nic}/${tag}`
}

export function describeSegment(id: string): string {
  const [nic = '', tag = ''] = id.split('/')
  return tag === 'untagged' ? `the untagged network of NIC ${nic}` : `VLAN ${tag} of NIC ${nic}`
}
