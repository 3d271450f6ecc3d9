/**
 * Represents one IP address: its value, arithmetic and text (RFC 5952).
 *
 * Pure. Must not know prefixes and ranges. Parsing is strict: a text that one program reads as octal and another as
 * decimal is rejected.
 */
import { parseIpv4, parseIpv6 } from './address-text.ts'

export type Family = 4 | 6

export interface Address {
  readonly family: Family
  readonly value: bigint
}

export interface ParseOptions {
  /** Accept `::ffff:192.0.2.1` as an IPv6 address; otherwise it is rejected. */
  readonly mapped?: boolean
}

const BITS = { 4: 32, 6: 128 } as const
const LAST = { 4: (1n << 32n) - 1n, 6: (1n << 128n) - 1n } as const
const MAPPED = 0xffffn

/** The number of bits of an address of this family. */
export function addressBits(family: Family): 32 | 128 {
  return BITS[family]
}

export function parseAddress(text: string, options: ParseOptions = {}): Address | undefined {
  const four = parseIpv4(text)
  if (four >= 0) return { family: 4, value: BigInt(four) }
  const value = text.includes(':') ? parseIpv6(text) : undefined
  if (value === undefined || (!options.mapped && value >> 32n === MAPPED)) return undefined
  return { family: 6, value }
}

/**
 * Parses many neighbouring addresses: the common part of IPv6 neighbours is parsed once.
 * Returns exactly what `parseAddress` does.
 */
export function createNeighbourParser(): (text: string) => Address | undefined {
  let common = ''
  let base = 0n
  return (text) => {
    const cut = text.lastIndexOf(':') + 1
    if (cut > 0 && cut === common.length && text.startsWith(common)) {
      const low = text.slice(cut)
      if (/^[0-9a-f]{1,4}$/.test(low)) return { family: 6, value: base + BigInt(Number.parseInt(low, 16)) }
    }
    const parsed = parseAddress(text)
    if (parsed?.family === 6 && /^[0-9a-f]{1,4}$/.test(text.slice(cut))) {
      common = text.slice(0, cut)
      base = parsed.value - BigInt(Number.parseInt(text.slice(cut), 16))
    }
    return parsed
  }
}

/** For addresses that the program itself wrote: an invalid text is a bug, not a user's mistake. */
export function address(text: string): Address {
  const parsed = parseAddress(text, { mapped: true })
  if (!parsed) throw new TypeError(`not an address: ${text}`)
  return parsed
}

export function formatAddress({ family, value }: Address): string {
  return family === 4 ? formatIpv4(Number(value)) : formatIpv6(value)
}

/** Formats a bare value, for callers that store values without their family. */
export function formatValue(family: Family, value: bigint): string {
  return family === 4 ? formatIpv4(Number(value)) : formatIpv6(value)
}

/** IPv4 before IPv6, then by value. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** The address `steps` later, or undefined beyond the end of the family. */
export function plus({ family, value }: Address, steps: bigint | number): Address | undefined {
  const moved = value + BigInt(steps)
  return moved < 0n || moved > LAST[family] ? undefined : { family, value: moved }
}

/** Formats a 32-bit value as a dotted quad. */
export function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups (the first such) as `::`. */
function formatIpv6(value: bigint): string {
  const groups = groupsOf(value)
  if (value >> 32n === MAPPED) return `::ffff:${formatIpv4(Number(value & 0xffffffffn))}`
  let start = -1
  let length = 1
  for (let index = 0; index < 8; ) {
    let end = index
    while (end < 8 && groups[end] === 0) end += 1
    if (end - index > length) {
      start = index
      length = end - index
    }
    index = end + 1
  }
  const text = (from: number, to: number): string => {
    let joined = ''
    for (let index = from; index < to; index += 1)
      joined += (index > from ? ':' : '') + (groups[index] ?? 0).toString(16)
    return joined
  }
  return start < 0 ? text(0, 8) : `${text(0, start)}::${text(start + length, 8)}`
}

/** The eight groups of 16 bits. */
function groupsOf(value: bigint): readonly number[] {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0]
  for (let word = 3, rest = value; word >= 0; word -= 1, rest >>= 32n) {
    const bits = Number(BigInt.asUintN(32, rest))
    groups[word * 2] = bits >>> 16
    groups[word * 2 + 1] = bits & 0xffff
  }
  return groups
}
