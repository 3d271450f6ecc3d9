/**
 * Decides the subnets of every network: pinned ones, locked ones, and new ones from the supernets; with their spans.
 *
 * Pure. Checks the lock only; what is wrong with pins is found by the ledger and the lints.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, addressBits, compareAddresses, type Family, parseAddress } from '../../net/address.ts'
import { type Cidr, cidrRange, formatCidr, parseCidr, sameCidr, usableRange } from '../../net/cidr.ts'
import { findOverlaps } from '../../net/overlaps.ts'
import { formatRange, parseRange, type Range } from '../../net/range.ts'
import { overlappingRanges, rangeSet } from '../../net/range-set.ts'
import type { AllocatorRole, Site } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import { subnetsExhausted } from '../findings/capacity.ts'
import { lockConflict } from '../findings/lock.ts'
import { type Lock, type LockedSubnet, lockEntries } from '../lock.ts'
import { type NetworkRequest, roles, type SubnetRequest, settingPathOrCloud } from '../requests.ts'
import type { DraftSubnet } from './draft.ts'
import { type Layout, layoutSpans } from './layout.ts'

export interface SubnetInput {
  readonly site: Site
  readonly requests: readonly NetworkRequest[]
  readonly lock: Lock
  readonly layout: Layout
  /** What the cluster itself uses. */
  readonly reserved: readonly Range[]
  readonly locate: Locate
}

/** A free subnet of this family from the supernets. */
export type FindSubnet = (supernets: readonly Range[], family: Family) => Cidr | undefined

export interface DraftSubnets {
  readonly subnets: ReadonlyMap<string, readonly DraftSubnet[]>
  /** Another free subnet, to suggest in a remedy. */
  readonly suggest: FindSubnet
  readonly findings: readonly Finding[]
}

export function draftSubnets(input: SubnetInput): DraftSubnets {
  const { site, requests, lock, locate } = input
  const { families, prefixLength } = site.addressing
  const locked = readLockedSubnets(lock)
  const pins = requests.flatMap(({ subnets }) => subnets ?? []).map(({ cidr }) => cidrRange(cidr))
  const lockedRanges = [...locked.values()].flat().map(({ cidr }) => cidrRange(cidr))
  const search = createSearch(prefixLength, [...input.reserved, ...pins, ...lockedRanges])
  const findings: Finding[] = [...lockConflicts(lock, locked, requests)]
  const inFamilyOrder = (subnets: readonly SubnetRequest[]): readonly SubnetRequest[] =>
    [...subnets].sort((a, b) => families.indexOf(a.cidr.family) - families.indexOf(b.cidr.family))

  const added = new Map(
    requests.map((request) => {
      const taken = missingFamilies(request, locked.get(request.owner) ?? [], site).flatMap((family) => {
        const cidr = search.take(request.supernets, family)
        if (cidr) return [newSubnet(cidr, request)]
        // The site file has no source of addresses for it, which is reported where the file is read (SL2006).
        if (request.supernets.length === 0 && (request.subnets ?? []).length === 0) return []
        const supernets = request.supernets.filter((supernet) => supernet.family === family).map(formatRange)
        const facts = { owner: request.owner, family, supernets: supernets.join(', ') }
        const where = locate(settingPathOrCloud(request, 'supernets'))
        findings.push(finding(subnetsExhausted, facts, { where }))
        return []
      })
      return [request.owner, taken]
    }),
  )
  const subnets = new Map(
    requests.map((request) => {
      const before = locked.get(request.owner) ?? []
      const kept = before.filter(({ cidr }) => families.includes(cidr.family))
      const chosen = request.subnets ?? inFamilyOrder([...kept, ...(added.get(request.owner) ?? [])])
      const named = chosen.map((subnet, index) =>
        subnet.name === '' ? { ...subnet, name: `subnet${index + 1}` } : subnet,
      )
      return [request.owner, named.map((subnet) => withSpans(subnet, before, request, input.layout))]
    }),
  )
  return { subnets, suggest: search.find, findings }
}

/** The families of which the network has no subnet; none for a network that gives out no addresses. */
function missingFamilies(request: NetworkRequest, locked: readonly SubnetRequest[], site: Site): readonly Family[] {
  if (request.subnets || request.roles.size === 0) return []
  return site.addressing.families.filter((family) => !locked.some(({ cidr }) => cidr.family === family))
}

interface SubnetSearch {
  readonly find: FindSubnet
  /** As `find`; the subnet is no longer free afterwards. */
  readonly take: FindSubnet
}

/** Searches the supernets from below, around every range that is pinned, locked or used by the cluster. */
function createSearch(prefixLength: Readonly<Record<Family, number>>, used: readonly Range[]): SubnetSearch {
  const blocked = rangeSet(used)
  // All subnets taken here have one size per family, so the first address identifies them.
  const taken: Readonly<Record<Family, Set<bigint>>> = { 4: new Set(), 6: new Set() }
  const cursors = new Map<string, bigint>()

  const findBase = (supernet: Range, size: bigint, from: bigint): bigint | undefined => {
    for (let base = from; base + size - 1n <= supernet.last; ) {
      const candidate: Range = { family: supernet.family, first: base, last: base + size - 1n }
      const [obstacle] = overlappingRanges(blocked, candidate)
      if (obstacle) base = alignUp(obstacle.last + 1n, size)
      else if (taken[supernet.family].has(base)) base += size
      else return base
    }
    return undefined
  }

  const find: FindSubnet = (supernets, family) => {
    const prefix = prefixLength[family]
    const size = 1n << BigInt(addressBits(family) - prefix)
    for (const supernet of supernets) {
      if (supernet.family !== family) continue
      // Nothing below the last result is free any more, so the cost stays linear in the number of clouds.
      const key = `${supernet.first}-${supernet.last}`
      const base = findBase(supernet, size, cursors.get(key) ?? alignUp(supernet.first, size))
      cursors.set(key, base ?? supernet.last + 1n)
      if (base !== undefined) return { family, base, prefix }
    }
    return undefined
  }
  const take: FindSubnet = (supernets, family) => {
    const cidr = find(supernets, family)
    if (cidr) taken[family].add(cidr.base)
    return cidr
  }
  return { find, take }
}

function alignUp(value: bigint, size: bigint): bigint {
  return ((value + size - 1n) / size) * size
}

/** The locked subnets of every owner, including owners that left the site file. */
function readLockedSubnets(lock: Lock): ReadonlyMap<string, readonly SubnetRequest[]> {
  return new Map(
    lockEntries(lock).map(({ owner, locked }) => [owner, (locked.subnets ?? []).flatMap(readLockedSubnet)]),
  )
}

/** A locked subnet in the form of a pinned one. */
export function readLockedSubnet(locked: LockedSubnet): readonly SubnetRequest[] {
  const cidr = parseCidr(locked.cidr)
  if (!cidr) return []
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    const texts = locked.spans?.[role]
    if (texts) spans[role] = texts.flatMap((text) => parseRange(text) ?? [])
  }
  const gateway = locked.gateway === undefined ? undefined : parseAddress(locked.gateway)
  return [{ ...bareSubnet(cidr), name: locked.name, gateway, spans }]
}

function bareSubnet(cidr: Cidr): SubnetRequest {
  return {
    name: '',
    cidr,
    gateway: undefined,
    vlan: undefined,
    dnsDomain: undefined,
    spans: undefined,
    reserved: [],
    routes: [],
    path: undefined,
  }
}

/** Networks that lead out of the site get a gateway at the usual address, the first one. */
const ROUTED_NETWORKS = new Set(['ctlplane', 'external'])

function newSubnet(cidr: Cidr, request: NetworkRequest): SubnetRequest {
  return { ...bareSubnet(cidr), gateway: usualGateway(cidr, request) }
}

function usualGateway(cidr: Cidr, { network }: NetworkRequest): Address | undefined {
  return ROUTED_NETWORKS.has(network.name) ? { family: cidr.family, value: usableRange(cidr).first } : undefined
}

/** A pin of a planned subnet is no decision against the gateway that the planner gave it. */
function keptGateway(
  { cidr }: SubnetRequest,
  before: SubnetRequest | undefined,
  request: NetworkRequest,
): Address | undefined {
  const usual = usualGateway(cidr, request)
  return before?.gateway && usual && compareAddresses(before.gateway, usual) === 0 ? usual : undefined
}

/** Pinned spans stay; then the spans that the lock has for the same subnet; then the layout. */
function withSpans(
  subnet: SubnetRequest,
  locked: readonly SubnetRequest[],
  request: NetworkRequest,
  layout: Layout,
): DraftSubnet {
  const pinned = request.subnets?.includes(subnet) ?? false
  const same = locked.find(({ cidr }) => sameCidr(cidr, subnet.cidr))
  const gateway = subnet.gateway ?? (pinned ? keptGateway(subnet, same, request) : undefined)
  if (pinned && subnet.spans) return { ...subnet, gateway, spans: subnet.spans, pinned }
  const before = same?.spans ?? {}
  const standard = layoutSpans(subnet.cidr, layout, request.roles)
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    const ranges = request.roles.has(role) ? (before[role] ?? standard[role]) : undefined
    if (ranges) spans[role] = ranges
  }
  return { ...subnet, gateway, spans, pinned }
}

/**
 * Two owners of one subnet in the lock, unless the file itself pins both. An owner that left the file cannot pin any
 * more: it shared what the other one still pins.
 */
function lockConflicts(
  lock: Lock,
  locked: ReadonlyMap<string, readonly SubnetRequest[]>,
  requests: readonly NetworkRequest[],
): readonly Finding[] {
  const unpinned = new Set(requests.filter(({ subnets }) => !subnets).map(({ owner }) => owner))
  const ranges = lockEntries(lock).flatMap(({ owner }) =>
    (locked.get(owner) ?? []).map(({ cidr }) => ({ ...cidrRange(cidr), owner, cidr })),
  )
  const { pairs } = findOverlaps(ranges, {
    limit: 50,
    allowed: (a, b) => a.owner === b.owner || !(unpinned.has(a.owner) || unpinned.has(b.owner)),
  })
  return pairs.map(([a, b]) => {
    const facts = { a: a.owner, b: b.owner, what: `the subnet ${formatCidr(b.cidr)}` }
    return finding(lockConflict, facts, { owners: [a.owner, b.owner] })
  })
}
