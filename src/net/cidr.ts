/**
 * Represents a prefix: a network and its length.
 *
 * Pure. A `Cidr` has no host bits set; a text with host bits is rejected, with the network that was probably meant.
 */
import {
  type Address,
  addressBits,
  type Family,
  formatIpv4,
  formatValue,
  type ParseOptions,
  parseAddress,
} from './address.ts'
import { explainInvalidAddress } from './address-text.ts'
import type { Range } from './range.ts'

export interface Cidr {
  readonly family: Family
  /** The lowest address. */
  readonly base: bigint
  readonly prefix: number
}

/** An address with the prefix length of its network, as on an interface. */
export interface PrefixedAddress {
  readonly address: Address
  readonly prefix: number
}

export function parseCidr(text: string): Cidr | undefined {
  const parsed = parsePrefixed(text)
  if (!parsed) return undefined
  const cidr = cidrContaining(parsed.address, parsed.prefix)
  return cidr.base === parsed.address.value ? cidr : undefined
}

/** `172.17.0.5/24`: host bits are allowed here. */
export function parsePrefixed(text: string, options: ParseOptions = {}): PrefixedAddress | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const parsed = parseAddress(text.slice(0, slash), options)
  const prefix = parsed && parseLength(text.slice(slash + 1), addressBits(parsed.family))
  return parsed && prefix !== undefined ? { address: parsed, prefix } : undefined
}

/** For prefixes that the program itself wrote: an invalid text is a bug, not a user's mistake. */
export function cidr(text: string): Cidr {
  const parsed = parseCidr(text)
  if (!parsed) throw new TypeError(`not a network: ${text}`)
  return parsed
}

/** Why this text is not a network, to follow "is not a network: ". */
export function explainInvalidCidr(text: string): string {
  const slash = text.indexOf('/')
  const head = slash < 0 ? text : text.slice(0, slash)
  const parsed = parseAddress(head)
  if (!parsed) return explainInvalidAddress(head)
  const bits = addressBits(parsed.family)
  if (slash < 0) return `the prefix length is missing, as in ${text}/${bits === 32 ? 24 : 64}`
  const prefix = parseLength(text.slice(slash + 1), bits)
  if (prefix === undefined) return `the prefix length is a number from 0 to ${bits}`
  const network = cidrContaining(parsed, prefix)
  if (network.base !== parsed.value) return `host bits are set; the network is ${formatCidr(network)}`
  return 'it is a network'
}

function parseLength(text: string, bits: number): number | undefined {
  if (!/^(0|[1-9]\d{0,2})$/.test(text)) return undefined
  const length = Number(text)
  return length <= bits ? length : undefined
}

export function formatCidr({ family, base, prefix }: Cidr): string {
  return `${formatValue(family, base)}/${prefix}`
}

/**
 * The common prefix of the texts of all addresses of a network, if the rest is one group: with at least 64 host bits
 * the last gap is the longest one, and only the last group follows it.
 */
function commonText({ family, base, prefix }: Cidr): string | undefined {
  return family === 4 || prefix > 64 || base >> 112n === 0n ? undefined : formatValue(family, base)
}

/** Formats thousands of addresses of one network. Other addresses are formatted correctly too, but slower. */
export function createAddressFormatter(network: Cidr): (value: bigint) => string {
  const { family, base } = network
  const common = commonText(network)
  if (common === undefined) return (value) => formatValue(family, value)
  return (value) => {
    const offset = value - base
    return offset > 0n && offset < 0x10000n ? common + offset.toString(16) : formatValue(family, value)
  }
}

/** Formats consecutive addresses of a network without creating a value for each. */
export function formatConsecutive(network: Cidr, first: bigint, count: number): readonly string[] {
  const texts: string[] = []
  const common = commonText(network)
  const offset = first - network.base
  if (network.family === 4) {
    for (let step = 0, start = Number(first); step < count; step += 1) texts.push(formatIpv4(start + step))
  } else if (common !== undefined && offset > 0n && offset + BigInt(count) <= 0x10000n) {
    for (let step = 0, low = Number(offset); step < count; step += 1) texts.push(common + (low + step).toString(16))
  } else {
    for (let step = 0; step < count; step += 1) texts.push(formatValue(network.family, first + BigInt(step)))
  }
  return texts
}

/** The network of this length that contains an address. */
export function cidrContaining({ family, value }: Address, prefix: number): Cidr {
  const hostBits = BigInt(addressBits(family) - prefix)
  return { family, base: (value >> hostBits) << hostBits, prefix }
}

export function cidrSize({ family, prefix }: Cidr): bigint {
  return 1n << BigInt(addressBits(family) - prefix)
}

export function lastAddress(network: Cidr): bigint {
  return network.base + cidrSize(network) - 1n
}

export function cidrRange(network: Cidr): Range {
  return { family: network.family, first: network.base, last: lastAddress(network) }
}

export function sameCidr(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.prefix === b.prefix && a.base === b.base
}

export function cidrContains(outer: Cidr, { family, value }: Address): boolean {
  return outer.family === family && value >= outer.base && value <= lastAddress(outer)
}

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  if (a.family !== b.family) return false
  return a.base <= lastAddress(b) && b.base <= lastAddress(a)
}

/** The addresses that can be assigned: without the network address and IPv4's broadcast address. */
export function usableRange(network: Cidr): Range {
  const { family, base, prefix } = network
  const last = lastAddress(network)
  if (addressBits(family) - prefix < 2) return { family, first: base, last }
  return { family, first: base + 1n, last: family === 4 ? last - 1n : last }
}

/** How many networks of `prefix` fit into this one. */
export function subnetCount(network: Cidr, prefix: number): bigint {
  return prefix < network.prefix || prefix > addressBits(network.family) ? 0n : 1n << BigInt(prefix - network.prefix)
}

/** The nth (from 0) network of length `prefix` inside this one. */
export function nthSubnet(network: Cidr, prefix: number, index: bigint | number): Cidr | undefined {
  const nth = BigInt(index)
  if (nth < 0n || nth >= subnetCount(network, prefix)) return undefined
  return {
    family: network.family,
    base: network.base + (nth << BigInt(addressBits(network.family) - prefix)),
    prefix,
  }
}

/** All networks of length `prefix` inside this one, lowest first. */
export function* subnets(network: Cidr, prefix: number): Generator<Cidr> {
  const count = subnetCount(network, prefix)
  for (let index = 0n; index < count; index += 1n) {
    const subnet = nthSubnet(network, prefix, index)
    if (subnet) yield subnet
  }
}
