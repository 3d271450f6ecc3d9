/**
 * Changes a topology as a mistake in a data centre would: a VLAN that one port lacks, a wrong native VLAN, a small MTU, and
 * so on. A rehearsal with a fault shows which findings the mistake leads to.
 *
 * Pure. The fault is on the first node's port where one port is enough.
 */
import type { Plan, PlannedSubnet, Segment } from '../plan/plan.ts'
import type { MachinePlug, Plug } from './switch/switch-commands.ts'
import type { Switch, SwitchPort, Topology } from './topology.ts'

export const faultNames = [
  'missing-vlan',
  'wrong-native-vlan',
  'small-mtu',
  'swapped-nics',
  'bridged-clouds',
  'foreign-dhcp',
  'address-in-use',
] as const
export type FaultName = (typeof faultNames)[number]

export interface FaultyTopology {
  readonly topology: Topology
  /** What was changed: `the port of worker-0 enp6s0 lacks VLAN 20`. */
  readonly description: string
  /** What is connected to the switches in addition. */
  readonly plugs: readonly Plug[]
}

/** `plan` has what is rehearsed of the site. Returns the reason where there is nothing to break in this way. */
export function applyFault(
  fault: FaultName,
  topology: Topology,
  plan: Plan,
): FaultyTopology | { readonly unavailable: string } {
  const isRehearsed = ({ role }: Switch): boolean => plan.segments.some(({ nic }) => nic === role)
  const [first] = topology.switches.filter(isRehearsed).flatMap((switchOfRole) => switchOfRole.ports)
  if (!first) return { unavailable: 'no node has a NIC with a segment' }
  switch (fault) {
    case 'missing-vlan': {
      const vlan = first.vlans.find((id) => plan.segments.some((segment) => segment.vlan === id))
      if (vlan === undefined) return { unavailable: 'no rehearsed network has a VLAN' }
      return changePort(topology, first, {
        change: { vlans: first.vlans.filter((id) => id !== vlan) },
        description: `${describePort(first)} lacks VLAN ${vlan}`,
      })
    }
    case 'wrong-native-vlan': {
      if (first.native === undefined || plan.segments.every(({ vlan }) => vlan !== undefined))
        return { unavailable: 'no rehearsed network is untagged' }
      const native = first.native - 1
      return changePort(topology, first, {
        change: { native },
        description: `${describePort(first)} has native VLAN ${native} instead of ${first.native}`,
      })
    }
    case 'small-mtu': {
      const mtu = Math.min(...plan.segments.map((segment) => segment.mtu)) - 100
      return changePort(topology, first, {
        change: { mtu },
        description: `${describePort(first)} has an MTU of ${mtu}`,
      })
    }
    case 'swapped-nics':
      return swapNics(topology)
    case 'bridged-clouds':
      return bridgeClouds(topology, plan)
    case 'foreign-dhcp':
      return lendAddresses(topology, plan)
    case 'address-in-use':
      return occupyAddress(topology, plan)
  }
}

function describePort({ node, nic }: Pick<SwitchPort, 'node' | 'nic'>): string {
  return `the switch port of ${node} ${nic}`
}

function changePort(
  topology: Topology,
  { name }: SwitchPort,
  { change, description }: { readonly change: Partial<SwitchPort>; readonly description: string },
): FaultyTopology {
  const switches = topology.switches.map((switchOfRole) => ({
    ...switchOfRole,
    ports: switchOfRole.ports.map((port) => (port.name === name ? { ...port, ...change } : port)),
  }))
  return { topology: { ...topology, switches }, description, plugs: [] }
}

/** The cables of two NICs of the first node are exchanged. */
function swapNics(topology: Topology): FaultyTopology | { readonly unavailable: string } {
  const [near, far] = topology.switches
  const node = topology.nodes[0]?.name
  const first = near?.ports.find((port) => port.node === node)
  const second = far?.ports.find((port) => port.node === node)
  if (!near || !far || !first || !second) return { unavailable: 'the nodes have no two NICs with different roles' }
  const recable = ({ role, ports }: Switch, from: SwitchPort, to: SwitchPort): Switch => ({
    role,
    // The settings stay with the switch, the cable comes from the other NIC.
    ports: ports.map((port) => (port === from ? { ...from, name: to.name, nic: to.nic } : port)),
  })
  const switches = topology.switches.map((switchOfRole) => {
    if (switchOfRole === near) return recable(near, first, second)
    return switchOfRole === far ? recable(far, second, first) : switchOfRole
  })
  return {
    topology: { ...topology, switches },
    description: `the cables of ${first.nic} and ${second.nic} of ${node} are exchanged`,
    plugs: [],
  }
}

/** A cable between the same network of the first two clouds. */
function bridgeClouds(topology: Topology, plan: Plan): FaultyTopology | { readonly unavailable: string } {
  const [cloud, neighbour] = plan.clouds
  for (const network of cloud?.networks ?? []) {
    const peer = neighbour?.networks.find(({ name }) => name === network.name)
    const [segment, foreign] = [network, peer].map((end) => plan.segments.find(({ id }) => id === end?.segment))
    if (!segment || !foreign || segment === foreign || segment.nic !== foreign.nic) continue
    if (segment.vlan === undefined || foreign.vlan === undefined) continue
    return {
      topology,
      description: `a cable connects VLAN ${segment.vlan} (${cloud?.name}/${network.name}) and VLAN ${foreign.vlan} (${neighbour?.name}/${network.name})`,
      plugs: [{ kind: 'cable', name: 'x0', role: segment.nic, vlans: [segment.vlan, foreign.vlan] }],
    }
  }
  return { unavailable: 'no two clouds have tagged segments on one NIC' }
}

/** Another machine has the first address for pods, of each family, of a tagged network. */
function occupyAddress(topology: Topology, plan: Plan): FaultyTopology | { readonly unavailable: string } {
  const place = firstPodNetwork(plan)
  if (!place) return { unavailable: 'no tagged network has addresses for pods' }
  const { name, segment, vlan, subnets } = place
  const taken = subnets.flatMap(({ cidr, spans }) => {
    const start = spans.find(({ role }) => role === 'pods')?.start
    return start === undefined ? [] : [{ address: start, prefix: cidr.slice(cidr.indexOf('/')) }]
  })
  return {
    topology,
    description: `another machine on VLAN ${vlan} (${name}) has ${taken.map(({ address }) => address).join(' and ')}`,
    plugs: [machine(segment, vlan, { addresses: taken.map(({ address, prefix }) => `${address}${prefix}`) })],
  }
}

/** A range for documentation, which no site has. */
const LENDER = { address: '192.0.2.1', lends: { start: '192.0.2.10', end: '192.0.2.90' } }

function lendAddresses(topology: Topology, plan: Plan): FaultyTopology | { readonly unavailable: string } {
  const place = firstPodNetwork(plan)
  if (!place?.subnets.some(({ family }) => family === 4)) {
    return { unavailable: 'no tagged network has IPv4 addresses for pods' }
  }
  const { name, segment, vlan } = place
  const { address, lends } = LENDER
  return {
    topology,
    description: `a DHCP server on VLAN ${vlan} (${name}) has ${address}`,
    plugs: [machine(segment, vlan, { addresses: [`${address}/24`], lends })],
  }
}

function machine({ nic }: Segment, vlan: number, rest: Pick<MachinePlug, 'addresses' | 'lends'>): MachinePlug {
  return { kind: 'machine', name: 'x0', role: nic, vlan, ...rest }
}

interface PodNetwork {
  /** `rhoso1/internalapi`. */
  readonly name: string
  readonly segment: Segment
  readonly vlan: number
  readonly subnets: readonly PlannedSubnet[]
}

/** The first tagged network with addresses for pods. */
function firstPodNetwork({ clouds, segments }: Plan): PodNetwork | undefined {
  for (const cloud of clouds) {
    for (const { name, segment: id, subnets } of cloud.networks) {
      const segment = segments.find((candidate) => candidate.id === id)
      const hasPods = subnets.some(({ spans }) => spans.some(({ role }) => role === 'pods'))
      if (segment?.vlan !== undefined && hasPods) {
        return { name: `${cloud.name}/${name}`, segment, vlan: segment.vlan, subnets }
      }
    }
  }
  return undefined
}
