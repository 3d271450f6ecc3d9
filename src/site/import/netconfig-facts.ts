/** Subnets as NetConfig writes them, wherever they are written. */

import { type Loose, listOf, numberOf, recordOf, textOf, textsOf } from '../../yaml/loose.ts'
import { asRange } from './attachment.ts'
import type { SubnetFacts } from './network-facts.ts'

export function subnetFacts(value: unknown, networkVlan: number | undefined): SubnetFacts | undefined {
  const subnet = recordOf(value)
  const cidr = textOf(subnet['cidr'])
  if (cidr === undefined) return undefined
  const name = textOf(subnet['name'])
  const vlan = numberOf(subnet['vlan'])
  return {
    // `subnet1` is what a site file calls the first one anyway.
    name: name === 'subnet1' ? undefined : name,
    cidr,
    gateway: textOf(subnet['gateway']),
    vlan: vlan === networkVlan ? undefined : vlan,
    dnsDomain: textOf(subnet['dnsDomain']),
    hosts: listOf(subnet['allocationRanges']).flatMap((one) => rangeText(recordOf(one))),
    reserved: textsOf(subnet['excludeAddresses']).map(asRange),
    routes: listOf(subnet['routes']).flatMap((one) => routeOf(recordOf(one))),
  }
}

function rangeText({ start, end }: Loose): readonly string[] {
  return typeof start === 'string' && typeof end === 'string'
    ? [start === end ? start : `${start}-${end}`]
    : []
}

function routeOf({ destination, nexthop }: Loose): SubnetFacts['routes'] {
  return typeof destination === 'string' && typeof nexthop === 'string' ? [{ destination, nexthop }] : []
}
