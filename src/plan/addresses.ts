/**
 * Single addresses out of spans: who gets which.
 *
 * Pure. Pins first, then what the lock says, then the lowest free; what somebody held who left is given to nobody.
 */
import type { Address, Family } from '../net/address.ts'
import { type Allocator, createAllocator } from '../net/allocator.ts'
import type { Range } from '../net/range.ts'

export interface AddressAsk {
  readonly family: Family
  readonly spans: readonly Range[]
  /** Inside the spans, and nobody's: gateway, reserved addresses, endpoints. */
  readonly excluded: readonly Range[]
  /** Who wants one, in this order. */
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
  /** Held by those who left. */
  readonly held: readonly bigint[]
  /** Whether a locked address that lies outside the spans may be kept. */
  readonly keeps: (value: bigint) => boolean
}

export interface Clash {
  readonly name: string
  readonly holder: string
  readonly address: Address
}

export interface AddressGrants {
  readonly given: ReadonlyMap<string, bigint>
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
  const allocators = ask.spans.map((span) => createAllocator(span, ask.excluded))
  const holders = new Map<bigint, string>()
  const given = new Map<string, bigint>()
  const clashes: Clash[] = []
  const heldTwice: Clash[] = []
  const missing: string[] = []

  const take = (value: bigint, name: string): void => {
    holders.set(value, name)
    for (const one of allocators) if (one.take(value)) return
  }
  for (const value of ask.held) take(value, '')
  for (const name of names) {
    const value = pins.get(name)
    if (value === undefined) continue
    const holder = holders.get(value)
    if (holder) clashes.push({ name, holder, address: { family, value } })
    else take(value, name)
    given.set(name, value)
  }
  for (const name of names) {
    const value = locked.get(name)
    if (value === undefined || given.has(name)) continue
    const holder = holders.get(value)
    if (holder && !pins.has(holder)) {
      heldTwice.push({ name, holder, address: { family, value } })
      given.set(name, value)
    }
    if (holder !== undefined) continue
    if (!allocators.some((one) => one.isFree(value)) && !ask.keeps(value)) continue
    take(value, name)
    given.set(name, value)
  }
  const next = (): bigint | undefined => nextOf(allocators, holders)
  for (const name of names) {
    if (given.has(name)) continue
    const value = next()
    if (value === undefined) missing.push(name)
    else given.set(name, value)
  }
  return { given, missing, clashes, heldTwice, free: next }
}

/** Spans may overlap each other; that is a finding elsewhere, and still nobody gets an address twice. */
function nextOf(allocators: readonly Allocator[], holders: Map<bigint, string>): bigint | undefined {
  for (const one of allocators) {
    for (let value = one.next(); value !== undefined; value = one.next()) {
      if (holders.has(value)) continue
      holders.set(value, '')
      return value
    }
  }
  return undefined
}

/** How many addresses there are to give. */
export function capacity(spans: readonly Range[], excluded: readonly Range[]): number {
  const total = spans.reduce((sum, span) => sum + createAllocator(span, excluded).free(), 0n)
  return total > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(total)
}
