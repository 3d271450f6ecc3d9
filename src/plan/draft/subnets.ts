/**
 * Subnets: who gets which, from the network's supernets, lowest first.
 *
 * Pure. What is pinned, locked or used by the cluster itself is given to nobody else; spans come later.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, addressBits, type Family, parseAddress } from '../../net/address.ts'
import { type Cidr, cidrRange, formatCidr, parseCidr, usableRange } from '../../net/cidr.ts'
import { findOverlaps } from '../../net/overlaps.ts'
import { formatRange, parseRange, type Range } from '../../net/range.ts'
import { overlappingRanges, rangeSet } from '../../net/range-set.ts'
import { type AllocatorRole, type Site } from '../../site/site.ts'
import { type Locate } from '../address-reader.ts'
import { subnetsExhausted } from '../findings/capacity.ts'
import { lockConflict } from '../findings/lock.ts'
import { type Lock, type LockedSubnet, lockEntries } from '../lock.ts'
import { type NetworkRequest, roles, type Spans, type SubnetRequest, settingPathOrCloud } from '../requests.ts'
import { type DraftSubnet } from './draft.ts'
import { type Layout, layoutSpans } from './layout.ts'

/** One owner asks for one subnet of one family. */
export interface SubnetAsk {
  readonly owner: string
  readonly family: Family
  /** Where it may lie, in this order. */
  readonly supernets: readonly Range[]
}

export interface SubnetGrants {
  /** In the order of the asks; undefined where nothing is left. */
  readonly grants: readonly (Cidr | undefined)[]
  /** Another free one from the same supernets, for those whose own choice cannot be. */
  readonly offer: (supernets: readonly Range[], family: Family) => Cidr | undefined
}

/** `held`: every range that is somebody's already, pinned, locked or the cluster's. */
export function assignSubnets(
  prefixLength: Readonly<Record<Family, number>>,
  asks: readonly SubnetAsk[],
  held: readonly Range[],
): SubnetGrants {
  const blocked = rangeSet(held)
  // All that is given here has one size per family, so its first address says it all.
  const given: Readonly<Record<Family, Set<bigint>>> = { 4: new Set(), 6: new Set() }
  const cursors = new Map<string, bigint>()

  const search = (supernet: Range, size: bigint, from: bigint): bigint | undefined => {
    const taken = given[supernet.family]
    for (let base = from; base + size - 1n <= supernet.last; ) {
      const wanted: Range = { family: supernet.family, first: base, last: base + size - 1n }
      const [obstacle] = overlappingRanges(blocked, wanted)
      if (obstacle) base = aligned(obstacle.last + 1n, size)
      else if (taken.has(base)) base += size
      else return base
    }
    return undefined
  }

  const find = (supernets: readonly Range[], family: Family): Cidr | undefined => {
    const prefix = prefixLength[family]
    const size = 1n << BigInt(addressBits(family) - prefix)
    for (const supernet of supernets) {
      if (supernet.family !== family) continue
      // Nothing below the last find is free any more: twice the clouds, twice the work.
      const key = `${supernet.first}-${supernet.last}`
      const base = search(supernet, size, cursors.get(key) ?? aligned(supernet.first, size))
      cursors.set(key, base ?? supernet.last + 1n)
      if (base !== undefined) return { family, base, prefix }
    }
    return undefined
  }

  const grants = asks.map(({ supernets, family }) => {
    const found = find(supernets, family)
    if (found) given[family].add(found.base)
    return found
  })
  return { grants, offer: find }
}

function aligned(value: bigint, size: bigint): bigint {
  return ((value + size - 1n) / size) * size
}

// FOLDED src/plan/draft/draft-subnets.ts
/**
 * The subnets of every network: what is pinned, what the lock says, and new ones for the rest; with their spans.
 *
 * Pure. Judges nothing but the lock itself; what is wrong with pins is the ledger's to say.
 */
export interface DraftSubnets {
  readonly subnets: ReadonlyMap<string, readonly DraftSubnet[]>
  readonly offer: SubnetGrants['offer']
  readonly findings: readonly Finding[]
}

export interface SubnetInput {
  readonly site: Site
  readonly wishes: readonly NetworkRequest[]
  readonly lock: Lock
  readonly layout: Layout
  /** What the cluster itself uses. */
  readonly reserved: readonly Range[]
  readonly locate: Locate
}

export function draftSubnets(input: SubnetInput): DraftSubnets {
  const { site, wishes, lock, locate } = input
  const locked = readLocked(lock)
  const pins = wishes.flatMap(({ subnets }) => subnets ?? []).map(({ cidr }) => cidrRange(cidr))
  const lockedRanges = [...locked.values()].flat().map(({ cidr }) => cidrRange(cidr))
  const asks = wishes.flatMap((wish) => asksOf(wish, locked.get(wish.owner) ?? [], site))
  const result = assignSubnets(site.addressing.prefixLength, asks, [...input.reserved, ...pins, ...lockedRanges])

  const chosen = new Map<string, SubnetRequest[]>()
  const findings: Finding[] = [...heldTwice(lock, locked, wishes)]
  asks.forEach(({ wish, family }, index) => {
    const cidr = result.grants[index]
    if (cidr) chosen.set(wish.owner, [...(chosen.get(wish.owner) ?? []), freshSubnet(cidr, wish)])
    else {
      const supernets = wish.supernets.filter((supernet) => supernet.family === family).map(formatRange)
      const facts = { owner: wish.owner, family, supernets: supernets.join(', ') }
      findings.push(finding(subnetsExhausted, facts, { where: locate(settingPathOrCloud(wish, 'supernets')) }))
    }
  })
  const subnets = new Map<string, readonly DraftSubnet[]>()
  for (const wish of wishes) {
    const before = locked.get(wish.owner) ?? []
    const own = wish.subnets ?? inFamilyOrder([...kept(before, site), ...(chosen.get(wish.owner) ?? [])], site)
    subnets.set(
      wish.owner,
      own.map((subnetWish, index) => withSpans(named(subnetWish, index), before, wish, input.layout)),
    )
  }
  return { subnets, offer: result.offer, findings }
}

/** The locked subnets of every owner, those who are leaving included. */
function readLocked(lock: Lock): ReadonlyMap<string, readonly SubnetRequest[]> {
  return new Map(
    lockEntries(lock).map(({ owner, locked }) => [owner, (locked.subnets ?? []).flatMap(readLockedSubnet)]),
  )
}

/** A locked subnet as if somebody had pinned it. */
export function readLockedSubnet(locked: LockedSubnet): readonly SubnetRequest[] {
  const cidr = parseCidr(locked.cidr)
  if (!cidr) return []
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    const texts = locked.spans?.[role]
    if (texts) spans[role] = texts.flatMap((text) => parseRange(text) ?? [])
  }
  const gateway: Address | undefined = locked.gateway === undefined ? undefined : parseAddress(locked.gateway)
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

interface Ask extends SubnetAsk {
  readonly wish: NetworkRequest
}

/** One of each family that the network has none of; none for a network that nobody takes addresses from. */
function asksOf(wish: NetworkRequest, locked: readonly SubnetRequest[], site: Site): readonly Ask[] {
  if (wish.subnets || wish.roles.size === 0) return []
  const missing = site.addressing.families.filter((family) => !locked.some(({ cidr }) => cidr.family === family))
  return missing.map((family) => ({ wish, owner: wish.owner, family, supernets: wish.supernets }))
}

function kept(locked: readonly SubnetRequest[], site: Site): readonly SubnetRequest[] {
  return locked.filter(({ cidr }) => site.addressing.families.includes(cidr.family))
}

/** Networks with a way out get a gateway where everybody looks for it. */
const WAY_OUT = new Set(['ctlplane', 'external'])

function freshSubnet(cidr: Cidr, { network }: NetworkRequest): SubnetRequest {
  const bare = bareSubnet(cidr)
  if (!WAY_OUT.has(network.name)) return bare
  return { ...bare, gateway: { family: cidr.family, value: usableRange(cidr).first } }
}

function inFamilyOrder(subnets: readonly SubnetRequest[], site: Site): readonly SubnetRequest[] {
  const rank = (family: Family): number => site.addressing.families.indexOf(family)
  return [...subnets].sort((a, b) => rank(a.cidr.family) - rank(b.cidr.family))
}

function named(subnet: SubnetRequest, index: number): SubnetRequest {
  return subnet.name === '' ? { ...subnet, name: `subnet${index + 1}` } : subnet
}

/** Spans that are written stay; then what the lock says of the same subnet; then the layout. */
function withSpans(
  subnet: SubnetRequest,
  locked: readonly SubnetRequest[],
  wish: NetworkRequest,
  layout: Layout,
): DraftSubnet {
  const pinned = wish.subnets?.includes(subnet) ?? false
  if (pinned && subnet.spans) return { ...subnet, spans: subnet.spans, pinned }
  const text = formatCidr(subnet.cidr)
  const before = locked.find(({ cidr }) => formatCidr(cidr) === text)?.spans ?? {}
  const standard = layoutSpans(subnet.cidr, layout, wish.roles)
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    const ranges: Spans[AllocatorRole] = wish.roles.has(role) ? (before[role] ?? standard[role]) : undefined
    if (ranges) spans[role] = ranges
  }
  return { ...subnet, spans, pinned }
}

/**
 * Two owners of one subnet in the lock, unless the file itself pins both. One who has left the file cannot say so any
 * more: he shared what the other one still pins.
 */
function heldTwice(
  lock: Lock,
  locked: ReadonlyMap<string, readonly SubnetRequest[]>,
  wishes: readonly NetworkRequest[],
): readonly Finding[] {
  const open = new Set(wishes.filter(({ subnets }) => !subnets).map(({ owner }) => owner))
  const held = lockEntries(lock).flatMap(({ owner }) =>
    (locked.get(owner) ?? []).map(({ cidr }) => ({ ...cidrRange(cidr), owner, cidr })),
  )
  const { pairs } = findOverlaps(held, {
    limit: 50,
    allowed: (a, b) => a.owner === b.owner || !(open.has(a.owner) || open.has(b.owner)),
  })
  return pairs.map(([a, b]) => {
    const facts = { a: a.owner, b: b.owner, what: `the subnet ${formatCidr(b.cidr)}` }
    return finding(lockConflict, facts, { owners: [a.owner, b.owner] })
  })
}
