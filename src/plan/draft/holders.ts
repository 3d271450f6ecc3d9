/**
 * The address of each node, host and endpoint on one network.
 *
 * Pure. Two clouds that share a subnet and its nodes span share the nodes' addresses too: a node has one there.
 */
import { tooFewNodeAddresses } from '../../errors/capacity.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { formatAddress } from '../../net/address.ts'
import { lastOf } from '../../net/cidr.ts'
import { formatRange, type Range, single } from '../../net/range.ts'
import type { Path } from '../../site/site.ts'
import type { NamedAddress, PlannedHostAddress } from '../plan.ts'
import { placeOf } from '../wishes.ts'
import { type AddressGrants, capacity } from './addresses.ts'
import type { DraftEndpoint, DraftSubnet, Stray } from './draft.ts'
import {
  assign,
  type FamilyInput,
  type Given,
  type HolderInput,
  insideSome,
  pinsOf,
  reportTroubles,
  textsOf,
} from './holding.ts'
import { hostList, hostsOf } from './hosts.ts'
import { readHeld } from './locked-addresses.ts'

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
  const lockedNodes = readHeld(locked?.left?.nodes, locked?.nodes)
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
export function excludedFrom(
  subnets: readonly DraftSubnet[],
  endpoints: readonly DraftEndpoint[],
): readonly Range[] {
  return [
    ...subnets.flatMap(({ cidr, gateway, reserved }) => [
      { family: cidr.family, first: cidr.base, last: cidr.base },
      ...(cidr.family === 4 ? [{ family: cidr.family, first: lastOf(cidr), last: lastOf(cidr) }] : []),
      ...(gateway ? [single(gateway)] : []),
      ...reserved,
    ]),
    ...endpoints.map(({ value }) => single(value)),
  ]
}

function endpointsOf(input: HolderInput, findings: Finding[]): readonly DraftEndpoint[] {
  return input.wish.endpoints.flatMap(({ name, address, path }) => {
    const what = `endpoint ${name} ${formatAddress(address)}`
    if (!insideSome(input, findings, { what, address, path })) return []
    return [{ name, value: address, address: formatAddress(address) }]
  })
}

function nodesOf(part: FamilyInput, locked: ReadonlyMap<string, bigint>): Given {
  const { input, subnets } = part
  const { site, wish, placement, locate } = input
  const spans = subnets.flatMap((subnet) => subnet.spans.nodes ?? [])
  const at = (name: string): Path => placeOf(wish, 'nodes', name)
  const pinned = [...wish.nodes].map(([name, addresses]) => ({ name, addresses }))
  const pins = pinsOf(part, pinned, 'node', at)
  const all = site.cluster.nodes.map(({ name }) => name)
  const names = spans.length > 0 ? all : all.filter((name) => pins.has(name))
  // On one segment and one span a node has one address, whichever cloud asks.
  const key = [placement?.segment, ...spans.map(formatRange)].join(' ')
  const together = spans.length > 0 ? input.sharedNodes.get(key) : undefined
  const asked = { spans, names, pins: together ? new Map([...together, ...pins]) : pins, locked }
  const result = assign(part, 'nodes', asked)
  if (!together) input.sharedNodes.set(key, shareable(names, result))
  reportTroubles(part, 'node', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? placeOf(wish, 'subnets'))
    part.findings.push(finding(tooFewNodeAddresses, facts, { where }))
  }
  return { names, texts: textsOf(part, result) }
}

function shareable(names: readonly string[], { given }: AddressGrants): ReadonlyMap<string, bigint> {
  const shared = new Map<string, bigint>()
  names.forEach((name, at) => {
    const value = given[at]
    if (value !== undefined) shared.set(name, value)
  })
  return shared
}
