/** Subnets as NetConfig writes them, wherever they are written. */

import { asInteger, asList, asRecord, asString, asStrings, type JsonRecord } from '../../api/json.ts'
import { asRange } from './attachment.ts'
import type { SubnetFacts } from './network-facts.ts'

export function readNetConfigSubnet(value: unknown, networkVlan: number | undefined): SubnetFacts | undefined {
  const subnet = asRecord(value)
  const cidr = asString(subnet['cidr'])
  if (cidr === undefined) return undefined
  const name = asString(subnet['name'])
  const vlan = asInteger(subnet['vlan'])
  return {
    // `subnet1` is what a site file calls the first one anyway.
    name: name === 'subnet1' ? undefined : name,
    cidr,
    gateway: asString(subnet['gateway']),
    vlan: vlan === networkVlan ? undefined : vlan,
    dnsDomain: asString(subnet['dnsDomain']),
    hosts: asList(subnet['allocationRanges']).flatMap((one) => rangeText(asRecord(one))),
    reserved: asStrings(subnet['excludeAddresses']).map(asRange),
    routes: asList(subnet['routes']).flatMap((one) => routeOf(asRecord(one))),
  }
}

function rangeText({ start, end }: JsonRecord): readonly string[] {
  return typeof start === 'string' && typeof end === 'string' ? [start === end ? start : `${start}-${end}`] : []
}

function routeOf({ destination, nexthop }: JsonRecord): SubnetFacts['routes'] {
  return typeof destination === 'string' && typeof nexthop === 'string' ? [{ destination, nexthop }] : []
}
