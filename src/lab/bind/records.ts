/** Every name of the lab and its address: the forward and the reverse zones are made of this one list. */
import { networkNames } from '../../api/lab.ts'
import { parseAddress } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { reverseName, reverseZones } from '../../net/reverse-dns.ts'
import { addressOnNetwork, type Lab } from '../lab.ts'
import { nameserverAddress } from '../lima/netplan.ts'

export interface HostRecord {
  /** Relative to the domain. */
  readonly name: string
  readonly address: string
  /** Whether the address answers with this name: one name per address. */
  readonly canonical: boolean
}

export function hostRecords(lab: Lab): readonly HostRecord[] {
  const host = (name: string, address: string, canonical = true): HostRecord => ({ name, address, canonical })
  return [
    host('ns1', nameserverAddress(lab), false),
    ...lab.nodes.map((node) => host(node.name, node.address)),
    ...lab.nodes.flatMap((node) =>
      networkNames
        .filter((network) => network !== 'management')
        .flatMap((network) => {
          const address = addressOnNetwork(node, network)
          return address === undefined ? [] : [host(`${node.name}.${network}`, address)]
        }),
    ),
    host('internal', lab.vips.internal),
    host('api', lab.vips.external),
    host('horizon', lab.vips.external, false),
    ...(lab.monitoring.grafana ? [host('grafana', lab.vips.internal, false)] : []),
  ]
}

export interface ReverseZone {
  readonly origin: string
  readonly pointers: readonly { readonly label: string; readonly name: string }[]
}

export function buildReverseZones(lab: Lab): readonly ReverseZone[] {
  const records = hostRecords(lab).filter((record) => record.canonical)
  const origins = networkNames.flatMap((name) => {
    const subnet = parseCidr(lab.networks[name].subnet)
    return subnet ? reverseZones(subnet) : []
  })
  return [...new Set(origins)].map((origin) => ({
    origin,
    pointers: records.flatMap((record) => {
      const address = parseAddress(record.address)
      const full = address ? reverseName(address) : ''
      if (!full.endsWith(`.${origin}`)) return []
      return [{ label: full.slice(0, -origin.length - 1), name: `${record.name}.${lab.dns.domain}.` }]
    }),
  }))
}
