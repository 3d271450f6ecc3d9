/**
 * Plans which claim gets which address: claims and the ledger in, results and ledger changes out.
 *
 * Pure. Claims are served oldest first. A claim gets its reserved address, else what it holds, else its fixedIP, else the
 * lowest free address of the first range that has one; so planning again completes a partly written plan.
 */
import type { AddressHolder } from '../../api/address-block.ts'
import { groupBy } from '../../api/collections.ts'
import { cidrContains, lastAddress } from '../../net/cidr.ts'
import {
  type AddressRequest,
  type Claim,
  isNeverAssigned,
  type Pool,
  poolContains,
  poolUsage,
  segmentAddress,
} from './claim.ts'
import {
  addressKey,
  BLOCK_SIZE,
  blockContaining,
  type HeldAddress,
  isSameHolder,
  type Ledger,
  type LedgerChange,
  ownerKey,
  type SegmentAddress,
} from './ledger.ts'

export type AllocationResult = { readonly network: string; readonly subnet: string } & (
  | { readonly kind: 'granted'; readonly value: bigint }
  | ({ readonly kind: 'exhausted' } & SubnetUse)
  | {
      readonly kind: 'taken'
      readonly value: bigint
      readonly holder: AddressHolder
      readonly source: 'fixed' | 'reserved'
    }
  | { readonly kind: 'excluded' | 'gateway' | 'outside'; readonly value: bigint }
  | ({ readonly kind: 'foreign'; readonly segment: string } & ForeignOwner)
)

/** A namespace to which the subnet belongs, and which does not share it. */
interface ForeignOwner {
  readonly namespace: string
  /** Whether it holds addresses of the subnet, or the administrator listed it. */
  readonly because: 'holds' | 'listed'
}

interface SubnetUse {
  readonly used: number
  /** The namespace that holds the most addresses of the subnet. */
  readonly most: { readonly namespace: string; readonly count: number } | undefined
}

export interface Allocation {
  /** By owner, in the order of the claim's requests. */
  readonly results: ReadonlyMap<string, readonly AllocationResult[]>
  readonly changes: readonly LedgerChange[]
}

export function planAllocation(claims: readonly Claim[], ledger: Ledger): Allocation {
  const draft = createDraft(ledger)
  const results = new Map<string, readonly AllocationResult[]>()
  for (const claim of oldestFirst(claims)) results.set(ownerKey(claim), allocateClaim(claim, draft))
  return { results, changes: draft.changes() }
}

function oldestFirst(claims: readonly Claim[]): readonly Claim[] {
  const order = (claim: Claim): string => `${claim.created} ${ownerKey(claim)}`
  return [...claims].sort((a, b) => (order(a) < order(b) ? -1 : 1))
}

function allocateClaim(claim: Claim, draft: Draft): readonly AllocationResult[] {
  const owner = ownerKey(claim)
  const held = draft.heldBy(owner).filter(({ holder }) => canUse(claim, holder))
  const heldByNetwork = groupBy(held, ({ holder }) => holder.network)
  const kept = new Set<string>()
  const results = claim.requests.map((request): AllocationResult => {
    const result = allocateAddress(claim, request, heldByNetwork.get(request.pool.network) ?? [], draft)
    if (result.kind === 'granted') kept.add(addressKey(segmentAddress(request.pool, result.value)))
    return result
  })
  // Two controllers that planned at the same time may have granted one owner two addresses of a network: one is kept.
  const served = new Set(results.flatMap((result) => (result.kind === 'granted' ? [result.network] : [])))
  for (const { address, holder } of held) {
    if (served.has(holder.network) && !kept.has(addressKey(address))) draft.put(address, undefined, owner)
  }
  return results
}

function allocateAddress(
  claim: Claim,
  { pool, fixed, reserved }: AddressRequest,
  held: readonly HeldAddress[],
  draft: Draft,
): AllocationResult {
  const names = { network: pool.network, subnet: pool.subnet }
  const grant = (value: bigint): AllocationResult => {
    const { uid, namespace, name } = claim
    draft.put(segmentAddress(pool, value), { uid, namespace, name, network: pool.network }, ownerKey(claim))
    return { kind: 'granted', value, ...names }
  }
  /** An address that the claim does not hold yet, unless the subnet belongs to another namespace. */
  const grantNew = (value: bigint): AllocationResult => {
    const foreign = draft.findForeignOwner(claim, pool)
    return foreign ? { kind: 'foreign', segment: pool.segment, ...foreign, ...names } : grant(value)
  }
  const grantUnlessTaken = (value: bigint, source: 'fixed' | 'reserved'): AllocationResult => {
    const holder = draft.holder(segmentAddress(pool, value))
    // Elsewhere on the segment may be the subnet of another namespace. What was assigned before the first start is kept.
    const isOutside = claim.sharing !== undefined && !cidrContains(pool.cidr, { family: pool.cidr.family, value })
    if (!holder) return isOutside ? { kind: 'outside', value, ...names } : grantNew(value)
    if (canUse(claim, holder) && holder.network === pool.network) return grant(value)
    return { kind: 'taken', value, holder, source, ...names }
  }
  if (reserved !== undefined) return grantUnlessTaken(reserved, 'reserved')
  const current = lowestHeldAddress(pool, held)
  if (current !== undefined && (fixed === undefined || fixed === current)) return grant(current)
  if (fixed !== undefined) {
    if (pool.excluded.has(fixed)) return { kind: 'excluded', value: fixed, ...names }
    if (pool.gateway === fixed) return { kind: 'gateway', value: fixed, ...names }
    return grantUnlessTaken(fixed, 'fixed')
  }
  const foreign = draft.findForeignOwner(claim, pool)
  if (foreign) return { kind: 'foreign', segment: pool.segment, ...foreign, ...names }
  const free = draft.lowestFree(pool)
  return free === undefined ? { kind: 'exhausted', ...draft.subnetUse(pool), ...names } : grant(free)
}

/** The lowest address that the owner holds in this network: a crash between two writes can leave a second one. */
function lowestHeldAddress(pool: Pool, held: readonly HeldAddress[]): bigint | undefined {
  return held
    .filter(({ address }) => poolContains(pool, address))
    .map(({ address }) => address.value)
    .reduce<bigint | undefined>((lowest, value) => (lowest === undefined || value < lowest ? value : lowest), undefined)
}

function canUse(claim: Claim, holder: AddressHolder): boolean {
  return holder.uid === claim.uid || (claim.inherits.has(holder.uid) && ownerKey(holder) === ownerKey(claim))
}

/** The ledger with the changes that were planned so far. */
interface Draft {
  readonly holder: (address: SegmentAddress) => AddressHolder | undefined
  readonly heldBy: (owner: string) => readonly HeldAddress[]
  readonly put: (address: SegmentAddress, holder: AddressHolder | undefined, owner: string) => void
  readonly lowestFree: (pool: Pool) => bigint | undefined
  readonly subnetUse: (pool: Pool) => SubnetUse
  /** The first owner, where neither the claim's namespace is one nor any of them shares with it. */
  readonly findForeignOwner: (claim: Claim, pool: Pool) => ForeignOwner | undefined
  readonly changes: () => readonly LedgerChange[]
}

function createDraft(ledger: Ledger): Draft {
  const changes = new Map<string, LedgerChange>()
  /** Of addresses that this plan takes from a claim. */
  let releases = 0
  const cursors = new Map<string, Cursor>()
  const uses = new Map<string, SubnetUse>()
  const owners = new Map<string, ForeignOwner | undefined>()
  /** By segment: the first address that this plan grants to a namespace in a block. */
  const granted = new Map<string, Map<string, HeldAddress>>()

  const holder = (address: SegmentAddress): AddressHolder | undefined => {
    const change = changes.get(addressKey(address))
    return change ? change.holder : ledger.holder(address)
  }

  const lowestFree = (pool: Pool): bigint | undefined => {
    const key = poolKey(pool)
    const cursor = cursors.get(key) ?? { range: 0, value: undefined }
    const isFree = (value: bigint): boolean => holder(segmentAddress(pool, value)) === undefined
    const found = findFree(pool, cursor, { ledger, isFree, isTaken: releases === 0 })
    cursors.set(key, found)
    return found.value
  }

  const computeUse = (pool: Pool): SubnetUse => {
    const held = new Map<bigint, AddressHolder>()
    const first = segmentAddress(pool, pool.cidr.base)
    for (const { address } of [...ledger.heldIn(first, lastAddress(pool.cidr)), ...changes.values()]) {
      const current = poolContains(pool, address) ? holder(address) : undefined
      if (current) held.set(address.value, current)
    }
    const namespaces = [...held.values()].map(({ namespace }) => namespace)
    return { used: poolUsage(pool, held.keys()).used, most: mostFrequent(namespaces) }
  }

  const noteGrant = (address: SegmentAddress, next: AddressHolder): void => {
    const key = `${address.segment}|${address.family}`
    const entries = granted.get(key) ?? new Map<string, HeldAddress>()
    const entryKey = `${blockContaining(address).first} ${next.namespace}`
    granted.set(key, entries)
    if (entries.has(entryKey)) return
    entries.set(entryKey, { address, holder: next })
    owners.clear()
  }

  const computeForeignOwner = ({ namespace, sharing }: Claim, pool: Pool): ForeignOwner | undefined => {
    if (!sharing) return undefined
    const isOpen = (owner: string): boolean => owner === namespace || sharing.mayShare(owner, namespace)
    const listed = sharing.owners(pool.segment)
    const [firstListed] = listed
    if (firstListed !== undefined) {
      return listed.some(isOpen) ? undefined : { namespace: firstListed, because: 'listed' }
    }
    const first = segmentAddress(pool, pool.cidr.base)
    const planned = granted.get(`${pool.segment}|${pool.cidr.family}`)?.values() ?? []
    let foreign: string | undefined
    for (const source of [ledger.heldIn(first, lastAddress(pool.cidr)), planned]) {
      for (const { address, holder: other } of source) {
        if (!poolContains(pool, address)) continue
        if (isOpen(other.namespace)) return undefined
        foreign ??= other.namespace
      }
    }
    return foreign === undefined ? undefined : { namespace: foreign, because: 'holds' }
  }

  return {
    holder,
    findForeignOwner: (claim, pool) => {
      const key = `${claim.namespace} ${pool.segment} ${pool.cidr.base} ${pool.cidr.prefix} ${pool.cidr.family}`
      if (!owners.has(key)) owners.set(key, computeForeignOwner(claim, pool))
      return owners.get(key)
    },
    heldBy: ledger.heldBy,
    put: (address, next, owner) => {
      if (next) noteGrant(address, next)
      else releases += 1
      if (isSameHolder(ledger.holder(address), next)) changes.delete(addressKey(address))
      else changes.set(addressKey(address), { address, holder: next, owner })
    },
    lowestFree,
    subnetUse: (pool) => {
      const key = poolKey(pool)
      const use = uses.get(key) ?? computeUse(pool)
      uses.set(key, use)
      return use
    },
    changes: () => [...changes.values()],
  }
}

/** No address of the pool before this position is free: while a plan is made, addresses are only taken. */
interface Cursor {
  readonly range: number
  readonly value: bigint | undefined
}

interface FreeSearch {
  readonly ledger: Ledger
  readonly isFree: (value: bigint) => boolean
  /** Whether what the ledger holds stays held in this plan: then it need not be asked for each address. */
  readonly isTaken: boolean
}

function findFree(pool: Pool, from: Cursor, { ledger, isFree, isTaken }: FreeSearch): Cursor {
  for (let index = from.range; index < pool.ranges.length; index += 1) {
    const range = pool.ranges[index]
    if (!range) break
    let value = index === from.range && from.value !== undefined ? from.value : range.first
    while (value <= range.last) {
      const block = blockContaining(segmentAddress(pool, value))
      const end = block.first + BLOCK_SIZE
      const limit = Number((range.last < end ? range.last + 1n : end) - block.first)
      // Looked up once per block, not once per address: every plan passes all addresses below the first free one.
      const held = ledger.heldInBlock(block)
      for (let distance = Number(value - block.first); distance < limit; distance += 1) {
        if (isTaken && held.has(distance)) continue
        const candidate = block.first + BigInt(distance)
        if (!isNeverAssigned(pool, candidate) && isFree(candidate)) return { range: index, value: candidate }
      }
      value = end
    }
  }
  return { range: pool.ranges.length, value: undefined }
}

function poolKey({ segment, network, subnet, cidr, ranges }: Pool): string {
  const rangeTexts = ranges.map(({ first, last }) => `${first}-${last}`)
  return [segment, network, subnet, cidr.base, cidr.prefix, ...rangeTexts].join(' ')
}

function mostFrequent(namespaces: readonly string[]): SubnetUse['most'] {
  const counts = new Map<string, number>()
  for (const namespace of namespaces) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
  const [top] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return top && { namespace: top[0], count: top[1] }
}
