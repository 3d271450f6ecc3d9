/**
 * Finds overlapping ranges: sorts, then sweeps once.
 *
 * Pure. Must not know what an overlap means.
 */
import type { Range } from './range.ts'

export interface Overlaps<T> {
  /** Ordered by the start of the later range; in each pair the range that starts first comes first. */
  readonly pairs: readonly (readonly [T, T])[]
  /** True when `limit` truncated the list. */
  readonly more: boolean
}

export interface OverlapOptions<T> {
  /** A list of a million pairs helps no reader. */
  readonly limit?: number
  /** Pairs that may overlap, such as a VIP and its span. */
  readonly allowed?: (a: T, b: T) => boolean
}

const NO_LIMIT = Number.POSITIVE_INFINITY

/** Costs one sort, then one step for each range and each overlapping pair. */
export function findOverlaps<T extends Range>(ranges: readonly T[], options: OverlapOptions<T> = {}): Overlaps<T> {
  const { limit = NO_LIMIT, allowed } = options
  const pairs: [T, T][] = []
  for (const sorted of byFamily(ranges)) {
    let open: T[] = []
    let reach = -1n
    for (const range of sorted) {
      if (range.first > reach) {
        // No open range reaches this far: the common and cheap case.
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

/** Each family separately: IPv4 and IPv6 values cannot overlap. */
function byFamily<T extends Range>(ranges: readonly T[]): readonly (readonly T[])[] {
  const four = ranges.filter((range) => range.family === 4)
  const six = ranges.filter((range) => range.family === 6)
  return [four.sort(byStart), six.sort(byStart)]
}

function byStart(a: Range, b: Range): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.last < b.last ? -1 : a.last > b.last ? 1 : 0
}
