/**
 * The names of a data plane host, from the addresses that its IPSet was given. Pure.
 *
 * As today's data plane registers them: the host under the domain of every network; its own name with the address of
 * the control plane's network.
 */

import type { DnsHost } from '../../api/dnsdata.ts'
import type { IpReservation, IpSet } from '../../api/ipset.ts'
import { resolveServiceNetwork } from '../../api/netconfig.ts'
import { DNS_ANNOTATION } from './dns-kinds.ts'

/** Whether its addresses are to be registered: by its own word, or by that of whoever made it. */
export function isDnsRequested({ metadata }: IpSet): boolean {
  return metadata.annotations?.[DNS_ANNOTATION] === 'true' || metadata.labels?.[DNS_ANNOTATION] === 'true'
}

export function hostsForIpSet({ metadata, status }: IpSet): readonly DnsHost[] {
  const [host = ''] = metadata.name.split('.')
  return (status?.reservations ?? []).map((given) => ({
    ip: given.address,
    hostnames: namesOnNetwork(metadata.name, host, given),
  }))
}

function namesOnNetwork(name: string, host: string, { network, dnsDomain, serviceNetwork }: IpReservation): string[] {
  const short = `${host}.${network.toLowerCase()}`
  const isControl = resolveServiceNetwork(network, serviceNetwork) === 'ctlplane'
  const names = [...(dnsDomain ? [`${host}.${dnsDomain}`] : []), short, ...(isControl ? [name] : [])]
  return [...new Set(names)]
}
