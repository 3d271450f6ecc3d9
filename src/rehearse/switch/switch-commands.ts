/** Formats a topology as commands of `ip` and of Open vSwitch. Pure. */
import type { AddressRange } from '../../plan/plan.ts'
import { SWITCH_MTU, type Switch, type SwitchPort } from '../topology.ts'

/** Longer than a rehearsal: what a port has carried is read at its end. */
const AGING_SECONDS = 86_400

/** The name of a switch for Open vSwitch. */
export function bridgeName(index: number): string {
  return `tor${index}`
}

/** Arguments of one call of `ovs-vsctl`, which is one transaction. */
export function switchArgs(switches: readonly Switch[]): readonly string[] {
  return switches.flatMap(({ ports }, index) => {
    const bridge = bridgeName(index)
    const aggregates = new Map<string, SwitchPort[]>()
    for (const port of ports) {
      if (port.aggregate) aggregates.set(port.aggregate.name, [...(aggregates.get(port.aggregate.name) ?? []), port])
    }
    return [
      ...`-- add-br ${bridge} -- set bridge ${bridge} datapath_type=netdev other_config:mac-aging-time=${AGING_SECONDS}`.split(
        ' ',
      ),
      ...ports
        .filter((port) => !port.aggregate)
        .flatMap((port) => ['--', 'add-port', bridge, port.name, ...portSettings(port)]),
      ...[...aggregates].flatMap(([name, members]) => {
        const [first] = members
        if (!first) return []
        const mode = ['bond_mode=balance-slb', first.aggregate?.lacp ? 'lacp=active' : 'lacp=off']
        return ['--', 'add-bond', bridge, name, ...members.map((port) => port.name), ...mode, ...portSettings(first)]
      }),
    ]
  })
}

/** Columns of the table Port. */
export function portSettings({ vlans, native }: Pick<SwitchPort, 'vlans' | 'native'>): readonly string[] {
  if (native !== undefined) {
    return ['vlan_mode=native-untagged', `tag=${native}`, `trunks=${[native, ...vlans].join(',')}`]
  }
  return ['vlan_mode=trunk', `trunks=${vlans.join(',')}`]
}

/** Lines of `ip -batch`. */
export function tapLines(switches: readonly Switch[]): string {
  const lines = switches.flatMap(({ ports }) =>
    ports.flatMap(({ name, mtu }) => [`tuntap add dev ${name} mode tap`, `link set dev ${name} mtu ${mtu} up`]),
  )
  return `${lines.join('\n')}\n`
}

/** A cable between two VLANs of a switch, or another machine on a VLAN. */
export type Plug =
  | { readonly kind: 'cable'; readonly name: string; readonly role: string; readonly vlans: readonly [number, number] }
  | MachinePlug

export interface MachinePlug {
  readonly kind: 'machine'
  readonly name: string
  readonly role: string
  readonly vlan: number
  /** With the lengths of their prefixes. */
  readonly addresses: readonly string[]
  /** Addresses that it gives out by DHCP. */
  readonly lends?: AddressRange
}

/** The interfaces of a plug: a machine has only the first one on the switch. */
export function plugPorts({ name }: Pick<Plug, 'name'>): readonly [string, string] {
  return [`${name}a`, `${name}b`]
}

/** Lines of `ip -batch`: two ends of a cable; the second end of a machine stays on this side, with its addresses. */
export function plugLines(plug: Plug): string {
  const [first, second] = plugPorts(plug)
  const addresses = plug.kind === 'machine' ? plug.addresses : []
  const lines = [
    `link add ${first} type veth peer name ${second}`,
    // A cable sends nothing of its own.
    ...(plug.kind === 'cable' ? [first, second].map((end) => `link set ${end} addrgenmode none`) : []),
    ...[first, second].map((end) => `link set ${end} mtu ${SWITCH_MTU} up`),
    // A machine that takes the address of another one does not ask first.
    ...addresses.map((address) => `address add ${address} dev ${second}${address.includes(':') ? ' nodad' : ''}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Settings of busybox's DHCP server. */
export function dhcpSettings(plug: Pick<Plug, 'name'>, { start, end }: AddressRange, leases: string): string {
  const settings = { start, end, interface: plugPorts(plug)[1], lease_file: leases, 'option subnet': '255.255.255.0' }
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('')
}

export function plugArgs(bridge: string, plug: Plug): readonly string[] {
  const [first, second] = plugPorts(plug)
  if (plug.kind === 'machine') return ['--', 'add-port', bridge, first, `tag=${plug.vlan}`]
  const [vlan, other] = plug.vlans
  return ['--', 'add-port', bridge, first, `tag=${vlan}`, '--', 'add-port', bridge, second, `tag=${other}`]
}
