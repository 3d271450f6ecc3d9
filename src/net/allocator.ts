/**
 * Allocates the addresses of one range, lowest first, each once.
 *
 * A bitmap up to 2^20 addresses, a sparse set above: an IPv6 subnet has more addresses than memory has bits.
 * Mutable, unlike the rest of this folder; it must not be shared.
 */
import { intersection, type Range } from './range.ts'
import { type RangeSet, rangeContaining, rangeSet, setContains, setSize } from './range-set.ts'

export interface Allocator {
  readonly range: Range
  /** Takes a specific address; false when it is taken, excluded, or outside. */
  readonly take: (value: bigint) => boolean
  /** Takes the lowest free address; undefined when all are taken. */
  readonly next: () => bigint | undefined
  readonly free: () => bigint
}

const BITMAP_LIMIT = 1n << 20n
const FULL = 0xffffffff

/** Addresses in `excluded` are never allocated. */
export function createAllocator(range: Range, excluded: Iterable<Range> = []): Allocator {
  const inside = [...excluded].flatMap((excludedRange) => intersection(excludedRange, range) ?? [])
  const unavailable = rangeSet(inside)
  return range.last - range.first < BITMAP_LIMIT ? bitmap(range, unavailable) : sparse(range, unavailable)
}

function bitmap(range: Range, unavailable: RangeSet): Allocator {
  const { first, last } = range
  const size = Number(last - first) + 1
  const words = new Uint32Array(Math.ceil(size / 32))
  let free = size
  /** Nothing below this offset is free. */
  let lowest = 0

  const offsetOf = (value: bigint): number => (value < first || value > last ? -1 : Number(value - first))
  const isSet = (offset: number): boolean => ((words[offset >>> 5] ?? 0) & (1 << (offset & 31))) !== 0
  const set = (offset: number): void => {
    words[offset >>> 5] = (words[offset >>> 5] ?? 0) | (1 << (offset & 31))
    free -= 1
  }
  for (const range of unavailable) {
    const end = Number(range.last - first)
    for (let offset = Number(range.first - first); offset <= end; offset += 1) set(offset)
  }

  return {
    range,
    take: (value) => {
      const offset = offsetOf(value)
      if (offset < 0 || isSet(offset)) return false
      set(offset)
      return true
    },
    next: () => {
      let word = lowest >>> 5
      while (word < words.length && words[word] === FULL) word += 1
      const offset = word * 32 + lowestClear(words[word] ?? 0)
      if (word >= words.length || offset >= size) {
        lowest = size
        return undefined
      }
      set(offset)
      lowest = offset + 1
      return first + BigInt(offset)
    },
    free: () => BigInt(free),
  }
}

/** The index of the lowest bit that is not set. */
function lowestClear(word: number): number {
  const clear = ~word
  return 31 - Math.clz32(clear & -clear)
}

function sparse(range: Range, unavailable: RangeSet): Allocator {
  const { family, first, last } = range
  const taken = new Set<bigint>()
  const capacity = last - first + 1n - setSize(unavailable)
  /** Nothing below this address is free. */
  let lowest = first

  const isFree = (value: bigint): boolean =>
    value >= first && value <= last && !taken.has(value) && !setContains(unavailable, { family, value })

  return {
    range,
    take: (value) => {
      if (!isFree(value)) return false
      taken.add(value)
      return true
    },
    next: () => {
      while (lowest <= last) {
        const excluded = rangeContaining(unavailable, { family, value: lowest })
        if (excluded) lowest = excluded.last + 1n
        else if (taken.has(lowest)) lowest += 1n
        else {
          taken.add(lowest)
          lowest += 1n
          return lowest - 1n
        }
      }
      return undefined
    },
    free: () => capacity - BigInt(taken.size),
  }
}
