/** Decides which BGP routers a rehearsal needs, where they are connected, and what they must have learnt. Pure. */
import { type Finding, finding } from '../../errors/finding.ts'
import { address as parseText } from '../../net/address.ts'
import { cidrContains, cidr as parseCidr } from '../../net/cidr.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { routeStays, vipNotRouted } from '../findings.ts'
import type { MachinePlug } from '../switch/switch-commands.ts'
import type { Topology } from '../topology.ts'

export interface Leaf {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly asn: number
  /** The AS of the nodes. */
  readonly nodeAsn: number
  /** Its neighbours. */
  readonly nodes: readonly string[]
  /** Its segment of the site; absent: nodes reach it over the network of the cluster. */
  readonly plug?: MachinePlug
}

const BGP_PORT = 179

/** IPv4 alone: MetalLB announces by IPv6 only with FRR beside the speaker. */
export function planLeaves({ from, clouds, segments }: Plan, { routers, switches, nodes }: Topology): readonly Leaf[] {
  const { mode, asn, peers } = from.cluster.metallb
  if (mode !== 'bgp') return []
  const networks = clouds.flatMap((cloud) => cloud.networks)
  return peers
    .filter(({ address }) => !address.includes(':'))
    .map((peer, index): Leaf => {
      const { address } = peer
      const home = networks.find(({ subnets }) => subnets.some(({ cidr }) => isIn(cidr, address)))
      const segment = segments.find(({ id }) => id === home?.segment)
      const vlan = segment?.vlan ?? switches.find(({ role }) => role === segment?.nic)?.ports[0]?.native
      const cidr = home?.subnets.find((subnet) => isIn(subnet.cidr, address))?.cidr ?? ''
      const prefixed = `${address}${cidr.slice(cidr.indexOf('/'))}`
      const isGateway = routers.some(({ addresses }) => addresses.includes(prefixed))
      const plug = segment && vlan !== undefined && !isGateway && machine(`l${index}`, segment.nic, vlan, prefixed)
      return {
        name: `leaf${index}`,
        address,
        port: peer.port ?? BGP_PORT,
        asn: peer.asn,
        nodeAsn: asn ?? peer.asn,
        nodes: peer.nodes.length > 0 ? peer.nodes : nodes.map(({ name }) => name),
        ...(plug && { plug }),
      }
    })
}

/** Whether nodes reach the router over a network of this cloud, and no longer when the cloud is removed. */
export function isReachedOver({ address }: Leaf, { networks }: PlannedCloud): boolean {
  return networks.some(({ subnets }) => subnets.some(({ cidr }) => isIn(cidr, address)))
}

function machine(name: string, role: string, vlan: number, address: string): MachinePlug {
  return { kind: 'machine', name, role, vlan, addresses: [address] }
}

function isIn(cidr: string, address: string): boolean {
  return !cidr.includes(':') && cidrContains(parseCidr(cidr), parseText(address))
}

/** Accepts every node that connects. */
export function leafConfig({ address, asn, nodeAsn }: Leaf): string {
  return [
    `router bgp ${asn}`,
    ` bgp router-id ${address}`,
    ' no bgp ebgp-requires-policy',
    ' neighbor nodes peer-group',
    ` neighbor nodes remote-as ${nodeAsn}`,
    ' bgp listen range 0.0.0.0/0 peer-group nodes',
    '',
  ].join('\n')
}

export interface ExpectedRoutes {
  readonly vips: readonly string[]
  /** The nodes that are connected. */
  readonly nodes: readonly string[]
}

function countNeighbours(leaf: Leaf, { nodes }: ExpectedRoutes): number {
  return nodes.filter((node) => leaf.nodes.includes(node)).length
}

/** Which VIPs a router still has from more nodes than are connected, after one was cut off. */
export function staleRoutes(
  leaf: Leaf,
  expected: ExpectedRoutes,
  routes: ReadonlyMap<string, number>,
  { node, seconds }: { readonly node: string; readonly seconds: number },
): readonly Finding[] {
  return expected.vips
    .filter((vip) => (routes.get(vip) ?? 0) > countNeighbours(leaf, expected))
    .map((vip) => finding(routeStays, { leaf: leaf.address, vip, node, seconds }))
}

/** Which VIPs are missing on a router, by the number of nodes from which it must have learnt each. */
export function missingRoutes(
  leaf: Leaf,
  expected: ExpectedRoutes,
  routes: ReadonlyMap<string, number>,
): readonly Finding[] {
  const { vips } = expected
  const neighbours = countNeighbours(leaf, expected)
  return vips
    .filter((vip) => (routes.get(vip) ?? 0) < neighbours)
    .map((vip) => finding(vipNotRouted, { leaf: leaf.address, vip, learnt: routes.get(vip) ?? 0, nodes: neighbours }))
}

/** The output of `show bgp ipv4 unicast json`: by address, from how many neighbours. */
export function parseRoutes(text: string): ReadonlyMap<string, number> {
  const { routes = {} } = JSON.parse(text || '{}') as { readonly routes?: Readonly<Record<string, readonly unknown[]>> }
  return new Map(
    Object.entries(routes)
      .filter(([prefix]) => prefix.endsWith('/32'))
      .map(([prefix, paths]) => [prefix.replace('/32', ''), paths.length]),
  )
}
