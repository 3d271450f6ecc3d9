/**
 * A Plan: every address, name and number of every cloud, decided. Render, deploy and verify read it.
 *
 * Plain data; addresses are canonical text. `plan -o json` prints it (without `site`), so its names are an interface.
 */
import type { Finding } from '../errors/finding.ts'
import { address, formatValue } from '../net/address.ts'
import type { Range } from '../net/range.ts'
import type { AllocatorRole, Cloud, Family, Site } from '../site/site.ts'
import type { CloudService } from './slots/cloud-services.ts'
import type { SlotTable, SlotUse } from './slots/slots.ts'

export interface Plan {
  /** The site's name. */
  readonly site: string
  readonly clouds: readonly PlannedCloud[]
  /** Every L2 domain, with the networks on it. */
  readonly segments: readonly Segment[]
  /** Present in BGP mode: MetalLB's own AS number and its peers, each with a name. */
  readonly bgp?: PlannedBgp
  /** The table of slots that VIPs were planned for. */
  readonly slots: SlotTable
  readonly findings: readonly Finding[]
  /** The site that was planned. */
  readonly from: Site
}

export interface PlannedBgp {
  readonly asn: number
  readonly peers: readonly {
    readonly name: string
    readonly address: string
    readonly asn: number
    /** Absent: every node. */
    readonly nodes?: readonly string[]
  }[]
}

/** One L2 domain: a VLAN on a NIC, or the untagged network of a NIC. */
export interface Segment {
  /** `main/20`, or `main/untagged`. */
  readonly id: string
  /** The NIC's role. */
  readonly nic: string
  /** Absent when untagged. */
  readonly vlan?: number
  /** The interface that carries it on every node, such as `enp6s0.20`; the base NIC itself when untagged. */
  readonly interface: string
  /** The bridge on top of it, if any: then addresses and advertisements belong on the bridge. */
  readonly bridge?: string
  readonly mtu: number
  /** `rhoso1/internalapi`, …: more than one cloud means a shared L2 domain. */
  readonly networks: readonly string[]
}

export interface PlannedCloud {
  readonly name: string
  readonly namespace: string
  readonly networks: readonly PlannedNetwork[]
  /** Every service that the CRD can switch, as the cloud has it. */
  readonly services: readonly CloudService[]
  /** The Services that will exist, each with its slot; their addresses are the `vips` of their networks. */
  readonly uses: readonly SlotUse[]
  /** The cloud in the site file, for what a plan does not decide (services, overrides, data plane). */
  readonly from: Cloud
}

export interface PlannedNetwork {
  readonly name: string
  /** The L2 domain's id; absent for a network without one (datacentre uses the cloud's bridge). */
  readonly segment?: string
  readonly vlan?: number
  /** Where nodes have their address, pods their master and MetalLB its advertisement: the bridge if there is one. */
  readonly interface: string
  readonly bridge?: string
  readonly mtu: number
  readonly attach: 'macvlan' | 'bridge' | 'none'
  /** VLANs that pods on the bridge may tag. */
  readonly trunk?: readonly VlanRange[]
  readonly dnsDomain: string
  /** `<namespace>-<network>`; absent without a `vips` span. */
  readonly pool?: string
  /** MetalLB's sharing key: the pool's name, so no other cloud has it. */
  readonly sharingKey?: string
  readonly subnets: readonly PlannedSubnet[]
  readonly vips: readonly PlannedVip[]
  readonly nodes: readonly NamedAddress[]
  readonly hosts: readonly PlannedHostAddress[]
  /** Individual endpoints: single addresses for pods. */
  readonly endpoints: readonly NamedAddress[]
  readonly routes: readonly Route[]
  readonly podRoutes: readonly Route[]
}

export interface VlanRange {
  readonly first: number
  readonly last: number
}

export interface PlannedSubnet {
  readonly name: string
  readonly family: Family
  readonly cidr: string
  readonly gateway?: string
  /** Where it differs from the network's. */
  readonly vlan?: number
  readonly dnsDomain?: string
  /** The DNS zones of reverse lookups. */
  readonly reverseZones?: readonly string[]
  readonly spans: readonly PlannedSpan[]
  /** Addresses that no allocator gets. */
  readonly reserved: readonly AddressRange[]
  readonly routes: readonly Route[]
}

export interface PlannedSpan extends AddressRange {
  readonly role: AllocatorRole
}

export interface PlannedVip {
  /** The slot's name in this cloud, such as `keystone.internal` or `rabbitmq.rabbitmq-cell1`. Dual stack: one entry per family. */
  readonly slot: string
  readonly address: string
  /** Whether other slots of the network share the address (APIs do, a RabbitMQ never). */
  readonly shared: boolean
}

export interface NamedAddress {
  readonly name: string
  readonly address: string
}

export interface PlannedHostAddress extends NamedAddress {
  /** DNS names of this address. */
  readonly names: readonly string[]
}

export interface Route {
  readonly destination: string
  readonly nexthop: string
}

/** A range of addresses as text. */
export interface AddressRange {
  readonly start: string
  readonly end: string
}

export function parseAddressRange({ start, end }: AddressRange): Range {
  const first = address(start)
  return { family: first.family, first: first.value, last: address(end).value }
}

export function formatAddressRange({ family, first, last }: Range): AddressRange {
  return { start: formatValue(family, first), end: formatValue(family, last) }
}

/** A plan as `plan -o json` prints it: every decision and finding, without the site. */
export interface PlanJson extends Omit<Plan, 'from' | 'slots' | 'clouds'> {
  readonly clouds: readonly Omit<PlannedCloud, 'from' | 'services' | 'uses'>[]
}

export function planJson({ site, clouds, segments, bgp, findings }: Plan): PlanJson {
  return {
    site,
    clouds: clouds.map(({ name, namespace, networks }) => ({ name, namespace, networks })),
    segments,
    ...(bgp && { bgp }),
    findings,
  }
}
