/**
 * Assigns single addresses out of spans: pins first, then what the lock says, then the lowest free one.
 *
 * Pure. Runs for two hundred thousand hosts, so it keeps nothing that only a problem report would need.
 */
import type { Address, Family } from '../../net/address.ts'
import { createAllocator } from '../../net/allocator.ts'
import type { Range } from '../../net/range.ts'

export interface AddressRequest {
  readonly family: Family
  readonly spans: readonly Range[]
  /** Addresses of the spans that may not be assigned: gateway, reserved addresses, endpoints. */
  readonly excluded: readonly Range[]
  /** The holders that need an address, in order. */
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  /** What the lock says. A holder that is not in `names` left the site file; its address stays reserved. */
  readonly locked: ReadonlyMap<string, bigint>
  /** Whether a locked address outside the spans may be kept. */
  readonly keepOutside: (value: bigint) => boolean
}

export interface AddressConflict {
  readonly name: string
  readonly holder: string
  readonly address: Address
}

export interface AddressAssignment {
  /** In the order of the names; undefined where no address is left. */
  readonly values: readonly (bigint | undefined)[]
  readonly missing: readonly string[]
  /** Pinned to an address that another holder has. */
  readonly pinConflicts: readonly AddressConflict[]
  /** Held twice by the lock, without a pin. */
  readonly lockConflicts: readonly AddressConflict[]
  /** The next address that no holder has. */
  readonly nextFree: () => bigint | undefined
}

export function assignAddresses(request: AddressRequest): AddressAssignment {
  const { family, names, pins, locked } = request
  const pool = createPool(request.spans, request.excluded)
  const values = names.map((): bigint | undefined => undefined)
  const pinConflicts: AddressConflict[] = []
  const lockConflicts: AddressConflict[] = []
  const findHolder = (value: bigint): string => {
    const index = values.indexOf(value)
    if (index >= 0) return names[index] ?? ''
    const [name = 'an unknown holder'] = [...locked].find(([, held]) => held === value) ?? []
    return `${name} (leaving)`
  }
  const conflict = (name: string, value: bigint): AddressConflict => ({
    name,
    holder: findHolder(value),
    address: { family, value },
  })

  if (locked.size > 0) {
    const requested = new Set(names)
    for (const [name, value] of locked) if (!requested.has(name)) pool.take(value)
  }
  if (pins.size > 0) {
    names.forEach((name, index) => {
      const value = pins.get(name)
      if (value === undefined) return
      if (!pool.take(value)) pinConflicts.push(conflict(name, value))
      values[index] = value
    })
  }
  if (locked.size > 0) {
    names.forEach((name, index) => {
      const value = locked.get(name)
      if (value === undefined || values[index] !== undefined) return
      if (!pool.covers(value) && !request.keepOutside(value)) return
      if (pool.take(value)) values[index] = value
      else {
        // Taken by a holder that has it from the lock too; an address taken by a pin or excluded is replaced.
        const taken = values.indexOf(value)
        if (taken < 0 || pins.has(names[taken] ?? '')) return
        lockConflicts.push(conflict(name, value))
        values[index] = value
      }
    })
  }
  const missing: string[] = []
  for (let index = 0; index < names.length; index += 1) {
    values[index] ??= pool.next()
    if (values[index] === undefined) missing.push(names[index] ?? '')
  }
  return { values, missing, pinConflicts, lockConflicts, nextFree: pool.next }
}

interface AddressPool {
  /** False when the address is taken or excluded. */
  readonly take: (value: bigint) => boolean
  readonly next: () => bigint | undefined
  /** Whether a span covers it. */
  readonly covers: (value: bigint) => boolean
}

function createPool(spans: readonly Range[], excluded: readonly Range[]): AddressPool {
  const allocators = spans.map((span) => createAllocator(span, excluded))
  const [only] = allocators
  const outside = new Set<bigint>()
  const covers = (value: bigint): boolean => spans.some(({ first, last }) => first <= value && value <= last)
  const take = (value: bigint): boolean => {
    if (!covers(value)) {
      if (outside.has(value)) return false
      outside.add(value)
      return true
    }
    // Spans may overlap. That is reported elsewhere; here an address is still given out once only.
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
  return { take, covers, next: allocators.length === 1 && only ? only.next : next }
}

/** How many addresses can be assigned at all. */
export function countAddresses(spans: readonly Range[], excluded: readonly Range[]): number {
  const total = spans.reduce((sum, span) => sum + createAllocator(span, excluded).free(), 0n)
  return total > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(total)
}
