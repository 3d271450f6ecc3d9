/**
 * Creates the tests of each probe: on its own network all peers must answer with the full MTU, and every VIP and gateway must
 * answer; no address of another cloud may answer, neither on the segment nor through a node. What the site leaves open by plan is not
 * tested: shared segments, and the ways that `cluster.isolation` allows. Pure.
 */
import type { Plan, PlannedCloud, PlannedNetwork, PlannedVip } from '../../plan/plan.ts'
import { serviceCatalogue } from '../../plan/slots/service-catalogue.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'

/** A running probe pod with its addresses. */
export interface ProbePod {
  readonly cloud: string
  readonly network: string
  readonly node: string
  readonly namespace: string
  readonly name: string
  readonly addresses: readonly string[]
  /** Addresses of a node on the segment, at most one per family: the default route of the pod. */
  readonly gateways?: readonly string[]
}

export type ProbeTask =
  | { readonly kind: 'mtu'; readonly planned: number }
  /** No other machine has the address of the pod. */
  | { readonly kind: 'duplicate'; readonly address: string }
  | {
      readonly kind: 'peer'
      readonly by: 'ARP' | 'ping' | 'full ping'
      readonly address: string
      readonly peer: ProbePod
      readonly bytes: number
    }
  /** A machine has the address of the gateway. */
  | { readonly kind: 'gateway'; readonly by: 'ARP' | 'ND'; readonly address: string }
  /** The pod has a route that its network gives to pods. */
  | { readonly kind: 'route'; readonly destination: string; readonly nexthop: string }
  /** No machine gives out addresses on the segment. */
  | { readonly kind: 'dhcp' }
  /** The link-local address of the pod. */
  | { readonly kind: 'link-local' }
  /** All IPv6 neighbours on the segment; only pods of the same cloud may answer. */
  | { readonly kind: 'neighbours' }
  | {
      readonly kind: 'vip'
      readonly by: 'ARP' | 'ND' | 'port'
      readonly address: string
      readonly slot: string
      readonly port: number
    }
  | {
      readonly kind: 'foreign'
      readonly by: 'ARP' | 'ping' | 'port'
      readonly address: string
      readonly owner: string
      readonly port: number
    }
  /** No node answers here for its address on a segment of another cloud. */
  | { readonly kind: 'node-address'; readonly address: string; readonly owner: string }
  /** No node forwards to a pod of another cloud. */
  | { readonly kind: 'routed'; readonly address: string; readonly owner: string; readonly gateway: string }
  /** The bridge passes no frame of a pod with this tag; the address is for the test alone. */
  | { readonly kind: 'tagged'; readonly vlan: number; readonly address: string; readonly owner: string }

/** `rhoso1/internalapi on worker-0`. */
export function formatPodLocation({ cloud, network, node }: ProbePod): string {
  return `${cloud}/${network} on ${node}`
}

/** The task as an argument of the script, which also identifies its answer. */
export function encodeTask(task: ProbeTask): string {
  const encode = encoders[task.kind] as (task: ProbeTask) => string
  return encode(task)
}

const encodeNeighbour = ({ by, address }: { readonly by: 'ARP' | 'ND'; readonly address: string }): string =>
  `${by === 'ARP' ? 'arp' : 'nd'},${address}`
const encodePort = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  `tcp,${address},${port}`

const encoders: { readonly [Kind in ProbeTask['kind']]: (task: Extract<ProbeTask, { kind: Kind }>) => string } = {
  mtu: () => 'mtu',
  duplicate: ({ address }) => `dad,${address}`,
  peer: ({ by, address, bytes }) => (by === 'ARP' ? `arp,${address}` : `ping,${address},${bytes}`),
  gateway: encodeNeighbour,
  route: ({ destination, nexthop }) => `route,${destination.split('/')[0]},${nexthop}`,
  dhcp: () => 'dhcp',
  'link-local': () => 'own6',
  neighbours: () => 'all6',
  vip: ({ by, ...task }) => (by === 'port' ? encodePort(task) : encodeNeighbour({ by, ...task })),
  foreign: ({ by, address, port }) => {
    if (by === 'port') return encodePort({ address, port })
    return by === 'ARP' ? `dad,${address}` : `ping,${address},${SMALL_PING_BYTES}`
  },
  'node-address': ({ address }) => `dad,${address}`,
  routed: ({ address, gateway }) => `via,${address},${gateway}`,
  tagged: ({ vlan, address }) => `tag,${vlan},${address}`,
}

const SMALL_PING_BYTES = 56

export function probeTasks(plan: Plan, pod: ProbePod, pods: readonly ProbePod[]): readonly ProbeTask[] {
  const cloud = plan.clouds.find(({ name }) => name === pod.cloud)
  const network = cloud?.networks.find(({ name }) => name === pod.network)
  if (!cloud || !network) return []
  // A probe without an address tests the bridge, between its two interfaces.
  if (pod.addresses.length === 0) return taggedTasks(plan, cloud, network)
  const peers = pods.filter(
    (other) => other.cloud === pod.cloud && other.network === pod.network && other.node !== pod.node,
  )
  return [
    { kind: 'mtu', planned: network.mtu },
    ...pod.addresses.map((address) => ({ kind: 'duplicate' as const, address })),
    ...(pod.addresses.every(isIpv4) ? [] : [{ kind: 'link-local' } as const, { kind: 'neighbours' } as const]),
    ...(pod.addresses.some(isIpv4) ? [{ kind: 'dhcp' } as const] : []),
    ...gatewayTasks(pod, network),
    ...peers.flatMap((peer) => peerTasks(peer, network)),
    ...vipTasks(plan, cloud, network),
    ...foreignTasks(plan, network, pod, pods),
  ]
}

function isIpv4(address: string): boolean {
  return !address.includes(':')
}

function gatewayTasks({ addresses }: ProbePod, { subnets, podRoutes }: PlannedNetwork): readonly ProbeTask[] {
  const hasFamily = (address: string): boolean => addresses.some((other) => isIpv4(other) === isIpv4(address))
  const gateways = subnets.flatMap(({ gateway }) => gateway ?? []).filter(hasFamily)
  return [
    ...gateways.map((address) => ({
      kind: 'gateway' as const,
      by: isIpv4(address) ? ('ARP' as const) : ('ND' as const),
      address,
    })),
    // The default route of a probe leads to a node.
    ...podRoutes
      .filter(({ destination, nexthop }) => !destination.endsWith('/0') && hasFamily(nexthop))
      .map((route) => ({ kind: 'route' as const, ...route })),
  ]
}

function peerTasks(peer: ProbePod, { mtu }: PlannedNetwork): readonly ProbeTask[] {
  return peer.addresses.flatMap((address): readonly ProbeTask[] => {
    // The MTU includes the headers of ICMP and of IPv4 or IPv6.
    const fullBytes = mtu - (isIpv4(address) ? 28 : 48)
    return [
      ...(isIpv4(address) ? [{ kind: 'peer', by: 'ARP', address, peer, bytes: 0 } as const] : []),
      { kind: 'peer', by: 'ping', address, peer, bytes: SMALL_PING_BYTES },
      { kind: 'peer', by: 'full ping', address, peer, bytes: fullBytes },
    ]
  })
}

function vipTasks(plan: Plan, cloud: PlannedCloud, network: PlannedNetwork): readonly ProbeTask[] {
  const announced = plan.from.cluster.metallb.mode === 'layer2'
  const { vips } = network
  return [
    ...(announced
      ? uniqueAddresses(vips).map(({ address, slot }) => ({
          kind: 'vip' as const,
          by: isIpv4(address) ? ('ARP' as const) : ('ND' as const),
          address,
          slot,
          port: 0,
        }))
      : []),
    ...vips.flatMap(({ address, slot }) =>
      tcpPorts(cloud, slot).map((port) => ({ kind: 'vip' as const, by: 'port' as const, address, slot, port })),
    ),
  ]
}

/** Services may share an address. */
function uniqueAddresses(vips: readonly PlannedVip[]): readonly PlannedVip[] {
  return vips.filter((vip, index) => vips.findIndex(({ address }) => address === vip.address) === index)
}

/** The first TCP port of a slot. DNS is excluded, because it uses UDP. */
function tcpPorts({ uses }: PlannedCloud, slot: string): readonly number[] {
  const use = uses.find(({ name }) => name === slot)
  return use ? (slotEndpoint(use)?.ports ?? []).filter((port) => port !== 53).slice(0, 1) : []
}

function slotEndpoint({ slot }: SlotUse) {
  const carrier = slot.path.join('.').replace(/\.(override\.services?|annotations)$/, '')
  return serviceCatalogue.flatMap((entry) => entry.endpoints).find(({ path }) => path === carrier)
}

/** All addresses of other clouds, regardless of their subnet, because a bridge ignores subnets. */
function foreignTasks(
  plan: Plan,
  network: PlannedNetwork,
  pod: ProbePod,
  pods: readonly ProbePod[],
): readonly ProbeTask[] {
  const others = plan.clouds.filter(({ name }) => name !== pod.cloud)
  return others.flatMap((other) => {
    const separate = other.networks.filter((plannedNetwork) => areSeparateSegments(plannedNetwork, network))
    const names = new Set(separate.map(({ name }) => name))
    const foreignPods = pods
      .filter((pod) => pod.cloud === other.name && names.has(pod.network))
      .flatMap((pod) => pod.addresses.map((address) => ({ address, owner: formatPodLocation(pod) })))
    const vips = separate.flatMap((plannedNetwork) => plannedNetwork.vips)
    return [
      ...foreignPods.flatMap(({ address, owner }) => [
        ...silenceTasks(address, owner, pod),
        ...routedTasks(address, owner, pod),
      ]),
      ...uniqueAddresses(vips).flatMap(({ address, slot }) =>
        silenceTasks(address, `the VIP of ${slot} of ${other.name}`, pod),
      ),
      ...(plan.from.cluster.isolation.nodeAddresses === 'own-segment'
        ? separate.flatMap((plannedNetwork) => nodeAddressTasks(other.name, plannedNetwork))
        : []),
      ...vips.flatMap(({ address, slot }) =>
        tcpPorts(other, slot).map((port) => ({
          kind: 'foreign' as const,
          by: 'port' as const,
          address,
          owner: `${slot} of ${other.name}`,
          port,
        })),
      ),
    ]
  })
}

/** Whether two networks are planned on different segments. */
export function areSeparateSegments(network: PlannedNetwork, other: PlannedNetwork): boolean {
  return network.segment === undefined || network.segment !== other.segment
}

/**
 * IPv6 does not resolve neighbours of other subnets; the `neighbours` task covers that case. With a default route through a
 * node a ping would not test the segment, and ARP does that already.
 */
function silenceTasks(address: string, owner: string, { gateways = [] }: ProbePod): readonly ProbeTask[] {
  return [
    ...(isIpv4(address) ? [{ kind: 'foreign', by: 'ARP', address, owner, port: 0 } as const] : []),
    ...(gatewayFor(address, gateways) === undefined
      ? [{ kind: 'foreign', by: 'ping', address, owner, port: 0 } as const]
      : []),
  ]
}

/** VIPs are not tested: nodes send their packets to pods of the Service, wherever they come from. */
function routedTasks(address: string, owner: string, { gateways = [] }: ProbePod): readonly ProbeTask[] {
  const gateway = gatewayFor(address, gateways)
  return gateway === undefined ? [] : [{ kind: 'routed', address, owner, gateway }]
}

function gatewayFor(address: string, gateways: readonly string[]): string | undefined {
  return gateways.find((gateway) => isIpv4(gateway) === isIpv4(address))
}

/** The VLANs of other clouds; those of the trunk pass by plan. */
function taggedTasks({ clouds, segments }: Plan, cloud: PlannedCloud, { bridge, trunk = [] }: PlannedNetwork) {
  const nic = segments.find((segment) => segment.bridge === bridge)?.nic
  const vlans = new Map(segments.filter((segment) => segment.nic === nic).map(({ id, vlan }) => [id, vlan]))
  const passes = (vlan: number): boolean => trunk.some(({ first, last }) => vlan >= first && vlan <= last)
  return clouds
    .filter(({ name }) => name !== cloud.name)
    .flatMap((other) =>
      other.networks.flatMap(({ name, segment = '' }): readonly ProbeTask[] => {
        const vlan = vlans.get(segment)
        if (vlan === undefined || passes(vlan)) return []
        const address = `169.254.${vlan >> 8}.${vlan & 255}`
        return [{ kind: 'tagged', vlan, address, owner: `${other.name}/${name}` }]
      }),
    )
}

/** By ARP alone: a packet that reaches a node is for all of its addresses. IPv6 answers only on the right interface. */
function nodeAddressTasks(cloud: string, { name: network, nodes }: PlannedNetwork): readonly ProbeTask[] {
  return nodes
    .filter(({ address }) => isIpv4(address))
    .map(({ name, address }) => ({ kind: 'node-address', address, owner: `${name} in ${cloud}/${network}` }))
}
