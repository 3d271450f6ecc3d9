/**
 * Pools that stand where a cloud's own pool is to be: what of them must go, and what they keep. Pure.
 *
 * MetalLB refuses two pools with one range. A pool that holds other ranges as well serves somebody else too: it only
 * lets go of ours.
 */
import type { KubeObject } from '../../api/object.ts'
import { listAt } from '../../api/raw-object.ts'
import { parseRange, rangesOverlap } from '../../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../../net/range-set.ts'
import { rangeText } from '../../render/spans.ts'

export interface OldPool {
  readonly pool: KubeObject
  /** What it holds afterwards; empty: it goes. */
  readonly keeps: readonly string[]
}

export function rangesOf(pool: KubeObject): RangeSet {
  return rangeSet(addressesOf(pool).flatMap((text) => parseRange(text) ?? []))
}

export function addressesOf(pool: KubeObject): readonly string[] {
  return listAt(pool, 'spec', 'addresses').filter((one): one is string => typeof one === 'string')
}

/** Pools of other names that overlap the desired one. */
export function inTheWay(desired: KubeObject, pools: readonly KubeObject[]): readonly OldPool[] {
  const wanted = rangesOf(desired)
  return pools
    .filter(({ metadata }) => metadata.name !== desired.metadata.name)
    .filter((pool) => rangesOf(pool).some((range) => wanted.some((one) => rangesOverlap(one, range))))
    .map((pool) => ({ pool, keeps: subtract(rangesOf(pool), wanted).map(rangeText) }))
}
