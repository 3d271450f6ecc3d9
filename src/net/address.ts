/**
 * One IP address: its value, its arithmetic and its text (RFC 5952).
 *
 * Pure. Knows nothing of prefixes and ranges. Reading text is strict: what one program reads as octal and another
 * as decimal is no address here.
 */
import { parseIpv4, parseIpv6 } from './address-text.ts'

export type Family = 4 | 6

export interface Address {
  readonly family: Family
  readonly value: bigint
}

export interface ParseOptions {
  /** Take `::ffff:192.0.2.1` for what it says, an IPv6 address; without this it is refused. */
  readonly mapped?: boolean
}

const BITS = { 4: 32, 6: 128 } as const
const LAST = { 4: (1n << 32n) - 1n, 6: (1n << 128n) - 1n } as const
const MAPPED = 0xffffn

/** How many bits an address of this family has. */
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
 * Reads many addresses that lie side by side: what IPv6 neighbours have in common is read once.
 * Answers exactly as `parseAddress` does.
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
    const read = parseAddress(text)
    if (read?.family === 6 && /^[0-9a-f]{1,4}$/.test(text.slice(cut))) {
      common = text.slice(0, cut)
      base = read.value - BigInt(Number.parseInt(text.slice(cut), 16))
    }
    return read
  }
}

/** For addresses that the program itself wrote: text that is no address is a defect, not a user's mistake. */
export function address(text: string): Address {
  const read = parseAddress(text, { mapped: true })
  if (!read) throw new TypeError(`not an address: ${text}`)
  return read
}

export function formatAddress({ family, value }: Address): string {
  return family === 4 ? formatIpv4(Number(value)) : formatIpv6(value)
}

/** The text of a bare value, for those who keep values without their family. */
export function formatValue(family: Family, value: bigint): string {
  return family === 4 ? formatIpv4(Number(value)) : formatIpv6(value)
}

/** IPv4 before IPv6, then by value. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** The address `steps` further on, or undefined beyond the end of the family. */
export function plus({ family, value }: Address, steps: bigint | number): Address | undefined {
  const moved = value + BigInt(steps)
  return moved < 0n || moved > LAST[family] ? undefined : { family, value: moved }
}

/** The dotted quad of a 32-bit value. */
export function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups (the first such) as `::`. */
function formatIpv6(value: bigint): string {
  const groups = groupsOf(value)
  if (value >> 32n === MAPPED) return `::ffff:${formatIpv4(Number(value & 0xffffffffn))}`
  let start = -1
  let length = 1
  for (let at = 0; at < 8; ) {
    let end = at
    while (end < 8 && groups[end] === 0) end += 1
    if (end - at > length) {
      start = at
      length = end - at
    }
    at = end + 1
  }
  const text = (from: number, to: number): string => {
    let joined = ''
    for (let at = from; at < to; at += 1) joined += (at > from ? ':' : '') + (groups[at] ?? 0).toString(16)
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
