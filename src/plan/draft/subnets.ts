/**
 * Subnets: who gets which, from the network's supernets, lowest first.
 *
 * Pure. What is pinned, locked or used by the cluster itself is given to nobody else; spans come later.
 */
import { addressBits, type Family } from '../../net/address.ts'
import type { Cidr } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import { overlappingRanges, rangeSet } from '../../net/range-set.ts'

/** One owner asks for one subnet of one family. */
export interface SubnetAsk {
  readonly owner: string
  readonly family: Family
  /** Where it may lie, in this order. */
  readonly supernets: readonly Range[]
}

export interface SubnetGrants {
  /** In the order of the asks; undefined where nothing is left. */
  readonly grants: readonly (Cidr | undefined)[]
  /** Another free one from the same supernets, for those whose own choice cannot be. */
  readonly offer: (supernets: readonly Range[], family: Family) => Cidr | undefined
}

/** `held`: every range that is somebody's already, pinned, locked or the cluster's. */
export function assignSubnets(
  prefixLength: Readonly<Record<Family, number>>,
  asks: readonly SubnetAsk[],
  held: readonly Range[],
): SubnetGrants {
  const blocked = rangeSet(held)
  // All that is given here has one size per family, so its first address says it all.
  const given: Readonly<Record<Family, Set<bigint>>> = { 4: new Set(), 6: new Set() }
  const cursors = new Map<string, bigint>()

  const search = (supernet: Range, size: bigint, from: bigint): bigint | undefined => {
    const taken = given[supernet.family]
    for (let base = from; base + size - 1n <= supernet.last; ) {
      const wanted: Range = { family: supernet.family, first: base, last: base + size - 1n }
      const [obstacle] = overlappingRanges(blocked, wanted)
      if (obstacle) base = aligned(obstacle.last + 1n, size)
      else if (taken.has(base)) base += size
      else return base
    }
    return undefined
  }

  const find = (supernets: readonly Range[], family: Family): Cidr | undefined => {
    const prefix = prefixLength[family]
    const size = 1n << BigInt(addressBits(family) - prefix)
    for (const supernet of supernets) {
      if (supernet.family !== family) continue
      // Nothing below the last find is free any more: twice the clouds, twice the work.
      const key = `${supernet.first}-${supernet.last}`
      const base = search(supernet, size, cursors.get(key) ?? aligned(supernet.first, size))
      cursors.set(key, base ?? supernet.last + 1n)
      if (base !== undefined) return { family, base, prefix }
    }
    return undefined
  }

  const grants = asks.map(({ supernets, family }) => {
    const found = find(supernets, family)
    if (found) given[family].add(found.base)
    return found
  })
  return { grants, offer: find }
}

function aligned(value: bigint, size: bigint): bigint {
  return ((value + size - 1n) / size) * size
}
