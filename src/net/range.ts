/**
 * A run of addresses of one family, both ends included.
 *
 * Pure. Texts are MetalLB's: `a-b`, a prefix, or one address.
 */
import { type Address, bitsOf, type Family, formatValue, parseAddress } from './address.ts'
import { whyNotAddress } from './address-text.ts'
import { type Cidr, lastOf, parseCidr, whyNotCidr } from './cidr.ts'

export interface Range {
  readonly family: Family
  readonly first: bigint
  readonly last: bigint
}

export function parseRange(text: string): Range | undefined {
  const dash = text.indexOf('-')
  if (dash >= 0) return between(text.slice(0, dash).trim(), text.slice(dash + 1).trim())
  if (text.includes('/')) {
    const network = parseCidr(text)
    return network && { family: network.family, first: network.base, last: lastOf(network) }
  }
  const only = parseAddress(text)
  return only && single(only)
}

function between(firstText: string, lastText: string): Range | undefined {
  const first = parseAddress(firstText)
  const last = parseAddress(lastText)
  if (!first || !last || first.family !== last.family || first.value > last.value) return undefined
  return { family: first.family, first: first.value, last: last.value }
}

/** What keeps this text from being a range, in words that fit after "is not a range: ". */
export function whyNotRange(text: string): string {
  const dash = text.indexOf('-')
  if (dash < 0) return text.includes('/') ? whyNotCidr(text) : whyNotAddress(text)
  const ends = [text.slice(0, dash).trim(), text.slice(dash + 1).trim()] as const
  const [first, last] = ends.map((end) => parseAddress(end))
  if (!first) return `its first address: ${whyNotAddress(ends[0])}`
  if (!last) return `its last address: ${whyNotAddress(ends[1])}`
  if (first.family !== last.family) return 'its ends are of two families'
  return first.value > last.value ? `it ends (${ends[1]}) before it starts (${ends[0]})` : 'it is a range'
}

export function single({ family, value }: Address): Range {
  return { family, first: value, last: value }
}

export function formatRange({ family, first, last }: Range): string {
  const start = formatValue(family, first)
  return first === last ? start : `${start}-${formatValue(family, last)}`
}

/** IPv4 before IPv6, then by start, then by end. */
export function compareRanges(a: Range, b: Range): number {
  if (a.family !== b.family) return a.family - b.family
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.last < b.last ? -1 : a.last > b.last ? 1 : 0
}

export function rangeSize({ first, last }: Range): bigint {
  return last - first + 1n
}

export function rangeContains(range: Range, { family, value }: Address): boolean {
  return range.family === family && value >= range.first && value <= range.last
}

export function rangeCovers(outer: Range, inner: Range): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last
}

export function rangesOverlap(a: Range, b: Range): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

export function intersection(a: Range, b: Range): Range | undefined {
  if (!rangesOverlap(a, b)) return undefined
  return {
    family: a.family,
    first: a.first > b.first ? a.first : b.first,
    last: a.last < b.last ? a.last : b.last,
  }
}

/** The fewest prefixes that together are exactly this range. */
export function toCidrs({ family, first, last }: Range): readonly Cidr[] {
  const bits = bitsOf(family)
  const found: Cidr[] = []
  let base = first
  while (base <= last) {
    let hostBits = 0
    // As large as the alignment of its start and what is left allow.
    while (hostBits < bits) {
      const size = 1n << BigInt(hostBits + 1)
      if (base % size !== 0n || base + size - 1n > last) break
      hostBits += 1
    }
    found.push({ family, base, prefix: bits - hostBits })
    base += 1n << BigInt(hostBits)
  }
  return found
}
