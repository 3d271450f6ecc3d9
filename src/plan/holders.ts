/**
 * The address of each node, host and endpoint on one network.
 *
 * Pure. Two clouds that share a subnet and its nodes span share the nodes' addresses too: a node has one there.
 */
import { tooFewHostAddresses, tooFewNodeAddresses } from '../errors/capacity.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { addressTwice, otherFamily, spanOutside } from '../errors/ledger.ts'
import { lockTwoOwners } from '../errors/lock.ts'
import { type Address, type Family, formatAddress, formatValue } from '../net/address.ts'
import { cidrContains, formatCidr, lastOf } from '../net/cidr.ts'
import { formatRange, type Range, single } from '../net/range.ts'
import { type Path, pathOf, type Site } from '../site/site.ts'
import { type AddressGrants, assignAddresses, capacity } from './addresses.ts'
import type { CloudWish } from './cloud-wishes.ts'
import type { DraftSubnet, Holding } from './draft.ts'
import type { LockedNetwork } from './lock.ts'
import { readHeld } from './locked-addresses.ts'
import type { Placement } from './placement.ts'
import { type Locate, ownerAt } from './reader.ts'
import type { NetworkWish } from './wishes.ts'

export interface HolderInput {
  readonly site: Site
  readonly wish: NetworkWish
  readonly cloud: CloudWish
  readonly placement: Placement | undefined
  readonly subnets: readonly DraftSubnet[]
  readonly locked: LockedNetwork | undefined
  /** The file's pins count; false for a network that stays as the lock has it. */
  readonly pins: boolean
  /** Addresses that the nodes have on shared subnets, from network to network. */
  readonly sharedNodes: Map<string, ReadonlyMap<string, bigint>>
  readonly locate: Locate
}

export interface Holders {
  readonly nodes: readonly Holding[]
  readonly hosts: readonly Holding[]
  readonly endpoints: readonly Holding[]
  readonly findings: readonly Finding[]
}

export function assignHolders(input: HolderInput): Holders {
  const { subnets, locked } = input
  const findings: Finding[] = []
  const endpoints = endpointsOf(input, findings)
  const nodes: Holding[] = []
  const hosts: Holding[] = []
  const lockedNodes = readHeld(locked?.nodes)
  const lockedHosts = readHeld(locked?.hosts)
  for (const family of [4, 6] as const) {
    const own = subnets.filter(({ cidr }) => cidr.family === family)
    if (own.length === 0) continue
    const excluded = excludedFrom(own, endpoints)
    const shared = { input, family, subnets: own, excluded, findings }
    nodes.push(...nodesOf(shared, lockedNodes[family]))
    hosts.push(...hostsOf(shared, lockedHosts[family]))
  }
  return { nodes, hosts: byName(hosts, subnets), endpoints, findings }
}

interface FamilyInput {
  readonly input: HolderInput
  readonly family: Family
  readonly subnets: readonly DraftSubnet[]
  readonly excluded: readonly Range[]
  readonly findings: Finding[]
}

/** Dual stack: both addresses of a host side by side. */
function byName(hosts: readonly Holding[], subnets: readonly DraftSubnet[]): readonly Holding[] {
  const half = hosts.length / 2
  const dual = new Set(subnets.map(({ cidr }) => cidr.family)).size === 2
  if (!dual || hosts.length === 0 || hosts[half]?.name !== hosts[0]?.name) return hosts
  const merged: Holding[] = []
  for (let at = 0; at < half; at += 1) merged.push(hosts[at] as Holding, hosts[at + half] as Holding)
  return merged
}

/** What no allocator of the network may give out: gateways, reserved addresses, endpoints, the subnets' own ends. */
export function excludedFrom(
  subnets: readonly DraftSubnet[],
  endpoints: readonly Holding[],
): readonly Range[] {
  return [
    ...subnets.flatMap(({ cidr, gateway, reserved }) => [
      { family: cidr.family, first: cidr.base, last: cidr.base },
      ...(cidr.family === 4 ? [{ family: cidr.family, first: lastOf(cidr), last: lastOf(cidr) }] : []),
      ...(gateway ? [single(gateway)] : []),
      ...reserved,
    ]),
    ...endpoints.map(({ address }) => single(address)),
  ]
}

function endpointsOf(input: HolderInput, findings: Finding[]): readonly Holding[] {
  return input.wish.endpoints.flatMap(({ name, address, path }) => {
    const what = `endpoint ${name} ${formatAddress(address)}`
    if (!insideSome(input, findings, { what, address, path })) return []
    return [{ name, address, text: formatAddress(address) }]
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

function nodesOf(part: FamilyInput, locked: ReadonlyMap<string, bigint>): readonly Holding[] {
  const { input, family, subnets } = part
  const { site, wish, placement, locate } = input
  const spans = subnets.flatMap((subnet) => subnet.spans.nodes ?? [])
  const pins = pinsOf(part, [...wish.nodes], 'node', (name) => pathOf(wish.network, 'nodes', name))
  const names = site.cluster.nodes
    .map(({ name }) => name)
    .filter((name) => spans.length > 0 || pins.has(name))
  // On one segment and one span a node has one address, whichever cloud asks.
  const key = [placement?.segment, ...spans.map(formatRange)].join(' ')
  const together = spans.length > 0 ? input.sharedNodes.get(key) : undefined
  const result = assign(part, 'nodes', {
    spans,
    names,
    pins: together ? new Map([...together, ...pins]) : pins,
    locked,
  })
  if (!together) input.sharedNodes.set(key, result.given)
  const at = (name: string): Path | undefined => pathOf(wish.network, 'nodes', name)
  reportTroubles(part, 'node', result, at)
  if (result.missing.length > 0) {
    const available = capacity(spans, part.excluded)
    const facts = { owner: wish.owner, needed: names.length, available }
    const where = locate(subnets[0]?.path ?? pathOf(wish.network, 'subnets'))
    part.findings.push(finding(tooFewNodeAddresses, facts, { where }))
  }
  return listed(names, result, family)
}

function hostsOf(part: FamilyInput, locked: ReadonlyMap<string, bigint>): readonly Holding[] {
  const { input, family, subnets } = part
  const { wish, cloud, locate } = input
  const network = wish.network.name
  const spans = subnets.flatMap((subnet) => subnet.spans.hosts ?? [])
  const pathOfHost = new Map(cloud.hosts.map((host) => [host.name, [...host.path, 'addresses', network]]))
  const pinned = cloud.hosts.flatMap(({ name, pins }) => {
    const addresses = pins.get(network)
    return addresses ? [[name, addresses] as const] : []
  })
  const pins = pinsOf(part, pinned, 'host', (name) => pathOfHost.get(name))
  const names = cloud.hosts
    .filter((host) => (host.networks ? host.networks.has(network) : spans.length > 0) || pins.has(host.name))
    .map(({ name }) => name)
  const result = assign(part, 'hosts', { spans, names, pins, locked })
  reportTroubles(part, 'host', result, (name) => pathOfHost.get(name))
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? [...wish.cloud.path, 'hosts'])
    part.findings.push(finding(tooFewHostAddresses, facts, { where }))
  }
  return listed(names, result, family)
}

interface Asked {
  readonly spans: readonly Range[]
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
}

function assign(part: FamilyInput, kind: 'nodes' | 'hosts', asked: Asked): AddressGrants {
  const { family, subnets, excluded, input } = part
  const others = subnets.flatMap(({ spans }) =>
    Object.entries(spans).flatMap(([role, ranges]) => (role === kind ? [] : ranges)),
  )
  const inside = (ranges: readonly Range[], value: bigint): boolean =>
    ranges.some(({ first, last }) => first <= value && value <= last)
  return assignAddresses({
    family,
    excluded,
    ...asked,
    held: [...readHeld(input.locked?.left?.[kind])[family].values()],
    keeps: (value) =>
      subnets.some(({ cidr }) => cidrContains(cidr, { family, value })) &&
      !inside(others, value) &&
      !inside(excluded, value),
  })
}

/** The pins of this family that lie in a subnet of the network; others are findings, told once. */
function pinsOf(
  { input, family, findings }: FamilyInput,
  pinned: readonly (readonly [string, readonly Address[]])[],
  kind: string,
  pathFor: (name: string) => Path | undefined,
): ReadonlyMap<string, bigint> {
  const pins = new Map<string, bigint>()
  if (!input.pins) return pins
  const { subnets } = input
  const first = subnets[0]?.cidr.family
  for (const [name, addresses] of pinned) {
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

function listed(names: readonly string[], { given }: AddressGrants, family: Family): readonly Holding[] {
  const found: Holding[] = []
  for (const name of names) {
    const value = given.get(name)
    if (value !== undefined)
      found.push({ name, address: { family, value }, text: formatValue(family, value) })
  }
  return found
}
