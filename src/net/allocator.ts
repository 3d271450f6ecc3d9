/**
 * Hands out the addresses of one range, lowest first, each once.
 *
 * A bitmap up to 2^20 addresses, a sparse set above: an IPv6 subnet has more addresses than a machine has bits.
 * The one thing in this folder that changes in place; nobody shares it.
 */
import { intersection, type Range } from './range.ts'
import { type RangeSet, rangeContaining, rangeSet, setContains, setSize } from './range-set.ts'

export interface Allocator {
  readonly range: Range
  /** Takes one certain address; false when it is taken already, excluded, or lies outside. */
  readonly take: (value: bigint) => boolean
  /** Takes the lowest free address; undefined when all are taken. */
  readonly next: () => bigint | undefined
  readonly free: () => bigint
}

const BITMAP_LIMIT = 1n << 20n
const FULL = 0xffffffff

/** What `excluded` names is given to nobody. */
export function createAllocator(range: Range, excluded: Iterable<Range> = []): Allocator {
  const inside = [...excluded].flatMap((one) => intersection(one, range) ?? [])
  const never = rangeSet(inside)
  return range.last - range.first < BITMAP_LIMIT ? bitmap(range, never) : sparse(range, never)
}

function bitmap(range: Range, never: RangeSet): Allocator {
  const { first, last } = range
  const size = Number(last - first) + 1
  const words = new Uint32Array(Math.ceil(size / 32))
  let free = size
  /** Nothing below this offset is free. */
  let lowest = 0

  const offsetOf = (value: bigint): number => (value < first || value > last ? -1 : Number(value - first))
  const isSet = (at: number): boolean => ((words[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
  const set = (at: number): void => {
    words[at >>> 5] = (words[at >>> 5] ?? 0) | (1 << (at & 31))
    free -= 1
  }
  for (const range of never) {
    const end = Number(range.last - first)
    for (let at = Number(range.first - first); at <= end; at += 1) set(at)
  }

  return {
    range,
    take: (value) => {
      const at = offsetOf(value)
      if (at < 0 || isSet(at)) return false
      set(at)
      return true
    },
    next: () => {
      let word = lowest >>> 5
      while (word < words.length && words[word] === FULL) word += 1
      const at = word * 32 + lowestClear(words[word] ?? 0)
      if (word >= words.length || at >= size) {
        lowest = size
        return undefined
      }
      set(at)
      lowest = at + 1
      return first + BigInt(at)
    },
    free: () => BigInt(free),
  }
}

/** Which bit is the lowest one that is not set. */
function lowestClear(word: number): number {
  const clear = ~word
  return 31 - Math.clz32(clear & -clear)
}

function sparse(range: Range, never: RangeSet): Allocator {
  const { family, first, last } = range
  const taken = new Set<bigint>()
  const capacity = last - first + 1n - setSize(never)
  /** Nothing below this address is free. */
  let lowest = first

  const isFree = (value: bigint): boolean =>
    value >= first && value <= last && !taken.has(value) && !setContains(never, { family, value })

  return {
    range,
    take: (value) => {
      if (!isFree(value)) return false
      taken.add(value)
      return true
    },
    next: () => {
      while (lowest <= last) {
        const excluded = rangeContaining(never, { family, value: lowest })
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
