/**
 * Node networking: NodeNetworkConfigurationPolicies. Taking it away is `deploy/node-policies.ts`, from what is live.
 *
 * It belongs to the whole site. What several clouds stand on (bonds, NICs, shared segments) is one base policy per
 * node; what one cloud alone uses is that cloud's own policy per node, so that a cloud comes and goes without touching
 * anybody's addresses.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud, PlannedNetwork, Route, Segment } from '../plan/plan.ts'
import type { Bond, ClusterNode } from '../site/site.ts'
import { ownershipLabels } from './labels.ts'
import { prefixLength } from './spans.ts'

/** A network on a node, with the cloud that it is of. */
interface SegmentTenant {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
}

type Interface = Readonly<Record<string, unknown>>

export interface DesiredState {
  readonly interfaces: readonly Interface[]
  readonly routes?: { readonly config: readonly unknown[] }
}

/** A segment with who stands on it, and what of that is the same on every node. */
interface SegmentUse {
  readonly segment: Segment
  readonly tenancies: readonly SegmentTenant[]
  readonly description: string
  readonly routes: readonly Route[]
}

/** Who stands on which segment: found once, because looking it up for each cloud would cost clouds times clouds. */
export interface SegmentIndex {
  /** What one cloud alone stands on, by cloud. */
  readonly own: ReadonlyMap<string, readonly SegmentUse[]>
  readonly shared: readonly SegmentUse[]
}

export function indexSegments(plan: Plan): SegmentIndex {
  const tenancies = new Map<string, SegmentTenant[]>()
  for (const cloud of plan.clouds) {
    for (const network of cloud.networks) {
      if (network.segment === undefined) continue
      const on = tenancies.get(network.segment)
      if (on) on.push({ cloud, network })
      else tenancies.set(network.segment, [{ cloud, network }])
    }
  }
  const own = new Map<string, SegmentUse[]>(plan.clouds.map(({ name }) => [name, []]))
  const shared: SegmentUse[] = []
  // Where segments are there to be shared they are the site's from the first cloud on: the second one to come, or to
  // go, must not make them change hands.
  const isShared = plan.from.addressing.isolation === 'shared-vlan'
  for (const segment of plan.segments) {
    const on = tenancies.get(segment.id)
    const first = on?.[0]?.cloud
    if (!on || !first) continue
    if (isShared || on.some(({ cloud }) => cloud.name !== first.name)) shared.push(describeSegmentUse(segment, on))
    else own.get(first.name)?.push(describeSegmentUse(segment, on))
  }
  return { own, shared }
}

function describeSegmentUse(segment: Segment, tenancies: readonly SegmentTenant[]): SegmentUse {
  const description = tenancies.map(({ cloud, network }) => `${cloud.name} ${network.name}`).join(', ')
  const routes: Route[] = []
  for (const { network } of tenancies) routes.push(...networkRoutes(network))
  return { segment, tenancies, description, routes }
}

/** Bonds, NICs and what several clouds share, once per node. */
export function renderBasePolicies(plan: Plan, index = indexSegments(plan)): readonly KubeObject[] {
  return policies(plan, undefined, (node) => baseState(plan, node, index))
}

/** What one cloud alone uses, once per node. */
export function renderCloudPolicies(
  plan: Plan,
  cloud: PlannedCloud,
  index = indexSegments(plan),
): readonly KubeObject[] {
  const own = index.own.get(cloud.name) ?? []
  return policies(plan, cloud, (node) => buildDesiredState(plan, node, own))
}

function policies(
  plan: Plan,
  cloud: PlannedCloud | undefined,
  desired: (node: ClusterNode) => DesiredState,
): readonly KubeObject[] {
  const { nodes, maxUnavailable } = plan.from.cluster
  const labels = ownershipLabels({ site: plan.site, ...(cloud && { cloud: cloud.name }) })
  const found: KubeObject[] = []
  for (const node of nodes) {
    const desiredState = desired(node)
    if (desiredState.interfaces.length === 0) continue
    found.push({
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
  return found
}

function policyName(node: string, cloud?: PlannedCloud): string {
  return `${cloud ? cloud.namespace : 'stackloom-base'}-${node}`
}

function baseState(plan: Plan, node: ClusterNode, index: SegmentIndex): DesiredState {
  const shared = buildDesiredState(plan, node, index.shared)
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

/** A NIC as wide as the widest segment on it; its addresses are not ours, so they are not mentioned. */
function nicInterface(plan: Plan, nic: string, role: string, bonds: readonly Bond[]): Interface {
  const mtu = Math.max(...plan.segments.filter((segment) => segment.nic === role).map((segment) => segment.mtu))
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

function buildDesiredState(plan: Plan, node: ClusterNode, grounds: readonly SegmentUse[]): DesiredState {
  const interfaces: Interface[] = []
  const routes: unknown[] = []
  for (const ground of grounds) {
    interfaces.push(...segmentInterfaces(plan, node, ground))
    for (const route of ground.routes) routes.push(nodeRoute(route, addressedInterface(node, ground.segment)))
  }
  return { interfaces, ...(routes.length > 0 && { routes: { config: routes } }) }
}

function segmentInterfaces(
  plan: Plan,
  node: ClusterNode,
  { segment, tenancies, description }: SegmentUse,
): readonly Interface[] {
  const base = node.nics[segment.nic]
  if (base === undefined) return []
  const carrier = segment.vlan === undefined ? base : segment.interface
  const { ipv4, ipv6 } = addressing(node, tenancies)
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
          port: [{ name: carrier, ...(!tagged && { vlan: {} }) }],
        },
        ipv4,
        ipv6,
      },
    ]
  }
  if (tagged) return [{ name: carrier, description, type: 'vlan', state, mtu, vlan, ipv4, ipv6 }]
  return [{ ...nicInterface(plan, base, segment.nic, plan.from.cluster.bonds), description, ipv4, ipv6 }]
}

const OFF = { enabled: false }
const NO_SPANNING_TREE = { stp: { enabled: false } }

/** Every address that this node has on a segment, of all clouds on it. */
function addressing(
  node: ClusterNode,
  tenancies: readonly SegmentTenant[],
): { readonly ipv4: Interface; readonly ipv6: Interface } {
  const four: unknown[] = []
  const six: unknown[] = []
  for (const { network } of tenancies) {
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

/** Where the addresses are: the bridge if there is one. */
function addressedInterface(node: ClusterNode, segment: Segment): string {
  return segment.bridge ?? (segment.vlan === undefined ? (node.nics[segment.nic] ?? '') : segment.interface)
}

function networkRoutes(network: PlannedNetwork): readonly Route[] {
  const routes = [...network.routes]
  for (const subnet of network.subnets) routes.push(...subnet.routes)
  return uniqueRoutes(routes)
}

function nodeRoute({ destination, nexthop }: Route, nextHop: string): unknown {
  return { destination, 'next-hop-address': nexthop, 'next-hop-interface': nextHop }
}

export function uniqueRoutes(routes: readonly Route[]): readonly Route[] {
  if (routes.length < 2) return routes
  return [...new Map(routes.map((route) => [`${route.destination} ${route.nexthop}`, route])).values()]
}
