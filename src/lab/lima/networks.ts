/** Lima's side of the networks: what belongs into its networks.yaml. */
import { networkNames } from '../../api/lab.ts'
import { formatValue } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { writeYaml } from '../../yaml/write.ts'
import type { Lab } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

export interface LimaNetwork {
  readonly mode: string
  readonly gateway: string
  readonly dhcpEnd: string
  readonly netmask: string
}

/** All fields are explicit: Lima formats a missing one into the command line. */
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
