/** Who holds a single address on one network: endpoints first, then nodes and hosts, family by family. Pure. */
import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, type Family, formatAddress, formatValue } from '../../net/address.ts'
import { cidrContains, createAddressFormatter, formatCidr, formatConsecutive, lastAddress } from '../../net/cidr.ts'
import { formatRange, type Range, singleAddressRange } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import { type Path, type Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { getOwn } from '../collections.ts'
import { hostNames } from '../dns-names.ts'
import { duplicateAddress, otherFamily, spanOutside } from '../findings/addresses.ts'
import { tooFewHostAddresses, tooFewNodeAddresses } from '../findings/capacity.ts'
import { lockConflict } from '../findings/lock.ts'
import { type HeldAddresses, type LockedNetwork, parseHeldAddresses } from '../lock.ts'
import { type NamedAddress, type PlannedHostAddress } from '../plan.ts'
import { type CloudRequest, type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { type AddressGrants, assignAddresses, capacity } from './addresses.ts'
import { type DraftEndpoint, type DraftSubnet, type Placement, type Stray } from './draft.ts'

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

// FOLDED src/plan/draft/one-family.ts
/** One family of one network, for nodes and hosts alike: their pins read, addresses given, troubles told. Pure. */
export interface HolderInput {
  readonly site: Site
  readonly wish: NetworkRequest
  readonly cloud: CloudRequest
  readonly placement: Placement | undefined
  readonly dnsDomain: string
  readonly subnets: readonly DraftSubnet[]
  readonly locked: LockedNetwork | undefined
  /** The file's pins count; false for a network that stays as the lock has it. */
  readonly pins: boolean
  /** Addresses that the nodes have on shared subnets, from network to network. */
  readonly sharedNodes: Map<string, ReadonlyMap<string, bigint>>
  readonly locate: Locate
}

/** Who got what in one family. */
export interface Given {
  readonly names: readonly string[]
  /** In the order of the names; undefined where nothing was left. */
  readonly texts: readonly (string | undefined)[]
}

export interface FamilyInput {
  readonly input: HolderInput
  readonly family: Family
  readonly subnets: readonly DraftSubnet[]
  readonly excluded: readonly Range[]
  readonly findings: Finding[]
  readonly strays: Stray[]
}

interface Pin {
  readonly what: string
  readonly address: Address
  readonly path: Path | undefined
}

export function insideSome({ wish, subnets, locate }: HolderInput, findings: Finding[], pin: Pin): boolean {
  const { what, address, path } = pin
  const { owner } = wish
  if (subnets.some(({ cidr }) => cidrContains(cidr, address))) return true
  const where = locate(path)
  const sameFamily = subnets.filter(({ cidr }) => cidr.family === address.family)
  const cidrs = subnets.map(({ cidr }) => formatCidr(cidr)).join(', ')
  findings.push(
    sameFamily.length === 0 && subnets.length > 0
      ? finding(otherFamily, { owner, what, family: address.family, expected: `it has ${cidrs} only` }, { where })
      : finding(spanOutside, { owner, what, cidrs: cidrs || 'any subnet: there is none' }, { where }),
  )
  return false
}

export function textsOf({ subnets, family }: FamilyInput, { given }: AddressGrants): Given['texts'] {
  const [first] = subnets
  const format = first ? createAddressFormatter(first.cidr) : (value: bigint) => formatValue(family, value)
  return given.map((value) => (value === undefined ? undefined : format(value)))
}

interface Asked {
  readonly spans: readonly Range[]
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
}

export function assignInFamily(part: FamilyInput, kind: 'nodes' | 'hosts', asked: Asked): AddressGrants {
  const { family, subnets, excluded, strays } = part
  const others = subnets.flatMap(({ spans }) =>
    Object.entries(spans).flatMap(([role, ranges]) => (role === kind ? [] : ranges)),
  )
  const inside = (ranges: readonly Range[], value: bigint): boolean =>
    ranges.some(({ first, last }) => first <= value && value <= last)
  const result = assignAddresses({
    family,
    excluded,
    ...asked,
    keeps: (value) =>
      subnets.some(({ cidr }) => cidrContains(cidr, { family, value })) &&
      !inside(others, value) &&
      !inside(excluded, value),
  })
  // Only who is pinned or locked can be outside his span.
  if (asked.pins.size > 0 || asked.locked.size > 0) {
    const role = kind === 'nodes' ? 'node' : 'host'
    asked.names.forEach((name, at) => {
      const value = result.given[at]
      if (value !== undefined && !inside(asked.spans, value)) strays.push({ role, name, address: { family, value } })
    })
  }
  return result
}

/** The pins of this family that lie in a subnet of the network; others are findings, told once. */
export function pinsOf(
  { input, family, findings }: FamilyInput,
  pinned: readonly { readonly name: string; readonly addresses: readonly Address[] }[],
  kind: string,
  pathFor: (name: string) => Path | undefined,
): ReadonlyMap<string, bigint> {
  const pins = new Map<string, bigint>()
  if (!input.pins) return pins
  const { subnets } = input
  const first = subnets[0]?.cidr.family
  for (const { name, addresses } of pinned) {
    for (const address of addresses) {
      const what = `${kind} ${name} ${formatAddress(address)}`
      const pin = { what, address, path: pathFor(name) }
      if (address.family !== family) {
        const foreign = !subnets.some(({ cidr }) => cidr.family === address.family)
        if (foreign && family === first) insideSome(input, findings, pin)
      } else if (insideSome(input, findings, pin)) pins.set(name, address.value)
    }
  }
  return pins
}

export function reportTroubles(
  { input, findings }: FamilyInput,
  kind: string,
  result: AddressGrants,
  pathFor: (name: string) => Path | undefined,
): void {
  const { wish, locate } = input
  for (const { name, holder, address } of result.clashes) {
    const [a, b] = [`${wish.owner} ${kind} ${holder}`, `${wish.owner} ${kind} ${name}`]
    const free = result.free()
    const offer = free === undefined ? undefined : formatValue(address.family, free)
    const owners = [formatOwner(a, pathFor(holder), locate), formatOwner(b, pathFor(name), locate)]
    const facts = { a, b, address: formatAddress(address), offer }
    findings.push(finding(duplicateAddress, facts, { where: locate(pathFor(name)), owners }))
  }
  for (const { name, holder, address } of result.heldTwice) {
    const [a, b] = [`${wish.owner} ${kind} ${holder}`, `${wish.owner} ${kind} ${name}`]
    findings.push(finding(lockConflict, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
}

// FOLDED src/plan/draft/nodes.ts
/**
 * The address of each node on one network.
 *
 * Pure. Two clouds that share a subnet and its nodes span share the nodes' addresses too: a node has one there.
 */
export function nodesOf(part: FamilyInput, locked: ReadonlyMap<string, bigint>): Given {
  const { input, subnets } = part
  const { site, wish, placement, locate } = input
  const spans = subnets.flatMap((subnet) => subnet.spans.nodes ?? [])
  const at = (name: string): Path => settingPathOrCloud(wish, 'nodes', name)
  const pinned = [...wish.nodes].map(([name, addresses]) => ({ name, addresses }))
  const pins = pinsOf(part, pinned, 'node', at)
  const all = site.cluster.nodes.map(({ name }) => name)
  const names = spans.length > 0 ? all : all.filter((name) => pins.has(name))
  // On one segment and one span a node has one address, whichever cloud asks.
  const key = [placement?.segment, ...spans.map(formatRange)].join(' ')
  const together = spans.length > 0 ? input.sharedNodes.get(key) : undefined
  const asked = { spans, names, pins: together ? new Map([...together, ...pins]) : pins, locked }
  const result = assignInFamily(part, 'nodes', asked)
  if (!together) input.sharedNodes.set(key, shareable(names, result))
  reportTroubles(part, 'node', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? settingPathOrCloud(wish, 'subnets'))
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

// FOLDED src/plan/draft/hosts.ts
/**
 * The address of each data plane host on one network.
 *
 * Pure. Hot: two hundred thousand hosts go through here, so whoever would get what the lock says anyway is given it
 * without asking.
 */
export function hostsOf(part: FamilyInput): Given {
  const { input, family, subnets } = part
  const { wish, cloud, locate } = input
  const network = wish.network.name
  const spans = subnets.flatMap((subnet) => subnet.spans.hosts ?? [])
  const at = (name: string): Path | undefined => {
    const host = cloud.hosts.find((host) => host.name === name)
    return host && [...host.path, 'addresses', network]
  }
  const pins = pinsOf(part, cloud.pins.get(network) ?? [], 'host', at)
  const names = namesOn(cloud, network, spans.length > 0, pins)
  const { hosts: held, left } = input.locked ?? {}
  const fresh = pins.size === 0 && !left?.hosts ? freshTexts(part, spans, names.length) : undefined
  if (fresh && agrees(held, names, fresh)) return { names, texts: fresh }
  const locked = parseHeldAddresses(left?.hosts, held)[family]
  const result = assignInFamily(part, 'hosts', { spans, names, pins, locked })
  reportTroubles(part, 'host', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? [...wish.cloud.path, 'hosts'])
    part.findings.push(finding(tooFewHostAddresses, facts, { where }))
  }
  return { names, texts: textsOf(part, result) }
}

/** Dual stack: both addresses of a host side by side, under one list of names. */
export function hostList({ wish, dnsDomain }: HolderInput, families: readonly Given[]): readonly PlannedHostAddress[] {
  const listed: PlannedHostAddress[] = []
  const [first, second] = families
  if (!first) return listed
  const add = (host: string, names: readonly string[], given: Given, at: number): void => {
    const address = given.texts[at]
    if (address !== undefined) listed.push({ name: host, address, names })
  }
  const aligned = second !== undefined && second.names === first.names
  for (const [at, host] of first.names.entries()) {
    const names = hostNames(host, wish.network.name, dnsDomain)
    add(host, names, first, at)
    if (aligned) add(host, names, second, at)
  }
  if (!second || aligned) return listed
  for (const [at, host] of second.names.entries()) add(host, hostNames(host, wish.network.name, dnsDomain), second, at)
  return listed
}

/** Who is on the network. Usually everybody, and then it is one list for all networks and families. */
function namesOn(
  cloud: CloudRequest,
  network: string,
  hasSpan: boolean,
  pins: ReadonlyMap<string, bigint>,
): readonly string[] {
  if (hasSpan && cloud.everybody) return cloud.everybody
  return cloud.hosts
    .filter((host) => (host.networks ? host.networks.has(network) : hasSpan) || pins.has(host.name))
    .map(({ name }) => name)
}

/** Nobody is pinned and nobody was here before: everybody gets the next one, if they are enough. */
function freshTexts(
  { subnets, excluded }: FamilyInput,
  spans: readonly Range[],
  count: number,
): Given['texts'] | undefined {
  const [subnet] = subnets
  const [span, ...more] = spans
  if (!subnet || !span || more.length > 0) return undefined
  const texts: string[] = []
  for (const { first, last } of freeRanges(span, rangeSet(excluded))) {
    const room = last - first + 1n
    const missing = count - texts.length
    const own = room < BigInt(missing) ? Number(room) : missing
    texts.push(...formatConsecutive(subnet.cidr, first, own))
  }
  return texts.length === count ? texts : undefined
}

/** Whether the lock says nothing else: nobody was here, or everybody has what he would get anew. */
function agrees(held: HeldAddresses | undefined, names: readonly string[], texts: Given['texts']): boolean {
  if (!held || Object.keys(held).length === 0) return true
  return (
    Object.keys(held).length === names.length &&
    names.every((name, at) => getOwn(held, name)?.includes(texts[at] ?? '') === true)
  )
}
