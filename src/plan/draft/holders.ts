/** Who holds a single address on one network: endpoints first, then nodes and hosts, family by family. Pure. */
import type { Finding } from '../../errors/finding.ts'
import { formatAddress } from '../../net/address.ts'
import { lastAddress } from '../../net/cidr.ts'
import { type Range, singleAddressRange } from '../../net/range.ts'
import type { NamedAddress, PlannedHostAddress } from '../plan.ts'
import type { DraftEndpoint, DraftSubnet, Stray } from './draft.ts'
import { hostList, hostsOf } from './hosts.ts'
import { parseHeldAddresses } from './locked-addresses.ts'
import { nodesOf } from './nodes.ts'
import { type Given, type HolderInput, insideSome } from './one-family.ts'

export interface Holders {
  readonly nodes: readonly NamedAddress[]
  readonly hosts: readonly PlannedHostAddress[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly strays: readonly Stray[]
  readonly findings: readonly Finding[]
}

export function assignHolders(input: HolderInput): Holders {
  const { subnets, locked } = input
  const findings: Finding[] = []
  const endpoints = endpointsOf(input, findings)
  const strays: Stray[] = []
  const lockedNodes = parseHeldAddresses(locked?.left?.nodes, locked?.nodes)
  const nodes: NamedAddress[] = []
  const hosts: Given[] = []
  for (const family of [4, 6] as const) {
    const own = subnets.filter(({ cidr }) => cidr.family === family)
    if (own.length === 0) continue
    const part = { input, family, subnets: own, excluded: excludedFrom(own, endpoints), findings, strays }
    const given = nodesOf(part, lockedNodes[family])
    given.names.forEach((name, at) => {
      const address = given.texts[at]
      if (address !== undefined) nodes.push({ name, address })
    })
    hosts.push(hostsOf(part))
  }
  return { nodes, hosts: hostList(input, hosts), endpoints, strays, findings }
}

/** What no allocator of the network may give out: gateways, reserved addresses, endpoints, the subnets' own ends. */
export function excludedFrom(subnets: readonly DraftSubnet[], endpoints: readonly DraftEndpoint[]): readonly Range[] {
  return [
    ...subnets.flatMap(({ cidr, gateway, reserved }) => [
      { family: cidr.family, first: cidr.base, last: cidr.base },
      ...(cidr.family === 4 ? [{ family: cidr.family, first: lastAddress(cidr), last: lastAddress(cidr) }] : []),
      ...(gateway ? [singleAddressRange(gateway)] : []),
      ...reserved,
    ]),
    ...endpoints.map(({ value }) => singleAddressRange(value)),
  ]
}

function endpointsOf(input: HolderInput, findings: Finding[]): readonly DraftEndpoint[] {
  return input.wish.endpoints.flatMap(({ name, address, path }) => {
    const what = `endpoint ${name} ${formatAddress(address)}`
    if (!insideSome(input, findings, { what, address, path })) return []
    return [{ name, value: address, address: formatAddress(address) }]
  })
}
