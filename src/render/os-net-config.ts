/**
 * The network of a data plane host, as a template for os-net-config: one OVS bridge over the host's NIC, a VLAN for
 * each tagged network, with the tags and widths of the plan. Addresses and routes are Ansible's variables, because
 * they differ from host to host.
 */
import type { PlannedNetwork } from '../plan/plan.ts'

export interface HostNic {
  /** `nic1`, or a name. */
  readonly nic: string
  readonly bridge: string
}

export function osNetConfigTemplate(networks: readonly PlannedNetwork[], { nic, bridge }: HostNic): string {
  const mtu = Math.max(1500, ...networks.map((network) => network.mtu))
  const untagged = networks.find((network) => networkVlan(network) === undefined)
  const tagged = networks.filter((network) => networkVlan(network) !== undefined)
  const lines = [
    '---',
    'network_config:',
    '- type: ovs_bridge',
    `  name: ${bridge}`,
    `  mtu: ${mtu}`,
    '  use_dhcp: false',
    '  dns_servers: {{ ctlplane_dns_nameservers }}',
    '  domain: {{ dns_search_domains }}',
    ...(untagged ? addressing(untagged, '  ') : []),
    '  members:',
    '  - type: interface',
    `    name: ${nic}`,
    `    mtu: ${mtu}`,
    // The bridge takes the MAC address of this member, so it keeps its own over restarts.
    '    primary: true',
    ...tagged.flatMap((network) => [
      '  - type: vlan',
      `    vlan_id: ${networkVlan(network)}`,
      `    mtu: ${network.mtu}`,
      ...addressing(network, '    '),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function addressing({ name }: PlannedNetwork, indent: string): readonly string[] {
  return [
    `${indent}addresses:`,
    `${indent}- ip_netmask: {{ ${name}_ip }}/{{ ${name}_cidr }}`,
    `${indent}routes: {{ ${name}_host_routes }}`,
  ]
}

function networkVlan(network: PlannedNetwork): number | undefined {
  return network.vlan ?? network.subnets[0]?.vlan
}
