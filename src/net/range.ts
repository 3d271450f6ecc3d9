/**
 * Represents consecutive addresses of one family, both ends included.
 *
 * Pure. Parses MetalLB's formats: `a-b`, a prefix, or one address.
 */
import { type Address, type Family, formatValue, parseAddress } from './address.ts'
import { explainInvalidAddress } from './address-text.ts'
import { type Cidr, explainInvalidCidr, lastAddress, parseCidr } from './cidr.ts'

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
    return network && { family: network.family, first: network.base, last: lastAddress(network) }
  }
  const only = parseAddress(text)
  return only && singleAddressRange(only)
}

function between(firstText: string, lastText: string): Range | undefined {
  const first = parseAddress(firstText)
  const last = parseAddress(lastText)
  if (!first || !last || first.family !== last.family || first.value > last.value) return undefined
  return { family: first.family, first: first.value, last: last.value }
}

/** Why this text is not a range, to follow "is not a range: ". */
export function explainInvalidRange(text: string): string {
  const dash = text.indexOf('-')
  if (dash < 0) return text.includes('/') ? explainInvalidCidr(text) : explainInvalidAddress(text)
  const ends = [text.slice(0, dash).trim(), text.slice(dash + 1).trim()] as const
  const [first, last] = ends.map((end) => parseAddress(end))
  if (!first) return `its first address: ${explainInvalidAddress(ends[0])}`
  if (!last) return `its last address: ${explainInvalidAddress(ends[1])}`
  if (first.family !== last.family) return 'its ends have different families'
  return first.value > last.value ? `it ends (${ends[1]}) before it starts (${ends[0]})` : 'it is a range'
}

export function singleAddressRange({ family, value }: Address): Range {
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
  return family === 4 ? ipv4Cidrs(Number(first), Number(last)) : ipv6Cidrs(first, last)
}

/** Plain numbers: the firewall rules of every cloud need prefixes, and bigints cost ten times as much. */
function ipv4Cidrs(first: number, last: number): readonly Cidr[] {
  const cidrs: Cidr[] = []
  for (let base = first; base <= last; ) {
    let prefix = 32
    let size = 1
    // As large as the alignment of its start and the remaining addresses allow.
    while (prefix > 0 && base % (size * 2) === 0 && base + size * 2 - 1 <= last) {
      prefix -= 1
      size *= 2
    }
    cidrs.push({ family: 4, base: BigInt(base), prefix })
    base += size
  }
  return cidrs
}

function ipv6Cidrs(first: bigint, last: bigint): readonly Cidr[] {
  const cidrs: Cidr[] = []
  for (let base = first; base <= last; ) {
    let prefix = 128
    let size = 1n
    while (prefix > 0 && base % (size * 2n) === 0n && base + size * 2n - 1n <= last) {
      prefix -= 1
      size *= 2n
    }
    cidrs.push({ family: 6, base, prefix })
    base += size
  }
  return cidrs
}
