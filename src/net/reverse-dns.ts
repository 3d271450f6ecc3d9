/**
 * Builds the names for reverse DNS lookups.
 *
 * Pure. Zones are cut where DNS can delegate them: at octets (IPv4) and nibbles (IPv6).
 */
import { type Address, addressBits } from './address.ts'
import { type Cidr, cidrContaining, subnets } from './cidr.ts'

/** `5.0.17.172.in-addr.arpa`. */
export function reverseName(address: Address): string {
  return `${labels(address, addressBits(address.family)).join('.')}.${root(address.family)}`
}

/**
 * The zones that together contain every address of a network: several when its prefix lies between two cuts, and one
 * wider zone when it lies below the last useful cut (a /25 is in the zone of its /24).
 */
export function reverseZones(network: Cidr): readonly string[] {
  const step = network.family === 4 ? 8 : 4
  const longest = network.family === 4 ? 24 : 124
  const prefix = Math.min(Math.ceil(network.prefix / step) * step, longest)
  const inside =
    prefix < network.prefix
      ? [cidrContaining({ family: network.family, value: network.base }, prefix)]
      : subnets(network, prefix)
  return [...inside].map(({ family, base }) => {
    const zoneLabels = labels({ family, value: base }, prefix)
    return [...zoneLabels, root(family)].join('.')
  })
}

function labels({ family, value }: Address, prefix: number): readonly string[] {
  const step = family === 4 ? 8 : 4
  const mask = (1n << BigInt(step)) - 1n
  const result: string[] = []
  for (let shift = addressBits(family) - prefix; shift < addressBits(family); shift += step) {
    const label = (value >> BigInt(shift)) & mask
    result.push(family === 4 ? label.toString() : label.toString(16))
  }
  return result
}

function root(family: 4 | 6): string {
  return family === 4 ? 'in-addr.arpa' : 'ip6.arpa'
}
