/**
 * What the IPAM and DNS controllers granted to a host, as variables of its inventory, under the names that playbooks
 * expect.
 *
 * Pure. An IPSet has the name of its host.
 */

import type { IpReservation, IpSet } from '../../api/ipset.ts'
import { resolveServiceNetwork } from '../../api/netconfig.ts'
import type { HostVars } from './inventory.ts'

const NONE: HostVars = {}
/** The answer for one IPSet is one value: whoever compares sees that nothing changed. */
const known = new WeakMap<IpSet, { readonly asked: string; readonly vars: HostVars }>()

/** `servers` are the addresses at which the host asks for names. */
export function addressVars(ipSet: IpSet | undefined, servers: readonly string[] = []): HostVars {
  const reservations = ipSet?.status?.reservations ?? []
  if (!ipSet || reservations.length === 0) return NONE
  const asked = servers.join(' ')
  const before = known.get(ipSet)
  if (before?.asked === asked) return before.vars
  const vars = {
    ...Object.fromEntries(reservations.flatMap(networkVars)),
    ...domainVars(ipSet.metadata.name, reservations),
    ...(servers.length > 0 && { ctlplane_dns_nameservers: servers }),
  }
  known.set(ipSet, { asked, vars })
  return vars
}

function networkVars(one: IpReservation): readonly (readonly [string, unknown])[] {
  const name = serviceNetworkName(one)
  const values: Readonly<Record<string, unknown>> = {
    ip: one.address,
    // The inventory wants the length of the prefix alone.
    cidr: one.cidr?.split('/')[1] === undefined ? undefined : Number(one.cidr.split('/')[1]),
    vlan_id: one.vlan,
    mtu: one.mtu,
    gateway_ip: one.gateway,
    host_routes: one.routes?.map(({ destination, nexthop }) => ({
      ip_netmask: destination,
      next_hop: nexthop,
    })),
  }
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[`${name}_${key}`, value]]))
}

/** The domains of its networks, the control plane's first; its own name is in that one. */
function domainVars(ipSet: string, reservations: readonly IpReservation[]): HostVars {
  const control = reservations.find((reservation) => serviceNetworkName(reservation) === 'ctlplane')?.dnsDomain
  const others = reservations.flatMap(({ dnsDomain }) => dnsDomain ?? [])
  const domains = [...new Set([...(control ? [control] : []), ...others])]
  if (domains.length === 0) return NONE
  const [host = ''] = ipSet.split('.')
  return { dns_search_domains: domains, ...(control && { canonical_hostname: `${host}.${control}` }) }
}

function serviceNetworkName({ serviceNetwork, network }: IpReservation): string {
  return resolveServiceNetwork(network, serviceNetwork)
}
