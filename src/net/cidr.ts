/**
 * A prefix: a network and its length, and what lies in it.
 *
 * Pure. A `Cidr` has no host bits set; text that has some is refused with the network that was probably meant.
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

/** An address together with the length of its network: what is set on an interface. */
export interface PrefixedAddress {
  readonly address: Address
  readonly prefix: number
}

export function parseCidr(text: string): Cidr | undefined {
  const read = parsePrefixed(text)
  if (!read) return undefined
  const cidr = cidrContaining(read.address, read.prefix)
  return cidr.base === read.address.value ? cidr : undefined
}

/** `172.17.0.5/24`: host bits are meant here. */
export function parsePrefixed(text: string, options: ParseOptions = {}): PrefixedAddress | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const found = parseAddress(text.slice(0, slash), options)
  const prefix = found && parseLength(text.slice(slash + 1), addressBits(found.family))
  return found && prefix !== undefined ? { address: found, prefix } : undefined
}

/** For prefixes that the program itself wrote: text that is none is a defect, not a user's mistake. */
export function cidr(text: string): Cidr {
  const read = parseCidr(text)
  if (!read) throw new TypeError(`not a network: ${text}`)
  return read
}

/** What keeps this text from being a network, in words that fit after "is not a network: ". */
export function explainInvalidCidr(text: string): string {
  const slash = text.indexOf('/')
  const head = slash < 0 ? text : text.slice(0, slash)
  const found = parseAddress(head)
  if (!found) return explainInvalidAddress(head)
  const bits = addressBits(found.family)
  if (slash < 0) return `the prefix length is missing, as in ${text}/${bits === 32 ? 24 : 64}`
  const prefix = parseLength(text.slice(slash + 1), bits)
  if (prefix === undefined) return `the prefix length is a number from 0 to ${bits}`
  const network = cidrContaining(found, prefix)
  if (network.base !== found.value) return `host bits are set; the network is ${formatCidr(network)}`
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
 * What all addresses of a network have in common in their text, if the rest is one group: with 64 bits and more for
 * hosts the last gap is the longest one, and the last group stands alone after it.
 */
function commonText({ family, base, prefix }: Cidr): string | undefined {
  return family === 4 || prefix > 64 || base >> 112n === 0n ? undefined : formatValue(family, base)
}

/** Writes addresses of one network, thousands of them. Those elsewhere come out right too, only slower. */
export function createAddressFormatter(network: Cidr): (value: bigint) => string {
  const { family, base } = network
  const common = commonText(network)
  if (common === undefined) return (value) => formatValue(family, value)
  return (value) => {
    const offset = value - base
    return offset > 0n && offset < 0x10000n ? common + offset.toString(16) : formatValue(family, value)
  }
}

/** The texts of a run of addresses of a network, without making a value of each. */
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

/** The network of this length that an address lies in. */
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

/** The addresses that may be given to somebody: without the network's own and IPv4's broadcast address. */
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
