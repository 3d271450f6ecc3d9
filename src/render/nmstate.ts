/**
 * Renders node networking as NodeNetworkConfigurationPolicies. `deploy/node-policies.ts` removes it from the live state.
 *
 * What several clouds use (bonds, NICs, shared segments) is one base policy per node; what one cloud uses alone is that
 * cloud's policy per node, so that a cloud can be added or removed without a change to the addresses of others.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud, PlannedNetwork, Route, Segment, VlanRange } from '../plan/plan.ts'
import type { Bond, ClusterNode } from '../site/site.ts'
import { ownershipLabels } from './labels.ts'
import { findSubnet, isReachable, prefixLength } from './spans.ts'

interface SegmentTenant {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
}

type Interface = Readonly<Record<string, unknown>>

export interface DesiredState {
  readonly interfaces: readonly Interface[]
  readonly routes?: { readonly config: readonly unknown[] }
  readonly 'route-rules'?: { readonly config: readonly unknown[] }
}

/** A segment with its networks, and what is the same for it on every node. */
interface SegmentUse {
  readonly segment: Segment
  readonly tenants: readonly SegmentTenant[]
  readonly description: string
}

/** Computed once: a search for each cloud is quadratic in the number of clouds. */
export interface SegmentIndex {
  /** Segments that one cloud uses alone, by cloud. */
  readonly byCloud: ReadonlyMap<string, readonly SegmentUse[]>
  readonly shared: readonly SegmentUse[]
  /** IP versions that any cloud uses. */
  readonly families: readonly ('ipv4' | 'ipv6')[]
}

export function indexSegments(plan: Plan): SegmentIndex {
  const tenantsBySegment = new Map<string, SegmentTenant[]>()
  for (const cloud of plan.clouds) {
    for (const network of cloud.networks) {
      if (network.segment === undefined) continue
      const tenants = tenantsBySegment.get(network.segment)
      if (tenants) tenants.push({ cloud, network })
      else tenantsBySegment.set(network.segment, [{ cloud, network }])
    }
  }
  const byCloud = new Map<string, SegmentUse[]>(plan.clouds.map(({ name }) => [name, []]))
  const shared: SegmentUse[] = []
  // With `shared-vlan` segments belong to the site from the first cloud on, so that they do not change their policy
  // when a second cloud comes or goes.
  const isShared = plan.from.addressing.isolation === 'shared-vlan'
  for (const segment of plan.segments) {
    const tenants = tenantsBySegment.get(segment.id)
    const first = tenants?.[0]?.cloud
    if (!tenants || !first) continue
    const use = describeSegmentUse(segment, tenants)
    if (isShared || tenants.some(({ cloud }) => cloud.name !== first.name)) shared.push(use)
    else byCloud.get(first.name)?.push(use)
  }
  return { byCloud, shared, families: usedFamilies(plan) }
}

function usedFamilies({ clouds }: Plan): SegmentIndex['families'] {
  const subnets = clouds.flatMap(({ networks }) => networks.flatMap((network) => network.subnets))
  const six = subnets.filter(({ cidr }) => cidr.includes(':')).length
  return [...(six < subnets.length ? ['ipv4' as const] : []), ...(six > 0 ? ['ipv6' as const] : [])]
}

function describeSegmentUse(segment: Segment, tenants: readonly SegmentTenant[]): SegmentUse {
  const description = tenants.map(({ cloud, network }) => `${cloud.name} ${network.name}`).join(', ')
  return { segment, tenants, description }
}

/** Bonds, NICs and segments that several clouds share. */
export function renderBasePolicies(plan: Plan, index = indexSegments(plan)): readonly KubeObject[] {
  return policies(plan, undefined, (node) => baseState(plan, node, index))
}

/** Segments that one cloud uses alone. */
export function renderCloudPolicies(
  plan: Plan,
  cloud: PlannedCloud,
  index = indexSegments(plan),
): readonly KubeObject[] {
  const uses = index.byCloud.get(cloud.name) ?? []
  return policies(plan, cloud, (node) => buildDesiredState(plan, node, uses, index))
}

function policies(
  plan: Plan,
  cloud: PlannedCloud | undefined,
  desired: (node: ClusterNode) => DesiredState,
): readonly KubeObject[] {
  const { nodes, maxUnavailable } = plan.from.cluster
  const labels = ownershipLabels({ site: plan.site, ...(cloud && { cloud: cloud.name }) })
  const rendered: KubeObject[] = []
  for (const node of nodes) {
    const desiredState = desired(node)
    if (desiredState.interfaces.length === 0) continue
    rendered.push({
      apiVersion: 'nmstate.io/v1',
      kind: 'NodeNetworkConfigurationPolicy',
      metadata: { name: policyName(node.name, cloud), labels },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': node.name },
        ...(maxUnavailable !== undefined && { maxUnavailable }),
        desiredState,
      },
    })
  }
  return rendered
}

function policyName(node: string, cloud?: PlannedCloud): string {
  return `${cloud ? cloud.namespace : 'stackloom-base'}-${node}`
}

function baseState(plan: Plan, node: ClusterNode, index: SegmentIndex): DesiredState {
  const shared = buildDesiredState(plan, node, index.shared, index)
  const named = new Set(shared.interfaces.map((iface) => iface['name']))
  const bonds = plan.from.cluster.bonds
  const nics = Object.entries(node.nics)
    .filter(([role, nic]) => carries(plan, role) && !named.has(nic))
    .map(([role, nic]) => nicInterface(plan, nic, role, bonds))
  const ports = bonds.flatMap((bond) => bond.ports.map((port) => ({ name: port, type: 'ethernet', state: 'up' })))
  return { ...shared, interfaces: [...ports, ...nics, ...shared.interfaces] }
}

function carries(plan: Plan, role: string): boolean {
  return plan.segments.some((segment) => segment.nic === role)
}

/** The MTU of the NIC is that of its largest segment. Its addresses are not ours, so they are left out. */
function nicInterface(plan: Plan, nic: string, role: string, bonds: readonly Bond[]): Interface {
  const onNic = plan.segments.filter((segment) => segment.nic === role)
  const mtu = onNic.reduce((largest, segment) => Math.max(largest, segment.mtu), Number.NEGATIVE_INFINITY)
  const bond = bonds.find(({ name }) => name === nic)
  if (!bond) return { name: nic, type: 'ethernet', state: 'up', mtu }
  const { mode, ports, options } = bond
  return {
    name: nic,
    type: 'bond',
    state: 'up',
    mtu: Math.max(mtu, bond.mtu ?? 0),
    'link-aggregation': { mode, port: ports, ...(Object.keys(options).length > 0 && { options }) },
  }
}

function buildDesiredState(
  plan: Plan,
  node: ClusterNode,
  uses: readonly SegmentUse[],
  { families }: SegmentIndex,
): DesiredState {
  const interfaces: Interface[] = []
  const routes: unknown[] = []
  const rules: unknown[] = []
  const blocked = new Set<string>()
  for (const use of uses) {
    interfaces.push(...segmentInterfaces(plan, node, use))
    if (node.nics[use.segment.nic] === undefined) continue
    const via = addressedInterface(node, use.segment)
    for (const { network } of use.tenants) {
      for (const route of nodeRoutes(network, node)) routes.push(formatRoute(route, via))
      for (const { cidr } of network.subnets) blocked.add(cidr)
    }
    const priority = rulePriority(node, use.segment)
    rules.push(...families.map((family) => blockingRule(via, family, priority)))
  }
  const blocks = plan.from.cluster.isolation.forwarding === 'block'
  if (blocks) routes.push(...[...blocked].map(blockedRoute))
  return {
    interfaces,
    ...(routes.length > 0 && { routes: { config: routes } }),
    ...(blocks && rules.length > 0 && { 'route-rules': { config: rules } }),
  }
}

/** The number of the table with the subnets of all clouds, and the lowest priority of the rules that use it. */
export const BLOCKED_TABLE = 18_000

/**
 * A packet from a segment to a subnet of any cloud is dropped by the node: nodes are no routers, and with `ip_forward`,
 * which VIPs need, packets would pass from one cloud to another. VIPs are not affected, because their packets have the
 * address of a pod before they are routed. One table for all clouds, so that a cloud's policy names only its own subnets.
 */
function blockedRoute(destination: string): unknown {
  return { destination, 'route-type': 'blackhole', 'table-id': BLOCKED_TABLE }
}

function blockingRule(iif: string, family: string, priority: number): unknown {
  return { iif, family, 'route-table': BLOCKED_TABLE, priority }
}

/**
 * Each segment has its own priority, below 32766, where the main table follows: nmstate compares rules without their
 * `iif`, so it would take the rules of a second cloud for those of the first and apply none.
 */
function rulePriority({ nics }: ClusterNode, { nic, vlan = 0 }: Segment): number {
  const position = Object.keys(nics).indexOf(nic) % 3
  return BLOCKED_TABLE + position * 4096 + vlan
}

function segmentInterfaces(
  plan: Plan,
  node: ClusterNode,
  { segment, tenants, description }: SegmentUse,
): readonly Interface[] {
  const base = node.nics[segment.nic]
  if (base === undefined) return []
  const carrier = segment.vlan === undefined ? base : segment.interface
  const { ipv4, ipv6 } = addressing(node, tenants)
  const tagged = segment.vlan !== undefined
  const vlan = { 'base-iface': base, id: segment.vlan, 'reorder-headers': true }
  const { mtu } = segment
  const state = 'up'
  if (segment.bridge !== undefined) {
    return [
      ...(tagged ? [{ name: carrier, description, type: 'vlan', state, mtu, vlan, ipv4: OFF, ipv6: OFF }] : []),
      {
        name: segment.bridge,
        description,
        type: 'linux-bridge',
        state,
        mtu,
        bridge: {
          options: NO_SPANNING_TREE,
          port: [{ name: carrier, ...(!tagged && { vlan: bridgeFilter(plan, segment, tenants) }) }],
        },
        ipv4,
        ipv6,
      },
    ]
  }
  if (tagged) return [{ name: carrier, description, type: 'vlan', state, mtu, vlan, ipv4, ipv6 }]
  return [{ ...nicInterface(plan, base, segment.nic, plan.from.cluster.bonds), description, ipv4, ipv6 }]
}

/**
 * Makes a bridge over a whole NIC drop tagged frames of pods, which could otherwise enter every VLAN of the NIC. Untagged frames
 * pass as VLAN 1, which the kernel gives to the bridge and to each of its ports. nmstate switches the filter on only with a
 * tag, so without a trunk the port gets one that no segment uses and no other port has.
 */
function bridgeFilter({ from, segments }: Plan, { bridge }: Segment, tenants: readonly SegmentTenant[]): Interface {
  if (from.cluster.isolation.taggedFrames === 'allow') return {}
  const clouds = new Set(tenants.map(({ cloud }) => cloud))
  const trunk = [...clouds].flatMap(({ networks }) =>
    networks.flatMap((network) => (network.bridge === bridge ? (network.trunk ?? []) : [])),
  )
  const tags = trunk.length > 0 ? trunk.map(formatTrunkTag) : [{ id: highestUnusedVlan(segments) }]
  return { mode: 'trunk', 'trunk-tags': tags }
}

function highestUnusedVlan(segments: readonly Segment[]): number {
  const used = new Set(segments.map(({ vlan }) => vlan))
  let id = 4094
  while (used.has(id)) id -= 1
  return id
}

function formatTrunkTag({ first, last }: VlanRange): Interface {
  return first === last ? { id: first } : { 'id-range': { min: first, max: last } }
}

const OFF = { enabled: false }
const NO_SPANNING_TREE = { stp: { enabled: false } }

/** The addresses that the node has on a segment, in all its clouds. */
function addressing(
  node: ClusterNode,
  tenants: readonly SegmentTenant[],
): { readonly ipv4: Interface; readonly ipv6: Interface } {
  const four: unknown[] = []
  const six: unknown[] = []
  for (const { network } of tenants) {
    for (const { name, address: ip } of network.nodes) {
      if (name !== node.name) continue
      const list = ip.includes(':') ? six : four
      list.push({ ip, 'prefix-length': prefixLength(network, ip) })
    }
  }
  return {
    ipv4: four.length > 0 ? { enabled: true, dhcp: false, address: four } : OFF,
    ipv6: six.length > 0 ? { enabled: true, dhcp: false, autoconf: false, address: six } : OFF,
  }
}

/** The interface that has the addresses: the bridge if there is one. */
function addressedInterface(node: ClusterNode, segment: Segment): string {
  return segment.bridge ?? (segment.vlan === undefined ? (node.nics[segment.nic] ?? '') : segment.interface)
}

/**
 * The routes of the subnets in which the node has an address, and of the network where its next hop can be reached.
 * A subnet of another site has routes back to the other subnets: they are for the hosts there.
 */
function nodeRoutes(network: PlannedNetwork, node: ClusterNode): readonly Route[] {
  if (network.routes.length === 0 && network.subnets.every(({ routes }) => routes.length === 0)) return []
  const addresses = network.nodes.filter(({ name }) => name === node.name).map(({ address }) => address)
  if (addresses.length === 0) return []
  const attached = new Set(addresses.map((text) => findSubnet(network, text)))
  const subnets = network.subnets.filter((subnet) => attached.has(subnet))
  return uniqueRoutes([
    ...network.routes.filter((route) => isReachable(route, network, subnets)),
    ...subnets.flatMap(({ routes }) => routes),
  ])
}

function formatRoute({ destination, nexthop }: Route, nextHop: string): unknown {
  return { destination, 'next-hop-address': nexthop, 'next-hop-interface': nextHop }
}

export function uniqueRoutes(routes: readonly Route[]): readonly Route[] {
  if (routes.length < 2) return routes
  return [...new Map(routes.map((route) => [`${route.destination} ${route.nexthop}`, route])).values()]
}
