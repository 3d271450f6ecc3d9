/**
 * Who gets which address: claims and the ledger in, verdicts and changes of the ledger out.
 *
 * Pure. Claims are served oldest first. What an owner holds already stays with it, so that a decision that was written
 * in part is completed by deciding again. Ranges are tried in their order, the lowest free address first.
 */
import type { AddressHolder } from '../../api/address-block.ts'
import { cidrContains } from '../../net/cidr.ts'
import {
  addressKey,
  BLOCK_SIZE,
  blockContaining,
  isSameHolder,
  type LedgerChange,
  type SegmentAddress,
} from './block.ts'
import { type HeldAddress, type Ledger, ownerKey } from './ledger.ts'
import { isNeverAssigned, type Pool, poolUsage } from './pool.ts'

/** One network that an owner wants an address of. */
export interface AddressRequest {
  readonly pool: Pool
  /** Asked for by name. */
  readonly fixed?: bigint
  /** What the owner's Reservation says that it has. */
  readonly reserved?: bigint
}

export interface Claim {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** RFC 3339: the older is served first. */
  readonly created: string
  readonly requests: readonly AddressRequest[]
  /** Those whose addresses this owner takes over: the Reservation that it adopts, and who owned that before. */
  readonly inherits: ReadonlySet<string>
}

export type AllocationResult = { readonly network: string; readonly subnet: string } & (
  | { readonly kind: 'granted'; readonly value: bigint }
  | { readonly kind: 'exhausted'; readonly used: number; readonly most: TopNamespace | undefined }
  | {
      readonly kind: 'taken'
      readonly value: bigint
      readonly by: AddressHolder
      readonly how: 'fixed' | 'reserved'
    }
  | { readonly kind: 'excluded' | 'gateway'; readonly value: bigint }
)

/** Who holds the most addresses of a subnet. */
export interface TopNamespace {
  readonly namespace: string
  readonly count: number
}

export interface Allocation {
  readonly results: ReadonlyMap<string, readonly AllocationResult[]>
  readonly changes: readonly LedgerChange[]
}

export function planAllocation(claims: readonly Claim[], ledger: Ledger): Allocation {
  const draft = createDraft(ledger)
  const verdicts = new Map<string, readonly AllocationResult[]>()
  for (const claim of oldestFirst(claims)) verdicts.set(ownerKey(claim), allocateClaim(claim, draft))
  return { results: verdicts, changes: draft.changes() }
}

function oldestFirst(claims: readonly Claim[]): readonly Claim[] {
  const order = (claim: Claim): string => `${claim.created} ${ownerKey(claim)}`
  return [...claims].sort((a, b) => (order(a) < order(b) ? -1 : 1))
}

function allocateClaim(claim: Claim, draft: Draft): readonly AllocationResult[] {
  const held = draft.heldBy(ownerKey(claim)).filter(({ holder }) => canUse(claim, holder))
  const kept = new Set<string>()
  const verdicts = claim.requests.map((want): AllocationResult => {
    const verdict = allocateAddress(claim, want, held, draft)
    if (verdict.kind === 'granted') kept.add(addressKey(segmentAddress(want.pool, verdict.value)))
    return verdict
  })
  // Two controllers that decided at once may have given one owner two addresses of a network: one stays.
  const served = new Set(verdicts.flatMap((verdict) => (verdict.kind === 'granted' ? [verdict.network] : [])))
  for (const { spot, holder } of held) {
    if (served.has(holder.network) && !kept.has(addressKey(spot))) draft.put(spot, undefined, ownerKey(claim))
  }
  return verdicts
}

function allocateAddress(
  claim: Claim,
  want: AddressRequest,
  held: readonly HeldAddress[],
  draft: Draft,
): AllocationResult {
  const { pool, fixed, reserved } = want
  const names = { network: pool.network, subnet: pool.subnet }
  const grant = (value: bigint): AllocationResult => {
    const { uid, namespace, name } = claim
    draft.put(segmentAddress(pool, value), { uid, namespace, name, network: pool.network }, ownerKey(claim))
    return { kind: 'granted', value, ...names }
  }
  const askFor = (value: bigint, how: 'fixed' | 'reserved'): AllocationResult => {
    const by = draft.holder(segmentAddress(pool, value))
    if (!by || (canUse(claim, by) && by.network === pool.network)) return grant(value)
    return { kind: 'taken', value, by, how, ...names }
  }
  if (reserved !== undefined) return askFor(reserved, 'reserved')
  const own = lowestHeldAddress(pool, held)
  if (own !== undefined && (fixed === undefined || fixed === own)) return grant(own)
  if (fixed !== undefined) {
    if (pool.excluded.has(fixed)) return { kind: 'excluded', value: fixed, ...names }
    if (pool.gateway === fixed) return { kind: 'gateway', value: fixed, ...names }
    return askFor(fixed, 'fixed')
  }
  const free = draft.lowestFree(pool)
  return free === undefined ? { kind: 'exhausted', ...draft.useOf(pool), ...names } : grant(free)
}

/** The lowest address that the owner holds in this network already: what a crash left behind between two writes. */
function lowestHeldAddress(pool: Pool, held: readonly HeldAddress[]): bigint | undefined {
  return held
    .filter(({ spot, holder }) => holder.network === pool.network && poolContains(pool, spot))
    .map(({ spot }) => spot.value)
    .reduce<bigint | undefined>((low, value) => (low === undefined || value < low ? value : low), undefined)
}

function canUse(claim: Claim, holder: AddressHolder): boolean {
  return holder.uid === claim.uid || (claim.inherits.has(holder.uid) && ownerKey(holder) === ownerKey(claim))
}

export function segmentAddress({ segment, cidr }: Pool, value: bigint): SegmentAddress {
  return { segment, family: cidr.family, value }
}

export function poolContains({ segment, cidr }: Pool, spot: SegmentAddress): boolean {
  return spot.segment === segment && cidrContains(cidr, spot)
}

/** The ledger with what this round has decided so far. */
interface Draft {
  readonly holder: (spot: SegmentAddress) => AddressHolder | undefined
  readonly heldBy: (owner: string) => readonly HeldAddress[]
  readonly put: (spot: SegmentAddress, holder: AddressHolder | undefined, owner: string) => void
  readonly lowestFree: (pool: Pool) => bigint | undefined
  readonly useOf: (pool: Pool) => { readonly used: number; readonly most: TopNamespace | undefined }
  readonly changes: () => readonly LedgerChange[]
}

function createDraft(ledger: Ledger): Draft {
  const changed = new Map<string, LedgerChange>()
  const cursors = new Map<string, Cursor>()
  const uses = new Map<string, { readonly used: number; readonly most: TopNamespace | undefined }>()

  const holder = (spot: SegmentAddress): AddressHolder | undefined => {
    const change = changed.get(addressKey(spot))
    return change ? change.holder : ledger.holder(spot)
  }

  const lowestFree = (pool: Pool): bigint | undefined => {
    const id = poolKey(pool)
    const cursor = cursors.get(id) ?? { range: 0, value: undefined }
    const found = findFree(pool, cursor, ledger, (value) => holder(segmentAddress(pool, value)) === undefined)
    cursors.set(id, found)
    return found.value
  }

  const useOfPool = (pool: Pool): { readonly used: number; readonly most: TopNamespace | undefined } => {
    const id = poolKey(pool)
    const known = uses.get(id)
    if (known) return known
    const inside = [...ledger.all()].filter(({ spot }) => poolContains(pool, spot))
    const drafted = [...changed.values()].filter((change) => change.holder && poolContains(pool, change.spot))
    const all = new Map(
      [...inside, ...drafted].map((one) => [addressKey(one.spot), { value: one.spot.value, by: holder(one.spot) }]),
    )
    const living = [...all.values()].filter(({ by }) => by !== undefined)
    const use = {
      used: poolUsage(
        pool,
        living.map(({ value }) => value),
      ).used,
      most: topNamespace(living.map(({ by }) => by?.namespace ?? '')),
    }
    uses.set(id, use)
    return use
  }

  return {
    holder,
    heldBy: ledger.heldBy,
    put: (spot, next, owner) => {
      if (isSameHolder(ledger.holder(spot), next)) changed.delete(addressKey(spot))
      else changed.set(addressKey(spot), { spot, holder: next, owner })
    },
    lowestFree,
    useOf: useOfPool,
    changes: () => [...changed.values()],
  }
}

/** Nothing of the pool below this place is free: within one round addresses are only taken. */
interface Cursor {
  readonly range: number
  readonly value: bigint | undefined
}

function findFree(pool: Pool, from: Cursor, ledger: Ledger, isFree: (value: bigint) => boolean): Cursor {
  for (let index = from.range; index < pool.ranges.length; index += 1) {
    const range = pool.ranges[index]
    if (!range) break
    let value = index === from.range && from.value !== undefined ? from.value : range.first
    while (value <= range.last) {
      const block = blockContaining(segmentAddress(pool, value))
      const end = block.first + BLOCK_SIZE
      // Asked once per block, not once per address.
      if (BigInt(ledger.count(block)) === BLOCK_SIZE) value = end
      for (; value < end && value <= range.last; value += 1n) {
        if (!isNeverAssigned(pool, value) && isFree(value)) return { range: index, value }
      }
    }
  }
  return { range: pool.ranges.length, value: undefined }
}

function poolKey({ segment, network, subnet, cidr, ranges }: Pool): string {
  const places = ranges.map(({ first, last }) => `${first}-${last}`)
  return [segment, network, subnet, cidr.base, cidr.prefix, ...places].join(' ')
}

function topNamespace(namespaces: readonly string[]): TopNamespace | undefined {
  const counts = new Map<string, number>()
  for (const namespace of namespaces) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
  const [top] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return top && { namespace: top[0], count: top[1] }
}
