/** Finds the planned network and span of an address. Pure. */
import { type Address, parseAddress } from '../../net/address.ts'
import { parseRange, type Range, rangeContains, rangesOverlap } from '../../net/range.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import type { AllocatorRole } from '../../site/site.ts'

export interface OwnedRange {
  readonly network: PlannedNetwork
  /** Undefined for a whole subnet. */
  readonly role?: AllocatorRole
  readonly range: Range
  /** As in the plan: `172.17.0.80-172.17.0.90`. */
  readonly text: string
}

export function subnetRanges(cloud: PlannedCloud): readonly OwnedRange[] {
  return cloud.networks.flatMap((network) =>
    network.subnets.flatMap(({ cidr }) => toOwnedRange(network, cidr, undefined)),
  )
}

/** Ranges that belong only to this cloud: its subnets, or only its spans in a subnet that it shares with another cloud. */
export function exclusiveRanges(plan: Plan, cloud: PlannedCloud): readonly OwnedRange[] {
  const others = plan.clouds.filter(({ name }) => name !== cloud.name).flatMap(subnetRanges)
  return cloud.networks.flatMap((network) =>
    network.subnets.flatMap(({ cidr, spans }) =>
      toOwnedRange(network, cidr, undefined).flatMap((whole) =>
        others.some(({ range }) => rangesOverlap(range, whole.range))
          ? spans.flatMap(({ role, start, end }) => toOwnedRange(network, `${start}-${end}`, role))
          : [whole],
      ),
    ),
  )
}

export function spanRanges(network: PlannedNetwork, role: AllocatorRole): readonly OwnedRange[] {
  return network.subnets.flatMap(({ spans }) =>
    spans
      .filter((span) => span.role === role)
      .flatMap(({ start, end }) => toOwnedRange(network, `${start}-${end}`, role)),
  )
}

function toOwnedRange(network: PlannedNetwork, text: string, role: AllocatorRole | undefined): readonly OwnedRange[] {
  const range = parseRange(text)
  return range ? [{ network, range, text, ...(role !== undefined && { role }) }] : []
}

export function findRange(ranges: readonly OwnedRange[], text: string): OwnedRange | undefined {
  const address = parseAddress(text)
  return address && ranges.find(({ range }) => rangeContains(range, address))
}

export function findOverlap(ranges: readonly OwnedRange[], text: string): OwnedRange | undefined {
  const range = parseRange(text)
  return range && ranges.find((ownedRange) => rangesOverlap(ownedRange.range, range))
}

/** `pods 172.17.0.30-172.17.0.70`. */
export function formatSpans(ranges: readonly OwnedRange[], role: AllocatorRole): string {
  return ranges.length === 0 ? `no span for ${role}` : `${role} ${ranges.map(({ text }) => text).join(', ')}`
}

export function contains(ranges: readonly OwnedRange[], address: Address): boolean {
  return ranges.some(({ range }) => rangeContains(range, address))
}
