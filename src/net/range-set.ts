/**
 * Represents a set of addresses as sorted ranges that neither overlap nor touch.
 *
 * Pure: every operation returns a new set. A set may contain both families, IPv4 first.
 */
import type { Address } from './address.ts'
import { compareRanges, type Range, rangesOverlap } from './range.ts'

/** Created by `rangeSet`: sorted and merged. */
export type RangeSet = readonly Range[]

export const emptySet: RangeSet = []

export function rangeSet(ranges: Iterable<Range>): RangeSet {
  const merged: Range[] = []
  for (const range of [...ranges].sort(compareRanges)) {
    const before = merged.at(-1)
    if (before && before.family === range.family && range.first <= before.last + 1n) {
      if (range.last > before.last) merged[merged.length - 1] = { ...before, last: range.last }
    } else merged.push(range)
  }
  return merged
}

/** Index of the first range that ends at or after this address. */
function search(set: RangeSet, { family, value }: Address): number {
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const range = set[middle]
    if (range && (range.family < family || (range.family === family && range.last < value))) low = middle + 1
    else high = middle
  }
  return low
}

/** The range of the set that contains this address. */
export function rangeContaining(set: RangeSet, address: Address): Range | undefined {
  const range = set[search(set, address)]
  return range && range.family === address.family && range.first <= address.value ? range : undefined
}

export function setContains(set: RangeSet, address: Address): boolean {
  return rangeContaining(set, address) !== undefined
}

/** The ranges of the set that overlap a range. */
export function overlappingRanges(set: RangeSet, range: Range): readonly Range[] {
  const found: Range[] = []
  for (let index = search(set, { family: range.family, value: range.first }); index < set.length; index += 1) {
    const next = set[index]
    if (!next || !rangesOverlap(next, range)) break
    found.push(next)
  }
  return found
}

/** The addresses in `a` and not in `b`. */
export function subtract(a: RangeSet, b: RangeSet): RangeSet {
  return a.flatMap((range) => freeRanges(range, b))
}

/** The parts of a range that are not in the set. */
export function freeRanges(range: Range, set: RangeSet): readonly Range[] {
  const { family } = range
  const free: Range[] = []
  let first = range.first
  for (const taken of overlappingRanges(set, range)) {
    if (taken.first > first) free.push({ family, first, last: taken.first - 1n })
    first = taken.last + 1n
  }
  if (first <= range.last) free.push({ family, first, last: range.last })
  return free
}

/** The lowest `size` consecutive addresses inside `within` that are not in the set. */
export function firstFree(within: Range, taken: RangeSet, size: bigint | number = 1n): Range | undefined {
  const needed = BigInt(size)
  for (const { family, first, last } of freeRanges(within, taken)) {
    if (last - first + 1n >= needed) return { family, first, last: first + needed - 1n }
  }
  return undefined
}

export function setSize(set: RangeSet): bigint {
  return set.reduce((sum, { first, last }) => sum + last - first + 1n, 0n)
}
