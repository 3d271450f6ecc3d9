/**
 * Static addresses of a node, as a netplan file that comes after Lima's own.
 *
 * Lima writes its file at every boot with DHCP on every interface, the raw one included; this one overrides it.
 */
import type { Lab, LabNic, LabNode } from '../lab.ts'

export function buildNetplan(lab: Lab, node: LabNode): object {
  const ethernets = Object.fromEntries(node.nics.map((nic) => [nic.interface, buildEthernet(lab, nic)]))
  return { network: { version: 2, ethernets } }
}

function buildEthernet(lab: Lab, nic: LabNic): object {
  if (nic.address === undefined) {
    // Truly raw: no DHCP, no router advertisements, no link-local address.
    return { dhcp4: false, dhcp6: false, 'accept-ra': false, 'link-local': [], optional: true }
  }
  const fixed = {
    dhcp4: false,
    dhcp6: false,
    'accept-ra': false,
    addresses: [`${nic.address}/${nic.prefix}`],
  }
  if (nic.network !== 'management') return { ...fixed, 'link-local': [] }
  const { gateway } = lab.networks.management
  return {
    ...fixed,
    // Without it the route of Lima's eth0 (metric 200) would win.
    routes: [{ to: 'default', via: gateway, metric: 50 }],
    nameservers: { addresses: [nameserverAddress(lab), gateway], search: [lab.dns.domain] },
  }
}

/** BIND runs on the first controller. */
export function nameserverAddress(lab: Lab): string {
  return dnsNode(lab).address
}

export function dnsNode(lab: Lab): LabNode {
  const node = lab.nodes.find((node) => node.roles.includes('control')) ?? lab.nodes[0]
  if (!node) throw new TypeError('a lab has nodes')
  return node
}
