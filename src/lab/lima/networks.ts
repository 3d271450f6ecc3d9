/** Renders the lab's networks for Lima (networks.yaml) and the network configuration of each node (netplan). */
import { networkNames } from '../../api/lab.ts'
import { formatValue } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { writeYaml } from '../../yaml/write.ts'
import { type Lab, type LabNic, type LabNode, nameserverAddress } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

export interface LimaNetwork {
  readonly mode: string
  readonly gateway: string
  readonly dhcpEnd: string
  readonly netmask: string
}

/** Sets every field, because Lima passes an empty one to the command line of socket_vmnet. */
export function buildLimaNetworks(lab: Lab): Readonly<Record<string, LimaNetwork>> {
  return Object.fromEntries(
    networkNames.map((name) => {
      const { lima, mode, gateway, dhcpEnd, subnet } = lab.networks[name]
      return [lima, { mode, gateway, dhcpEnd, netmask: netmask(subnet) }]
    }),
  )
}

function netmask(subnet: string): string {
  const prefix = parseCidr(subnet)?.prefix ?? 24
  return formatValue(4, (0xffff_ffffn << BigInt(32 - prefix)) & 0xffff_ffffn)
}

export function networksFile(lab: Lab): TreeFile {
  const head = banner(
    'The stage `host` adds these networks to networks.yaml of the Lima home; others there stay.',
    'dhcpEnd stays below every static address, VIP and floating address: macOS serves DHCP on isolated networks too.',
  )
  return { path: 'lima/networks.yaml', text: head + writeYaml({ networks: buildLimaNetworks(lab) }) }
}

/**
 * The static addresses of a node, in a netplan file that is read after Lima's own: Lima writes its file at every boot,
 * with DHCP on every interface, the raw one included.
 */
export function buildNetplan(lab: Lab, node: LabNode): object {
  const ethernets = Object.fromEntries(node.nics.map((nic) => [nic.interface, buildEthernet(lab, nic)]))
  return { network: { version: 2, ethernets } }
}

function buildEthernet(lab: Lab, nic: LabNic): object {
  if (nic.address === undefined) {
    // The raw port gets no address at all, not even a link-local one.
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
    // Lima's eth0 has a default route with metric 200.
    routes: [{ to: 'default', via: gateway, metric: 50 }],
    nameservers: { addresses: [nameserverAddress(lab), gateway], search: [lab.dns.domain] },
  }
}
