/**
 * The address of each node, host and endpoint on one network.
 *
 * Pure. Two clouds that share a subnet and its nodes span share the nodes' addresses too: a node has one there.
 */
import { tooFewHostAddresses, tooFewNodeAddresses } from '../../errors/capacity.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { addressTwice, otherFamily, spanOutside } from '../../errors/ledger.ts'
import { lockTwoOwners } from '../../errors/lock.ts'
import { type Address, type Family, formatAddress, formatValue } from '../../net/address.ts'
import { cidrContains, formatCidr, formatRun, formatterFor, lastOf } from '../../net/cidr.ts'
import { formatRange, type Range, single } from '../../net/range.ts'
import { gaps, rangeSet } from '../../net/range-set.ts'
import type { Path, Site } from '../../site/site.ts'
import type { CloudWish } from '../cloud-wishes.ts'
import { hostNames } from '../dns-names.ts'
import type { Held, LockedNetwork } from '../lock.ts'
import { own } from '../own.ts'
import type { NamedAddress, PlannedHostAddress } from '../plan.ts'
import { type Locate, ownerAt } from '../reader.ts'
import { type NetworkWish, placeOf } from '../wishes.ts'
import { type AddressGrants, assignAddresses, capacity } from './addresses.ts'
import type { DraftEndpoint, DraftSubnet, Stray } from './draft.ts'
import { readHeld } from './locked-addresses.ts'
import type { Placement } from './placement.ts'

export interface HolderInput {
  readonly site: Site
  readonly wish: NetworkWish
  readonly cloud: CloudWish
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

/** Who got what in one family. */
interface Given {
  readonly names: readonly string[]
  /** In the order of the names; undefined where nothing was left. */
  readonly texts: readonly (string | undefined)[]
}

interface FamilyInput {
  readonly input: HolderInput
  readonly family: Family
  readonly subnets: readonly DraftSubnet[]
  readonly excluded: readonly Range[]
  readonly findings: Finding[]
  readonly strays: Stray[]
}

/** Dual stack: both addresses of a host side by side, under one list of names. */
function hostList(
  { wish, dnsDomain }: HolderInput,
  families: readonly Given[],
): readonly PlannedHostAddress[] {
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
  for (const [at, host] of second.names.entries())
    add(host, hostNames(host, wish.network.name, dnsDomain), second, at)
  return listed
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

interface Pin {
  readonly what: string
  readonly address: Address
  readonly path: Path | undefined
}

function insideSome({ wish, subnets, locate }: HolderInput, findings: Finding[], pin: Pin): boolean {
  const { what, address, path } = pin
  const { owner } = wish
  if (subnets.some(({ cidr }) => cidrContains(cidr, address))) return true
  const where = locate(path)
  const sameFamily = subnets.filter(({ cidr }) => cidr.family === address.family)
  const cidrs = subnets.map(({ cidr }) => formatCidr(cidr)).join(', ')
  findings.push(
    sameFamily.length === 0 && subnets.length > 0
      ? finding(
          otherFamily,
          { owner, what, family: address.family, expected: `it has ${cidrs} only` },
          { where },
        )
      : finding(spanOutside, { owner, what, cidrs: cidrs || 'any subnet: there is none' }, { where }),
  )
  return false
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

function hostsOf(part: FamilyInput): Given {
  const { input, family, subnets } = part
  const { wish, cloud, locate } = input
  const network = wish.network.name
  const spans = subnets.flatMap((subnet) => subnet.spans.hosts ?? [])
  const at = (name: string): Path | undefined => {
    const host = cloud.hosts.find((one) => one.name === name)
    return host && [...host.path, 'addresses', network]
  }
  const pins = pinsOf(part, cloud.pins.get(network) ?? [], 'host', at)
  const names = namesOn(cloud, network, spans.length > 0, pins)
  const { hosts: held, left } = input.locked ?? {}
  const fresh = pins.size === 0 && !left?.hosts ? freshTexts(part, spans, names.length) : undefined
  if (fresh && agrees(held, names, fresh)) return { names, texts: fresh }
  const locked = readHeld(left?.hosts, held)[family]
  const result = assign(part, 'hosts', { spans, names, pins, locked })
  reportTroubles(part, 'host', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? [...wish.cloud.path, 'hosts'])
    part.findings.push(finding(tooFewHostAddresses, facts, { where }))
  }
  return { names, texts: textsOf(part, result) }
}

/** Who is on the network. Usually everybody, and then it is one list for all networks and families. */
function namesOn(
  cloud: CloudWish,
  network: string,
  hasSpan: boolean,
  pins: ReadonlyMap<string, bigint>,
): readonly string[] {
  if (hasSpan && cloud.everybody) return cloud.everybody
  return cloud.hosts
    .filter((host) => (host.networks ? host.networks.has(network) : hasSpan) || pins.has(host.name))
    .map(({ name }) => name)
}

function textsOf({ subnets, family }: FamilyInput, { given }: AddressGrants): Given['texts'] {
  const [first] = subnets
  const format = first ? formatterFor(first.cidr) : (value: bigint) => formatValue(family, value)
  return given.map((value) => (value === undefined ? undefined : format(value)))
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
  for (const { first, last } of gaps(span, rangeSet(excluded))) {
    const room = last - first + 1n
    const missing = count - texts.length
    const own = room < BigInt(missing) ? Number(room) : missing
    texts.push(...formatRun(subnet.cidr, first, own))
  }
  return texts.length === count ? texts : undefined
}

/** Whether the lock says nothing else: nobody was here, or everybody has what he would get anew. */
function agrees(held: Held | undefined, names: readonly string[], texts: Given['texts']): boolean {
  if (!held || Object.keys(held).length === 0) return true
  return (
    Object.keys(held).length === names.length &&
    names.every((name, at) => own(held, name)?.includes(texts[at] ?? '') === true)
  )
}

interface Asked {
  readonly spans: readonly Range[]
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
}

function assign(part: FamilyInput, kind: 'nodes' | 'hosts', asked: Asked): AddressGrants {
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
      if (value !== undefined && !inside(asked.spans, value))
        strays.push({ role, name, address: { family, value } })
    })
  }
  return result
}

/** The pins of this family that lie in a subnet of the network; others are findings, told once. */
function pinsOf(
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

function reportTroubles(
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
    const owners = [ownerAt(a, pathFor(holder), locate), ownerAt(b, pathFor(name), locate)]
    const facts = { a, b, address: formatAddress(address), offer }
    findings.push(finding(addressTwice, facts, { where: locate(pathFor(name)), owners }))
  }
  for (const { name, holder, address } of result.heldTwice) {
    const [a, b] = [`${wish.owner} ${kind} ${holder}`, `${wish.owner} ${kind} ${name}`]
    findings.push(finding(lockTwoOwners, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
}
