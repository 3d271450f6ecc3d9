/** Decides which data plane hosts a rehearsal has: their addresses are those of the plan, which their IPSets get. Pure. */
import { address as parseText } from '../../net/address.ts'
import { cidrContains, cidr as parseCidr } from '../../net/cidr.ts'
import type { Plan, PlannedNetwork } from '../../plan/plan.ts'
import type { ProbePod } from '../../verify/probe/probe-tasks.ts'
import type { MachinePlug } from '../switch/switch-commands.ts'
import type { Topology } from '../topology.ts'

/** A host on one of its networks: a network namespace with one interface, which tests the network as a pod does. */
export interface RehearsedHost extends ProbePod {
  readonly plug: MachinePlug
  readonly mtu: number
  /** Its addresses with the lengths of their prefixes. */
  readonly prefixed: readonly string[]
}

/** The first hosts of each cloud; `count` is that of the nodes. */
export function planHosts({ clouds, segments }: Plan, { switches }: Topology, count: number): readonly RehearsedHost[] {
  const places = clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) => {
      const segment = segments.find(({ id }) => id === network.segment)
      const vlan = segment?.vlan ?? switches.find(({ role }) => role === segment?.nic)?.ports[0]?.native
      if (!segment || vlan === undefined) return []
      const names = [...new Set(network.hosts.map(({ name }) => name))].slice(0, count)
      return names.map((host) => ({ cloud, network, host, role: segment.nic, vlan }))
    }),
  )
  return places.map(({ cloud, network, host, role, vlan }, index): RehearsedHost => {
    const addresses = network.hosts.filter(({ name }) => name === host).map(({ address }) => address)
    return {
      cloud: cloud.name,
      network: network.name,
      node: host,
      namespace: cloud.namespace,
      name: `h${index}`,
      addresses,
      mtu: network.mtu,
      prefixed: addresses.map((address) => withPrefix(network, address)),
      plug: { kind: 'machine', name: `h${index}`, role, vlan, addresses: [] },
    }
  })
}

function withPrefix({ subnets }: PlannedNetwork, text: string): string {
  const subnet = subnets.find(({ cidr }) => cidrContains(parseCidr(cidr), parseText(text)))
  return `${text}${subnet?.cidr.slice(subnet.cidr.indexOf('/')) ?? ''}`
}

/** Lines of `ip -batch`: moves the interface of the host into its own namespace. */
export function namespaceLines({ name }: RehearsedHost, iface: string): string {
  return [`netns add ${name}`, `link set ${iface} netns ${name} name net1`, ''].join('\n')
}

/** Lines of `ip -batch` in the namespace of the host. */
export function addressLines({ prefixed, mtu }: RehearsedHost): string {
  const addresses = prefixed.map((address) => `address add ${address} dev net1`)
  return ['link set lo up', `link set net1 mtu ${mtu} up`, ...addresses, ''].join('\n')
}
