/**
 * Finds the pools and advertisements that a cloud's own pools replace, and what of them must stay. Pure.
 *
 * MetalLB refuses two pools with one range. A pool that has other ranges too serves other networks: it only loses ours.
 */
import type { KubeObject } from '../../api/object.ts'
import { getList } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseRange, rangesOverlap } from '../../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../../net/range-set.ts'
import { formatRange } from '../../render/spans.ts'
import { oldObjectKept } from '../findings/adopt.ts'

export interface OldPool {
  readonly pool: KubeObject
  /** Ranges that it keeps; without any it is deleted. */
  readonly remaining: readonly string[]
}

export function poolRanges(pool: KubeObject): RangeSet {
  return rangeSet(poolAddresses(pool).flatMap((text) => parseRange(text) ?? []))
}

export function poolAddresses(pool: KubeObject): readonly string[] {
  return getList(pool, 'spec', 'addresses').filter((address): address is string => typeof address === 'string')
}

/** Pools of other names that overlap the desired one. */
export function overlappingPools(desired: KubeObject, pools: readonly KubeObject[]): readonly OldPool[] {
  const desiredRanges = poolRanges(desired)
  return pools
    .filter(({ metadata }) => metadata.name !== desired.metadata.name)
    .filter((pool) => poolRanges(pool).some((range) => desiredRanges.some((other) => rangesOverlap(other, range))))
    .map((pool) => ({ pool, remaining: subtract(poolRanges(pool), desiredRanges).map(formatRange) }))
}

interface MovingNetwork {
  readonly network: string
  readonly pool: KubeObject
  readonly old: readonly OldPool[]
}

/** Old advertisements that announce only our pools are unused after the move; others stay and are reported. */
export function oldAdvertisements(
  live: SnapshotIndex,
  networks: readonly MovingNetwork[],
  rendered: readonly KubeObject[],
): { readonly unused: readonly KubeObject[]; readonly findings: readonly Finding[] } {
  const livePools = new Set(live.all('metallb.io/IPAddressPool').map(({ metadata }) => metadata.name))
  const newPools = new Set(networks.map(({ pool }) => pool.metadata.name))
  const deletedPools = new Set(
    networks
      .flatMap(({ old }) => old)
      .filter(({ remaining }) => remaining.length === 0)
      .map(({ pool }) => pool.metadata.name),
  )
  // After an interrupted move the old pool is gone already; it had the name of the network.
  const ownPools = new Set([...deletedPools, ...networks.map(({ network }) => network), ...newPools])
  // A live pool that stays and is not the new one only has the name of one of our networks.
  const isForeign = (pool: string): boolean =>
    !ownPools.has(pool) || (livePools.has(pool) && !deletedPools.has(pool) && !newPools.has(pool))
  const names = new Set(rendered.map(({ metadata }) => metadata.name))
  const unused: KubeObject[] = []
  const findings: Finding[] = []
  for (const advertisement of [...live.all('metallb.io/L2Advertisement'), ...live.all('metallb.io/BGPAdvertisement')]) {
    const { kind, metadata } = advertisement
    const pools = getList(advertisement, 'spec', 'ipAddressPools').filter((pool) => typeof pool === 'string')
    if (names.has(metadata.name) || !pools.some((pool) => ownPools.has(pool))) continue
    const others = pools.filter(isForeign)
    if (others.length === 0) unused.push(advertisement)
    else {
      const why = `it also announces ${others.join(', ')}`
      findings.push(finding(oldObjectKept, { object: `${kind} ${metadata.name}`, why }))
    }
  }
  return { unused, findings }
}
