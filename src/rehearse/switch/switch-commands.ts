/** Formats a topology as commands of `ip` and of Open vSwitch. Pure. */
import type { Switch, SwitchPort } from '../topology.ts'

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
  | { readonly kind: 'cable'; readonly role: string; readonly vlans: readonly [number, number] }
  | { readonly kind: 'machine'; readonly role: string; readonly vlan: number; readonly address: string }

/** Lines of `ip -batch`: two ends of a cable; the second end of a machine stays on this side, with its address. */
export function plugLines([first, second]: readonly [string, string], plug: Plug): string {
  const lines = [
    `link add ${first} type veth peer name ${second}`,
    `link set ${first} up`,
    ...(plug.kind === 'machine' ? [`address add ${plug.address} dev ${second}`] : []),
    `link set ${second} up`,
  ]
  return `${lines.join('\n')}\n`
}

export function plugArgs(bridge: string, [first, second]: readonly [string, string], plug: Plug): readonly string[] {
  if (plug.kind === 'machine') return ['--', 'add-port', bridge, first, `tag=${plug.vlan}`]
  const [vlan, other] = plug.vlans
  return ['--', 'add-port', bridge, first, `tag=${vlan}`, '--', 'add-port', bridge, second, `tag=${other}`]
}
