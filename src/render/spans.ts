/** Converts the spans of a planned subnet to ranges: what an allocator may assign, and what it must not. Pure. */
import { address, formatAddress } from '../net/address.ts'
import { cidr, cidrContains, formatCidr } from '../net/cidr.ts'
import { intersection, type Range, toCidrs } from '../net/range.ts'
import { emptySet, overlappingRanges, type RangeSet, rangeSet, subtract } from '../net/range-set.ts'
import {
  type AddressRange,
  formatAddressRange,
  type PlannedNetwork,
  type PlannedSubnet,
  parseAddressRange,
  type Route,
} from '../plan/plan.ts'
import type { AllocatorRole } from '../site/site.ts'

export function spanRanges(subnet: PlannedSubnet, role: AllocatorRole): RangeSet {
  return rangeSet(subnet.spans.filter((span) => span.role === role).map(parseAddressRange))
}

/** Reserved addresses inside a role's spans, which its allocator must exclude. */
export function reservedRanges(subnet: PlannedSubnet, role: AllocatorRole): RangeSet {
  if (subnet.reserved.length === 0) return emptySet
  const reserved = rangeSet(subnet.reserved.map(parseAddressRange))
  return spanRanges(subnet, role).flatMap((span) =>
    overlappingRanges(reserved, span).flatMap((range) => intersection(range, span) ?? []),
  )
}

/** The role's spans without reserved addresses. */
export function freeSpans(subnet: PlannedSubnet, role: AllocatorRole): readonly AddressRange[] {
  // Nearly every subnet has no reserved addresses, and parsing would be wasted.
  if (subnet.reserved.length === 0) return subnet.spans.filter((span) => span.role === role)
  return subtract(spanRanges(subnet, role), rangeSet(subnet.reserved.map(parseAddressRange))).map(formatAddressRange)
}

export function formatCidrs(ranges: RangeSet): readonly string[] {
  const texts: string[] = []
  for (const range of ranges) for (const block of toCidrs(range)) texts.push(formatCidr(block))
  return texts
}

export function formatRange(range: Range): string {
  return formatSpan(formatAddressRange(range))
}

export function formatSpan({ start, end }: AddressRange): string {
  return `${start}-${end}`
}

/** The prefix length of the subnet that an address belongs to. */
export function prefixLength(network: PlannedNetwork, text: string): number {
  const subnet = findSubnet(network, text)
  if (!subnet) throw new TypeError(`${text} is in no subnet of ${network.name}`)
  return Number(subnet.cidr.slice(subnet.cidr.indexOf('/') + 1))
}

export function findSubnet(network: PlannedNetwork, text: string): PlannedSubnet | undefined {
  const family = text.includes(':') ? 6 : 4
  const candidates = network.subnets.filter((subnet) => subnet.family === family)
  // The address belongs to a subnet of this network, so a single one of its family needs no check.
  if (candidates.length < 2) return candidates[0]
  const parsed = address(text)
  return candidates.find((subnet) => cidrContains(cidr(subnet.cidr), parsed))
}

/** Whether the next hop of a route is in no other subnet of the network than these. */
export function isReachable({ nexthop }: Route, network: PlannedNetwork, attached: readonly PlannedSubnet[]): boolean {
  const router = address(nexthop)
  const owner = network.subnets.find((subnet) => cidrContains(cidr(subnet.cidr), router))
  return owner === undefined || attached.includes(owner)
}

/** Every address of a set, for consumers that take no ranges. */
export function listAddresses(ranges: RangeSet): readonly string[] {
  return ranges.flatMap(({ family, first, last }) =>
    Array.from({ length: Number(last - first) + 1 }, (_, step) =>
      formatAddress({ family, value: first + BigInt(step) }),
    ),
  )
}
