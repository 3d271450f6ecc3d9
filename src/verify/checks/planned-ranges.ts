/** Finds the planned network and span of an address. Pure. */
import { type Address, parseAddress } from '../../net/address.ts'
import { findOverlaps } from '../../net/overlaps.ts'
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

/** Every check of every cloud asks for these, and one cloud's need the subnets of all. */
const exclusiveByPlan = new WeakMap<Plan, ReadonlyMap<string, readonly OwnedRange[]>>()

/** Ranges that belong only to this cloud: its subnets, or only its spans in a subnet that it shares with another cloud. */
export function exclusiveRanges(plan: Plan, cloud: PlannedCloud): readonly OwnedRange[] {
  const known = exclusiveByPlan.get(plan) ?? allExclusiveRanges(plan)
  exclusiveByPlan.set(plan, known)
  return known.get(cloud.name) ?? []
}

function allExclusiveRanges(plan: Plan): ReadonlyMap<string, readonly OwnedRange[]> {
  const subnets = plan.clouds.flatMap((cloud) =>
    subnetRanges(cloud).map(({ range, text }) => ({ ...range, key: subnetKey(cloud, text), cloud: cloud.name })),
  )
  const { pairs } = findOverlaps(subnets, { allowed: (a, b) => a.cloud === b.cloud })
  const shared = new Set(pairs.flatMap(([a, b]) => [a.key, b.key]))
  return new Map(
    plan.clouds.map((cloud) => [
      cloud.name,
      cloud.networks.flatMap((network) =>
        network.subnets.flatMap(({ cidr, spans }) =>
          shared.has(subnetKey(cloud, cidr))
            ? spans.flatMap(({ role, start, end }) => toOwnedRange(network, `${start}-${end}`, role))
            : toOwnedRange(network, cidr, undefined),
        ),
      ),
    ]),
  )
}

function subnetKey({ name }: PlannedCloud, cidr: string): string {
  return `${name} ${cidr}`
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
