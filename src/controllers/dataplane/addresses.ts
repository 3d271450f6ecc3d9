/**
 * What the IPAM controllers granted to a host, as variables of its inventory, under the names that playbooks expect.
 *
 * Pure. An IPSet has the name of its host.
 */
import type { IpSet } from '../../api/ipset.ts'
import type { HostVars } from './inventory.ts'

const NONE: HostVars = {}
/** The answer for one IPSet is one value: whoever compares sees that nothing changed. */
const known = new WeakMap<IpSet, HostVars>()

export function addressVars(ipSet: IpSet | undefined): HostVars {
  const reservations = ipSet?.status?.reservations ?? []
  if (!ipSet || reservations.length === 0) return NONE
  const before = known.get(ipSet)
  if (before) return before
  const vars = Object.fromEntries(reservations.flatMap(networkVars))
  known.set(ipSet, vars)
  return vars
}

type Reservation = NonNullable<NonNullable<IpSet['status']>['reservations']>[number]

function networkVars(one: Reservation): readonly (readonly [string, unknown])[] {
  const name = (one.serviceNetwork ?? one.network).toLowerCase()
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
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [[`${name}_${key}`, value]],
  )
}
