/**
 * Single addresses out of spans: who gets which.
 *
 * Pure. Pins first, then what the lock says, then the lowest free; what somebody held who left is given to nobody.
 * Hot: two hundred thousand hosts go through here, so nothing is kept that only a mistake would need.
 */
import type { Address, Family } from '../../net/address.ts'
import { createAllocator } from '../../net/allocator.ts'
import type { Range } from '../../net/range.ts'

export interface AddressAsk {
  readonly family: Family
  readonly spans: readonly Range[]
  /** Inside the spans, and nobody's: gateway, reserved addresses, endpoints. */
  readonly excluded: readonly Range[]
  /** Who wants one, in this order. */
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  /** What the lock says; names that nobody asks for left, and still hold what they had. */
  readonly locked: ReadonlyMap<string, bigint>
  /** Whether a locked address that lies outside the spans may be kept. */
  readonly keeps: (value: bigint) => boolean
}

export interface Clash {
  readonly name: string
  readonly holder: string
  readonly address: Address
}

export interface AddressGrants {
  /** In the order of the names; undefined where nothing is left. */
  readonly given: readonly (bigint | undefined)[]
  readonly missing: readonly string[]
  /** Pinned to what another one has. */
  readonly clashes: readonly Clash[]
  /** Nobody pinned it, and the lock has it twice. */
  readonly heldTwice: readonly Clash[]
  /** One that nobody has. */
  readonly free: () => bigint | undefined
}

export function assignAddresses(ask: AddressAsk): AddressGrants {
  const { family, names, pins, locked } = ask
  const room = openRoom(ask.spans, ask.excluded)
  const given = names.map((): bigint | undefined => undefined)
  const clashes: Clash[] = []
  const heldTwice: Clash[] = []
  const holderOf = (value: bigint): string => {
    const at = given.indexOf(value)
    if (at >= 0) return names[at] ?? ''
    const gone = [...locked].find(([, held]) => held === value)
    return `${gone?.[0] ?? 'somebody'} (leaving)`
  }
  const clash = (name: string, value: bigint): Clash => ({
    name,
    holder: holderOf(value),
    address: { family, value },
  })

  if (locked.size > 0) {
    const asking = new Set(names)
    for (const [name, value] of locked) if (!asking.has(name)) room.take(value)
  }
  if (pins.size > 0) {
    names.forEach((name, at) => {
      const value = pins.get(name)
      if (value === undefined) return
      if (!room.take(value)) clashes.push(clash(name, value))
      given[at] = value
    })
  }
  if (locked.size > 0) {
    names.forEach((name, at) => {
      const value = locked.get(name)
      if (value === undefined || given[at] !== undefined) return
      if (!room.holds(value) && !ask.keeps(value)) return
      if (room.take(value)) given[at] = value
      else if (isHeldTwice(value, given, names, pins)) {
        heldTwice.push(clash(name, value))
        given[at] = value
      }
    })
  }
  const missing: string[] = []
  for (let at = 0; at < names.length; at += 1) {
    given[at] ??= room.next()
    if (given[at] === undefined) missing.push(names[at] ?? '')
  }
  return { given, missing, clashes, heldTwice, free: room.next }
}

/** Taken by somebody who has it from the lock too, not by a pin or by nature. */
function isHeldTwice(
  value: bigint,
  given: readonly (bigint | undefined)[],
  names: readonly string[],
  pins: ReadonlyMap<string, bigint>,
): boolean {
  const at = given.indexOf(value)
  return at >= 0 && !pins.has(names[at] ?? '')
}

interface Room {
  /** False when somebody has it, or nobody may have it. */
  readonly take: (value: bigint) => boolean
  readonly next: () => bigint | undefined
  /** Whether a span covers it. */
  readonly holds: (value: bigint) => boolean
}

function openRoom(spans: readonly Range[], excluded: readonly Range[]): Room {
  const allocators = spans.map((span) => createAllocator(span, excluded))
  const [only] = allocators
  const outside = new Set<bigint>()
  const holds = (value: bigint): boolean => spans.some(({ first, last }) => first <= value && value <= last)
  const take = (value: bigint): boolean => {
    if (!holds(value)) {
      if (outside.has(value)) return false
      outside.add(value)
      return true
    }
    // Spans may overlap each other; that is a finding elsewhere, and still nobody gets an address twice.
    const taken = allocators.map((allocator) => allocator.take(value))
    return taken.includes(true)
  }
  const next = (): bigint | undefined => {
    for (const allocator of allocators) {
      const value = allocator.next()
      if (value === undefined) continue
      for (const other of allocators) if (other !== allocator) other.take(value)
      return value
    }
    return undefined
  }
  return { take, holds, next: allocators.length === 1 && only ? only.next : next }
}

/** How many addresses there are to give. */
export function capacity(spans: readonly Range[], excluded: readonly Range[]): number {
  const total = spans.reduce((sum, span) => sum + createAllocator(span, excluded).free(), 0n)
  return total > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(total)
}
