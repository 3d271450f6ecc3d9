/** A draft: the networks of all clouds with everything decided. The plan, the lock and the ledger are made from it. */
import type { Address } from '../../net/address.ts'
import type { Range } from '../../net/range.ts'
import type { AllocatorRole } from '../../site/site.ts'
import type { NamedAddress, PlannedHostAddress, PlannedVip } from '../plan.ts'
import type { NetworkRequest, SubnetRequest } from '../requests.ts'
import type { Tag } from './vlan-ids.ts'

export interface DraftSubnet extends Omit<SubnetRequest, 'spans'> {
  readonly spans: Readonly<Partial<Record<AllocatorRole, readonly Range[]>>>
  /** Whether the site file has it, or the planner chose it. */
  readonly pinned: boolean
}

/** A node or host whose address lies outside its span, so the span does not cover it in the ledger. */
export interface OutsideAddress {
  readonly role: 'node' | 'host'
  readonly name: string
  readonly address: Address
}

/** A single address that is reserved for a pod. */
export interface DraftEndpoint extends NamedAddress {
  readonly value: Address
}

export interface DraftNetwork {
  readonly request: NetworkRequest
  readonly placement: Placement | undefined
  readonly dnsDomain: string
  readonly subnets: readonly DraftSubnet[]
  /** The shared address of each group of slots. */
  readonly groupVips: Readonly<Record<string, readonly string[]>>
  readonly slotVips: readonly PlannedVip[]
  readonly nodes: readonly NamedAddress[]
  readonly hosts: readonly PlannedHostAddress[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly outside: readonly OutsideAddress[]
}

/** Where a network is on the nodes. */
export interface Placement {
  /** Absent when the network uses the bridge of another one, or when only hosts are on it. */
  readonly segment: string | undefined
  readonly nic: string
  readonly vlan: number | undefined
  /** The VLAN's interface, or the NIC. */
  readonly carrier: string
  readonly bridge: string | undefined
  readonly mtu: number
}

/** What a NIC carries when the site file does not say. */
export const STANDARD_MTU = 1500

/** `main/20`, or `main/untagged`. */
export function segmentId(nic: string, tag: Tag): string {
  return `${nic}/${tag}`
}

/** A segment in a sentence: "VLAN 20 of NIC main". */
export function describeSegment(id: string): string {
  const [nic = '', tag = ''] = id.split('/')
  return tag === 'untagged' ? `the untagged network of NIC ${nic}` : `VLAN ${tag} of NIC ${nic}`
}
