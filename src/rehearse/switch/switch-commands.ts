/** Formats a topology as commands of `ip` and of Open vSwitch. Pure. */
import type { Switch, SwitchPort } from '../topology.ts'

/** The name of a switch for Open vSwitch. */
function bridgeName(index: number): string {
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
      ...`-- add-br ${bridge} -- set bridge ${bridge} datapath_type=netdev`.split(' '),
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
