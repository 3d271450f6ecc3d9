/**
 * Parses the text of an address character by character, and explains why a text is not an address.
 *
 * Pure, on plain values. Performance matters: an import parses a hundred thousand addresses.
 */

const ZERO = 48
const DOT = 46
const COLON = 58

/** The value of a dotted quad, or -1. Leading zeros are rejected: some programs read them as octal. */
export function parseIpv4(text: string): number {
  let value = 0
  let part = 0
  let digits = 0
  let dots = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === DOT) {
      if (digits === 0 || dots === 3) return -1
      value = value * 256 + part
      part = 0
      digits = 0
      dots += 1
    } else {
      const digit = code - ZERO
      if (digit < 0 || digit > 9 || (digits > 0 && part === 0)) return -1
      part = part * 10 + digit
      digits += 1
      if (part > 255) return -1
    }
  }
  return dots === 3 && digits > 0 ? value * 256 + part : -1
}

/** The value of an IPv6 address, or undefined. The last 32 bits may be a dotted quad; a zone is rejected. */
export function parseIpv6(text: string): bigint | undefined {
  const groups: number[] = []
  let gap = -1
  let index = 0
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return undefined
    gap = 0
    index = 2
  }
  while (index < text.length) {
    const end = endOfGroup(text, index)
    if (text.charCodeAt(end) === DOT) {
      const four = parseIpv4(text.slice(index))
      if (four < 0) return undefined
      groups.push(Math.floor(four / 65536), four % 65536)
      index = text.length
      break
    }
    const group = hexGroup(text, index, end)
    if (group < 0) return undefined
    groups.push(group)
    if (end === text.length) {
      index = end
      break
    }
    if (text.charCodeAt(end) !== COLON) return undefined
    index = end + 1
    if (text.charCodeAt(index) === COLON) {
      if (gap >= 0) return undefined
      gap = groups.length
      index += 1
    } else if (index === text.length) return undefined
  }
  return joinGroups(groups, gap)
}

function endOfGroup(text: string, from: number): number {
  let end = from
  while (end < text.length && hexDigit(text.charCodeAt(end)) >= 0) end += 1
  return end
}

function hexGroup(text: string, from: number, to: number): number {
  if (to === from || to - from > 4) return -1
  let value = 0
  for (let index = from; index < to; index += 1) value = value * 16 + hexDigit(text.charCodeAt(index))
  return value
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const character = code | 32
  return character >= 97 && character <= 102 ? character - 87 : -1
}

/** Places the groups; `::` stands for at least one missing group. */
function joinGroups(groups: readonly number[], gap: number): bigint | undefined {
  if (gap < 0 ? groups.length !== 8 : groups.length > 7) return undefined
  const all = [0, 0, 0, 0, 0, 0, 0, 0]
  groups.forEach((group, index) => {
    all[gap >= 0 && index >= gap ? 8 - groups.length + index : index] = group
  })
  let value = 0n
  for (let index = 0; index < 8; index += 2) {
    value = (value << 32n) | BigInt((all[index] ?? 0) * 65536 + (all[index + 1] ?? 0))
  }
  return value
}

/** Why this text is not an address, to follow "is not an address: ". */
export function explainInvalidAddress(text: string): string {
  if (text === '') return 'it is empty'
  if (text.trim() !== text) return 'there is white space around it'
  if (text.includes('%')) return `a zone (${text.slice(text.indexOf('%'))}) is not allowed`
  if (text.includes('/')) return 'it is a prefix (it contains a /), and one address is expected'
  if (text.includes(':')) return whyNotIpv6(text)
  return whyNotIpv4(text)
}

function whyNotIpv4(text: string): string {
  const unexpected = firstUnexpected(text, /[0-9.]/)
  if (unexpected) return `${quoted(unexpected)} is not a digit`
  const parts = text.split('.')
  if (parts.length !== 4) return `an IPv4 address has four parts, this has ${parts.length}`
  for (const [position, part] of parts.entries()) {
    if (part === '') return `part ${position + 1} is empty`
    if (part.length > 1 && part.startsWith('0')) {
      return `part ${position + 1} (${part}) has a leading zero, which some programs read as octal`
    }
    if (Number(part) > 255) return `part ${position + 1} (${part}) is above 255`
  }
  return 'it is an address'
}

function whyNotIpv6(text: string): string {
  const unexpected = firstUnexpected(text, /[0-9a-fA-F:.]/)
  if (unexpected) return `${quoted(unexpected)} is not a hexadecimal digit`
  if (text.indexOf('::') !== text.lastIndexOf('::')) return '"::" may occur only once'
  const value = parseIpv6(text)
  if (value !== undefined) {
    return value >> 32n === 0xffffn
      ? 'it is an IPv4 address written as IPv6; write the IPv4 address'
      : 'it is an address'
  }
  return whichGroupIsWrong(text)
}

function whichGroupIsWrong(text: string): string {
  const [head = '', tail] = text.split('::')
  const groups = [head, tail ?? ''].flatMap((half) => (half === '' ? [] : half.split(':')))
  const dotted = groups.at(-1)?.includes('.') ? groups.pop() : undefined
  if (dotted !== undefined && parseIpv4(dotted) < 0) return `in its last part, ${whyNotIpv4(dotted)}`
  const long = groups.find((group) => group.length > 4)
  if (long !== undefined) return `the group ${quoted(long)} has more than four digits`
  if (groups.includes('')) return 'a group is empty'
  if (groups.some((group) => group.includes('.'))) return 'a dotted part is allowed only at the end'
  const count = groups.length + (dotted === undefined ? 0 : 2)
  if (tail === undefined) return `an IPv6 address has eight groups, this has ${count}`
  return `"::" must stand for at least one group, and ${count} groups are written`
}

function firstUnexpected(text: string, expected: RegExp): string | undefined {
  return Array.from(text).find((character) => !expected.test(character))
}

function quoted(text: string): string {
  return `"${text}"`
}
