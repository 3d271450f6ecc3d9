/** Spans of a planned subnet as ranges: what an allocator may really give out, and what it must leave alone. */
import { address, formatAddress, formatValue } from '../net/address.ts'
import { cidr, cidrContains, formatCidr } from '../net/cidr.ts'
import { intersection, type Range, toCidrs } from '../net/range.ts'
import { type RangeSet, rangeSet, subtract, touching } from '../net/range-set.ts'
import type { AddressRange, PlannedNetwork, PlannedSubnet } from '../plan/plan.ts'
import type { AllocatorRole } from '../site/site.ts'

export function toRange({ start, end }: AddressRange): Range {
  const first = address(start)
  return { family: first.family, first: first.value, last: address(end).value }
}

export function fromRange({ family, first, last }: Range): AddressRange {
  return { start: formatValue(family, first), end: formatValue(family, last) }
}

export function spansOf(subnet: PlannedSubnet, role: AllocatorRole): RangeSet {
  return rangeSet(subnet.spans.filter((span) => span.role === role).map(toRange))
}

/** Reserved addresses inside a role's spans, which the allocator must be told of. */
export function reservedIn(subnet: PlannedSubnet, role: AllocatorRole): RangeSet {
  const reserved = rangeSet(subnet.reserved.map(toRange))
  return spansOf(subnet, role).flatMap((span) =>
    touching(reserved, span).flatMap((range) => intersection(range, span) ?? []),
  )
}

/** The role's spans with holes where addresses are reserved. */
export function freeSpansOf(subnet: PlannedSubnet, role: AllocatorRole): RangeSet {
  return subtract(spansOf(subnet, role), rangeSet(subnet.reserved.map(toRange)))
}

export function cidrsOf(ranges: RangeSet): readonly string[] {
  return ranges.flatMap((range) => toCidrs(range).map(formatCidr))
}

export function rangeText(range: Range): string {
  const { start, end } = fromRange(range)
  return `${start}-${end}`
}

/** The prefix length of the subnet that an address belongs to. */
export function prefixOf(network: PlannedNetwork, text: string): number {
  const subnet = subnetOf(network, text)
  if (!subnet) throw new TypeError(`${text} is in no subnet of ${network.name}`)
  return cidr(subnet.cidr).prefix
}

export function subnetOf(network: PlannedNetwork, text: string): PlannedSubnet | undefined {
  const wanted = address(text)
  return network.subnets.find((subnet) => cidrContains(cidr(subnet.cidr), wanted))
}

/** Every address of a set, one by one: for readers that take no ranges. */
export function addressesOf(ranges: RangeSet): readonly string[] {
  return ranges.flatMap(({ family, first, last }) =>
    Array.from({ length: Number(last - first) + 1 }, (_, step) =>
      formatAddress({ family, value: first + BigInt(step) }),
    ),
  )
}
