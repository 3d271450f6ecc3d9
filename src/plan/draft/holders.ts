/**
 * Assigns the single addresses of one network: endpoints first, then nodes and data plane hosts, family by family.
 *
 * Pure. Runs for two hundred thousand hosts: hosts that would get their locked address anyway skip the allocator.
 */

import { getOwn } from '../../api/collections.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, type Family, formatAddress, formatValue } from '../../net/address.ts'
import { cidrContains, createAddressFormatter, formatCidr, formatConsecutive, lastAddress } from '../../net/cidr.ts'
import { formatRange, type Range, singleAddressRange } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import type { Path, Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { hostNames } from '../dns-names.ts'
import { duplicateAddress, otherFamily, spanOutside } from '../findings/addresses.ts'
import { nodesNotOnNetwork, tooFewHostAddresses, tooFewNodeAddresses } from '../findings/capacity.ts'
import { lockConflict } from '../findings/lock.ts'
import { type AddressesByHolder, type LockedNetwork, listHolders, parseLockedAddresses } from '../lock.ts'
import type { NamedAddress, PlannedHostAddress } from '../plan.ts'
import { type CloudRequest, type HostPin, type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { type AddressAssignment, assignAddresses, countAddresses } from './addresses.ts'
import type { DraftEndpoint, DraftSubnet, OutsideAddress, Placement } from './draft.ts'

export interface HolderInput {
  readonly site: Site
  readonly request: NetworkRequest
  readonly cloud: CloudRequest
  readonly placement: Placement | undefined
  readonly dnsDomain: string
  readonly subnets: readonly DraftSubnet[]
  readonly locked: LockedNetwork | undefined
  /** False for a network that stays as the lock has it, whatever the file pins. */
  readonly usePins: boolean
  /** Addresses of the nodes on shared subnets; filled from network to network. */
  readonly sharedNodes: Map<string, ReadonlyMap<string, bigint>>
  readonly locate: Locate
}

export interface Holders {
  readonly nodes: readonly NamedAddress[]
  readonly hosts: readonly PlannedHostAddress[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly outside: readonly OutsideAddress[]
  readonly findings: readonly Finding[]
}

/** The holders of one family, each with its address. */
interface FamilyAddresses {
  readonly names: readonly string[]
  /** In the order of the names; undefined where no address was left. */
  readonly texts: readonly (string | undefined)[]
}

interface FamilyInput {
  readonly input: HolderInput
  readonly family: Family
  readonly subnets: readonly DraftSubnet[]
  readonly excluded: readonly Range[]
  readonly findings: Finding[]
  readonly outside: OutsideAddress[]
}

export function assignHolders(input: HolderInput): Holders {
  const { locked } = input
  const findings: Finding[] = []
  const outside: OutsideAddress[] = []
  const endpoints = placeEndpoints(input, findings)
  const lockedNodes = parseLockedAddresses(locked?.left?.nodes, locked?.nodes)
  const nodes: NamedAddress[] = []
  const hosts: FamilyAddresses[] = []
  for (const family of [4, 6] as const) {
    const subnets = input.subnets.filter(({ cidr }) => cidr.family === family)
    if (subnets.length === 0) continue
    const part = { input, family, subnets, excluded: unassignable(subnets, endpoints), findings, outside }
    const { names, texts } = assignNodes(part, lockedNodes[family])
    names.forEach((name, index) => {
      const address = texts[index]
      if (address !== undefined) nodes.push({ name, address })
    })
    hosts.push(assignHosts(part))
  }
  return { nodes, hosts: listHosts(input, hosts), endpoints, outside, findings }
}

/** What no allocator of the network may give out: gateways, reserved addresses, endpoints, the ends of the subnets. */
export function unassignable(subnets: readonly DraftSubnet[], endpoints: readonly DraftEndpoint[]): readonly Range[] {
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

function placeEndpoints(input: HolderInput, findings: Finding[]): readonly DraftEndpoint[] {
  return input.request.endpoints.flatMap(({ name, address, path }) => {
    const what = `endpoint ${name} ${formatAddress(address)}`
    if (!checkInSubnet(input, findings, { what, address, path })) return []
    return [{ name, value: address, address: formatAddress(address) }]
  })
}

/** Two clouds that share a subnet and its nodes span share the node addresses too: a node has one address there. */
function assignNodes(part: FamilyInput, locked: ReadonlyMap<string, bigint>): FamilyAddresses {
  const { input, subnets } = part
  const { site, request, placement, locate } = input
  const spans = subnets.flatMap((subnet) => subnet.spans.nodes ?? [])
  const pathOf = (name: string): Path => settingPathOrCloud(request, 'nodes', name)
  const pinned = [...request.nodes].map(([name, addresses]) => ({ name, addresses }))
  const pins = checkPins(part, pinned, 'node', pathOf)
  const all = site.cluster.nodes.map(({ name }) => name)
  const names = spans.length > 0 ? all : all.filter((name) => pins.has(name))
  const key = [placement?.segment, ...spans.map(formatRange)].join(' ')
  const shared = spans.length > 0 ? input.sharedNodes.get(key) : undefined
  const result = assignInFamily(part, 'nodes', {
    spans,
    names,
    pins: shared ? new Map([...shared, ...pins]) : pins,
    locked,
  })
  if (!shared) {
    const assigned = names.map((name, index) => [name, result.values[index]] as const)
    input.sharedNodes.set(
      key,
      new Map(assigned.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    )
  }
  reportConflicts(part, 'node', result, pathOf)
  if (result.missing.length > 0) {
    const where = locate(subnets[0]?.path ?? settingPathOrCloud(request, 'subnets'))
    // Pins that fill the span say which nodes are on the network.
    const isChoice = pins.size > 0 && names.length - pins.size === result.missing.length
    const facts = { owner: request.owner, needed: names.length, available: countAddresses(spans, part.excluded) }
    part.findings.push(
      isChoice
        ? finding(nodesNotOnNetwork, { owner: request.owner, nodes: result.missing }, { where })
        : finding(tooFewNodeAddresses, facts, { where }),
    )
  }
  return { names, texts: formatValues(part, result) }
}

function assignHosts(part: FamilyInput): FamilyAddresses {
  const { input, family, subnets } = part
  const { request, cloud, locate } = input
  const network = request.network.name
  const spans = subnets.flatMap((subnet) => subnet.spans.hosts ?? [])
  const pathOf = (name: string): Path | undefined => {
    const host = cloud.hosts.find((candidate) => candidate.name === name)
    return host && [...host.path, 'addresses', network]
  }
  const pins = checkPins(part, cloud.pins.get(network) ?? [], 'host', pathOf)
  const names = listHostNames(cloud, network, spans.length > 0, pins)
  const { hosts: before, left } = input.locked ?? {}
  const consecutive = pins.size === 0 && !left?.hosts ? consecutiveAddresses(part, spans, names.length) : undefined
  const unchanged = consecutive && lockedTexts(before, names, consecutive)
  if (unchanged) return { names, texts: unchanged }
  const locked = parseLockedAddresses(left?.hosts, before)[family]
  const result = assignInFamily(part, 'hosts', { spans, names, pins, locked })
  reportConflicts(part, 'host', result, pathOf)
  if (result.missing.length > 0) {
    const facts = { owner: request.owner, needed: names.length, available: countAddresses(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? [...request.cloud.path, 'hosts'])
    part.findings.push(finding(tooFewHostAddresses, facts, { where }))
  }
  return { names, texts: formatValues(part, result) }
}

/** Usually all hosts are on the network, and then one list serves all networks and families. */
function listHostNames(
  { allHosts, hosts }: CloudRequest,
  network: string,
  hasSpan: boolean,
  pins: ReadonlyMap<string, bigint>,
): readonly string[] {
  if (hasSpan && allHosts) return allHosts
  return hosts
    .filter((host) => (host.networks ? host.networks.has(network) : hasSpan) || pins.has(host.name))
    .map(({ name }) => name)
}

/** The lowest addresses in order, for hosts without pins; undefined when there are too few. */
function consecutiveAddresses(
  { subnets, excluded }: FamilyInput,
  spans: readonly Range[],
  count: number,
): readonly string[] | undefined {
  const [subnet] = subnets
  const [span, ...more] = spans
  if (!subnet || !span || more.length > 0) return undefined
  const texts: string[] = []
  for (const { first, last } of freeRanges(span, rangeSet(excluded))) {
    const free = last - first + 1n
    const missing = count - texts.length
    texts.push(...formatConsecutive(subnet.cidr, first, free < BigInt(missing) ? Number(free) : missing))
  }
  return texts.length === count ? texts : undefined
}

/**
 * The same addresses as the lock has them, if it has these for exactly these hosts, or no hosts. Its texts themselves, because
 * comparing them again is cheap.
 */
function lockedTexts(
  locked: AddressesByHolder | undefined,
  names: readonly string[],
  texts: readonly string[],
): readonly string[] | undefined {
  const held = locked && listHolders(locked)
  if (!held || held.names.length === 0) return texts
  if (held.names.length !== names.length) return undefined
  const same: string[] = []
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string
    // In another order every name is looked up.
    const addresses = held.names[index] === name ? held.addresses[index] : getOwn(locked, name)
    const text = texts[index]
    // One address per family: comparing two is cheaper than a search.
    const found = addresses?.[0] === text ? addresses?.[0] : addresses?.[1]
    if (found === undefined || found !== text) return undefined
    same.push(found)
  }
  return same
}

/** Dual stack: both addresses of a host side by side, under one list of DNS names. */
function listHosts(
  { request, dnsDomain }: HolderInput,
  families: readonly FamilyAddresses[],
): readonly PlannedHostAddress[] {
  const listed: PlannedHostAddress[] = []
  const [first, second] = families
  if (!first) return listed
  const add = (host: string, names: readonly string[], { texts }: FamilyAddresses, index: number): void => {
    const address = texts[index]
    if (address !== undefined) listed.push({ name: host, address, names })
  }
  const aligned = second !== undefined && second.names === first.names
  for (const [index, host] of first.names.entries()) {
    const names = hostNames(host, request.network.name, dnsDomain)
    add(host, names, first, index)
    if (aligned) add(host, names, second, index)
  }
  if (!second || aligned) return listed
  for (const [index, host] of second.names.entries())
    add(host, hostNames(host, request.network.name, dnsDomain), second, index)
  return listed
}

interface FamilyRequest {
  readonly spans: readonly Range[]
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
}

function assignInFamily(part: FamilyInput, kind: 'nodes' | 'hosts', request: FamilyRequest): AddressAssignment {
  const { family, subnets, excluded, outside } = part
  const otherSpans = subnets.flatMap(({ spans }) =>
    Object.entries(spans).flatMap(([role, ranges]) => (role === kind ? [] : ranges)),
  )
  const isIn = (ranges: readonly Range[], value: bigint): boolean =>
    ranges.some(({ first, last }) => first <= value && value <= last)
  const result = assignAddresses({
    family,
    excluded,
    ...request,
    keepOutside: (value) =>
      subnets.some(({ cidr }) => cidrContains(cidr, { family, value })) &&
      !isIn(otherSpans, value) &&
      !isIn(excluded, value),
  })
  // Only a pinned or locked address can be outside the span.
  if (request.pins.size > 0 || request.locked.size > 0) {
    const role = kind === 'nodes' ? 'node' : 'host'
    request.names.forEach((name, index) => {
      const value = result.values[index]
      if (value !== undefined && !isIn(request.spans, value)) outside.push({ role, name, address: { family, value } })
    })
  }
  return result
}

function formatValues({ subnets, family }: FamilyInput, { values }: AddressAssignment): FamilyAddresses['texts'] {
  const [first] = subnets
  const format = first ? createAddressFormatter(first.cidr) : (value: bigint) => formatValue(family, value)
  return values.map((value) => (value === undefined ? undefined : format(value)))
}

interface Pin {
  readonly what: string
  readonly address: Address
  readonly path: Path | undefined
}

/** False, with a finding, for an address that no subnet of the network contains. */
function checkInSubnet({ request, subnets, locate }: HolderInput, findings: Finding[], pin: Pin): boolean {
  const { what, address, path } = pin
  const { owner } = request
  if (subnets.some(({ cidr }) => cidrContains(cidr, address))) return true
  const where = locate(path)
  const { family } = address
  const cidrs = subnets.map(({ cidr }) => formatCidr(cidr)).join(', ')
  findings.push(
    subnets.length > 0 && !subnets.some(({ cidr }) => cidr.family === family)
      ? finding(otherFamily, { owner, what, family, expected: `it has ${cidrs} only` }, { where })
      : finding(spanOutside, { owner, what, cidrs: cidrs || 'any subnet: there is none' }, { where }),
  )
  return false
}

/** The pins of this family that a subnet of the network contains; each of the others is reported once. */
function checkPins(
  { input, family, findings }: FamilyInput,
  pinned: readonly HostPin[],
  kind: string,
  pathOf: (name: string) => Path | undefined,
): ReadonlyMap<string, bigint> {
  const pins = new Map<string, bigint>()
  if (!input.usePins) return pins
  const { subnets } = input
  const firstFamily = subnets[0]?.cidr.family
  for (const { name, addresses } of pinned) {
    for (const address of addresses) {
      const pin = { what: `${kind} ${name} ${formatAddress(address)}`, address, path: pathOf(name) }
      if (address.family !== family) {
        const foreign = !subnets.some(({ cidr }) => cidr.family === address.family)
        if (foreign && family === firstFamily) checkInSubnet(input, findings, pin)
      } else if (checkInSubnet(input, findings, pin)) pins.set(name, address.value)
    }
  }
  return pins
}

function reportConflicts(
  { input, findings }: FamilyInput,
  kind: string,
  result: AddressAssignment,
  pathOf: (name: string) => Path | undefined,
): void {
  const { request, locate } = input
  for (const { name, holder, address } of result.pinConflicts) {
    const [a, b] = [`${request.owner} ${kind} ${holder}`, `${request.owner} ${kind} ${name}`]
    const free = result.nextFree()
    const offer = free === undefined ? undefined : formatValue(address.family, free)
    const owners = [formatOwner(a, pathOf(holder), locate), formatOwner(b, pathOf(name), locate)]
    const facts = { a, b, address: formatAddress(address), offer }
    findings.push(finding(duplicateAddress, facts, { where: locate(pathOf(name)), owners }))
  }
  for (const { name, holder, address } of result.lockConflicts) {
    const [a, b] = [`${request.owner} ${kind} ${holder}`, `${request.owner} ${kind} ${name}`]
    findings.push(finding(lockConflict, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
}
