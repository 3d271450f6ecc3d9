/**
 * Which ranges overlap: sort, then sweep once.
 *
 * Pure. What an overlap means, and whether it is allowed, is the caller's business.
 */
import type { Range } from './range.ts'

export interface Overlaps<T> {
  /** In the order of the later one's start; of each pair the one that starts first comes first. */
  readonly pairs: readonly (readonly [T, T])[]
  /** True when `limit` cut the list: there are more. */
  readonly more: boolean
}

export interface OverlapOptions<T> {
  /** No list of a million pairs helps anybody. */
  readonly limit?: number
  /** Pairs that may overlap, such as a VIP and the span that it is taken from. */
  readonly allowed?: (a: T, b: T) => boolean
}

const NO_LIMIT = Number.POSITIVE_INFINITY

/** Costs one sort, and then one step for each range and for each pair that overlaps. */
export function findOverlaps<T extends Range>(ranges: readonly T[], options: OverlapOptions<T> = {}): Overlaps<T> {
  const { limit = NO_LIMIT, allowed } = options
  const pairs: [T, T][] = []
  for (const sorted of byFamily(ranges)) {
    let open: T[] = []
    let reach = -1n
    for (const range of sorted) {
      if (range.first > reach) {
        // Nothing reaches this far: the common case, and the cheap one.
        open = [range]
        reach = range.last
        continue
      }
      const still: T[] = []
      for (const other of open) {
        if (other.last < range.first) continue
        still.push(other)
        if (allowed?.(other, range)) continue
        if (pairs.length >= limit) return { pairs, more: true }
        pairs.push([other, range])
      }
      still.push(range)
      open = still
      if (range.last > reach) reach = range.last
    }
  }
  return { pairs, more: false }
}

/** Each family by itself: an IPv4 value and an IPv6 value have nothing to say to each other. */
function byFamily<T extends Range>(ranges: readonly T[]): readonly (readonly T[])[] {
  const four = ranges.filter((range) => range.family === 4)
  const six = ranges.filter((range) => range.family === 6)
  return [four.sort(byStart), six.sort(byStart)]
}

function byStart(a: Range, b: Range): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.last < b.last ? -1 : a.last > b.last ? 1 : 0
}
