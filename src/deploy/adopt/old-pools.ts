/**
 * Pools that stand where a cloud's own pool is to be: what of them must go, and what they keep. Pure.
 *
 * MetalLB refuses two pools with one range. A pool that holds other ranges as well serves somebody else too: it only
 * lets go of ours.
 */
import type { KubeObject } from '../../api/object.ts'
import { getList } from '../../api/raw-object.ts'
import { parseRange, rangesOverlap } from '../../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../../net/range-set.ts'
import { formatRange } from '../../render/spans.ts'

export interface OldPool {
  readonly pool: KubeObject
  /** What it holds afterwards; empty: it goes. */
  readonly keeps: readonly string[]
}

export function poolRanges(pool: KubeObject): RangeSet {
  return rangeSet(poolAddresses(pool).flatMap((text) => parseRange(text) ?? []))
}

export function poolAddresses(pool: KubeObject): readonly string[] {
  return getList(pool, 'spec', 'addresses').filter((one): one is string => typeof one === 'string')
}

/** Pools of other names that overlap the desired one. */
export function overlappingPools(desired: KubeObject, pools: readonly KubeObject[]): readonly OldPool[] {
  const wanted = poolRanges(desired)
  return pools
    .filter(({ metadata }) => metadata.name !== desired.metadata.name)
    .filter((pool) => poolRanges(pool).some((range) => wanted.some((one) => rangesOverlap(one, range))))
    .map((pool) => ({ pool, keeps: subtract(poolRanges(pool), wanted).map(formatRange) }))
}
