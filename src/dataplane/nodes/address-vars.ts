/**
 * Renders the addresses and domains of a host's IPSet as inventory variables, under the names that playbooks expect.
 *
 * Pure.
 */
import type { IpReservation, IpSet } from '../../api/ipset.ts'
import { resolveServiceNetwork } from '../../api/netconfig.ts'
import type { HostVars } from './inventory.ts'

const NONE: HostVars = {}
/** The same value for the same inputs, so that callers can compare by identity. */
const known = new WeakMap<IpSet, { readonly nameservers: string; readonly vars: HostVars }>()

/** `servers` are the addresses of the host's DNS servers. */
export function addressVars(ipSet: IpSet | undefined, servers: readonly string[] = []): HostVars {
  const reservations = ipSet?.status?.reservations ?? []
  if (!ipSet || reservations.length === 0) return NONE
  const nameservers = servers.join(' ')
  const before = known.get(ipSet)
  if (before?.nameservers === nameservers) return before.vars
  const vars = {
    ...Object.fromEntries(reservations.flatMap(networkVars)),
    ...domainVars(ipSet.metadata.name, reservations),
    ...(servers.length > 0 && { ctlplane_dns_nameservers: servers }),
  }
  known.set(ipSet, { nameservers, vars })
  return vars
}

/** Also a name of a variable is evaluated by a play that lists them, and cannot be marked as text. */
const VARIABLE_NAME = /^[\w.-]+$/

function networkVars(reservation: IpReservation): readonly (readonly [string, unknown])[] {
  const { address, cidr, vlan, mtu, gateway, routes } = reservation
  const prefixLength = cidr?.split('/')[1]
  const name = serviceNetworkName(reservation)
  if (!VARIABLE_NAME.test(name)) return []
  const values: Readonly<Record<string, unknown>> = {
    ip: address,
    // Playbooks expect the length of the prefix alone.
    cidr: prefixLength === undefined ? undefined : Number(prefixLength),
    vlan_id: vlan,
    mtu,
    gateway_ip: gateway,
    host_routes: routes?.map(({ destination, nexthop }) => ({ ip_netmask: destination, next_hop: nexthop })),
  }
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[`${name}_${key}`, value]]))
}

/** The domains of its networks, the control plane's first, which also forms the canonical host name. */
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
