/** Parses MetalLB pools as its allocator does: ranges, scope, owner and advertisements. */

import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getField, getList } from '../../api/raw-object.ts'
import { matchesLabels } from '../../api/selectors.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import { cidrRange } from '../../net/cidr.ts'
import {
  compareRanges,
  formatRange,
  parseRange,
  type Range,
  rangeContains,
  rangeSize,
  rangesOverlap,
} from '../../net/range.ts'
import type { ClusterState } from '../cluster-state.ts'
import { cloudSubnets } from './host-networks.ts'

export const POOL = 'metallb.io/IPAddressPool'
export const L2 = 'metallb.io/L2Advertisement'
export const BGP = 'metallb.io/BGPAdvertisement'

export interface Pool {
  readonly object: KubeObject
  readonly name: string
  readonly ranges: readonly Range[]
  readonly autoAssign: boolean
  /** Namespaces that it serves, by name or selector; empty means all. */
  readonly namespaces: readonly string[]
  /** Its selectors match no namespace: MetalLB then serves every namespace. */
  readonly openBySelector: boolean
  readonly serviceSelectors: readonly unknown[]
}

export function pools(cluster: ClusterState): readonly Pool[] {
  return cluster.all(POOL).map((object) => parsePool(object, cluster))
}

export function findPool(cluster: ClusterState, name: string): Pool | undefined {
  return cluster.derive(poolsByName).get(name)
}

function poolsByName(cluster: ClusterState): ReadonlyMap<string, Pool> {
  return new Map(cluster.derive(pools).map((pool) => [pool.name, pool]))
}

/** The pool that contains an address. */
export function findPoolByAddress(cluster: ClusterState, text: string): Pool | undefined {
  const address = parseAddress(text)
  if (!address) return undefined
  const spans = cluster.derive(poolSpans)
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const span = spans[middle]
    if (span && (span.family - address.family || (span.first <= address.value ? -1 : 1)) < 0) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span && rangeContains(span, address) ? span.pool : undefined
}

function poolSpans(cluster: ClusterState): readonly (Range & { readonly pool: Pool })[] {
  return cluster
    .derive(pools)
    .flatMap((pool) => pool.ranges.map((range) => ({ ...range, pool })))
    .sort(compareRanges)
}

function parsePool(object: KubeObject, cluster: ClusterState): Pool {
  const allocation = getField(object, 'spec', 'serviceAllocation')
  const selectors = getList(allocation, 'namespaceSelectors')
  const selected = cluster
    .all('Namespace')
    .filter(({ metadata }) => selectors.some((selector) => matchesLabels(selector, metadata.labels)))
    .map(({ metadata }) => metadata.name)
  const named = asStrings(asRecord(allocation)['namespaces'])
  return {
    object,
    name: object.metadata.name,
    ranges: asStrings(asRecord(object['spec'])['addresses']).flatMap((text) => parseRange(text) ?? []),
    autoAssign: getField(object, 'spec', 'autoAssign') !== false,
    namespaces: [...new Set([...named, ...selected])],
    openBySelector: named.length === 0 && selectors.length > 0 && selected.length === 0,
    serviceSelectors: getList(allocation, 'serviceSelectors'),
  }
}

/** Whether the scope of the pool includes the Service. */
export function serves(pool: Pool, { metadata }: KubeObject): boolean {
  const inScope = pool.namespaces.length === 0 || pool.namespaces.includes(metadata.namespace ?? '')
  const labelled =
    pool.serviceSelectors.length === 0 ||
    pool.serviceSelectors.some((serviceSelector) => matchesLabels(serviceSelector, metadata.labels))
  return inScope && labelled
}

export function poolSize({ ranges }: Pool): bigint {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0n)
}

export function formatRanges({ ranges }: Pool): string {
  return ranges.map(formatRange).join(', ') || 'nothing'
}

/** The lowest address that is not in use. */
export function lowestFreeAddress(pool: Pool, held: ReadonlySet<string>): string | undefined {
  for (const { family, first, last } of pool.ranges) {
    // At most `held.size` addresses are in use, so a free one is within that distance.
    const end = first + BigInt(held.size)
    for (let value = first; value <= last && value <= end; value += 1n) {
      const text = formatAddress({ family, value })
      if (!held.has(text)) return text
    }
  }
  return undefined
}

/** The cloud of a pool: from the plan, from its name, or from the only network that contains its addresses. */
export function poolOwner(pool: Pool, cluster: ClusterState): string | undefined {
  return cluster.derive(poolOwners).get(pool.name)?.namespace
}

/** The owner is the cloud whose network has the pool's ranges: neither the plan nor its name says that the pool is the cloud's. */
export function isOwnerGuessed(pool: Pool, cluster: ClusterState): boolean {
  return cluster.derive(poolOwners).get(pool.name)?.isGuessed ?? false
}

interface PoolOwner {
  readonly namespace: string
  readonly isGuessed: boolean
}

function poolOwners(cluster: ClusterState): ReadonlyMap<string, PoolOwner> {
  const planned = (cluster.plan?.clouds ?? []).flatMap(({ namespace, networks }) =>
    networks.flatMap(({ pool }) => (pool === undefined ? [] : [[pool, namespace] as const])),
  )
  const byPlan = new Map(planned)
  return new Map(
    cluster.derive(pools).flatMap((pool) => {
      const known = byPlan.get(pool.name) ?? cloudByPrefix(pool.name, cluster)
      const namespace = known ?? ownerByNetwork(pool, cluster)
      return namespace === undefined ? [] : [[pool.name, { namespace, isGuessed: known === undefined }] as const]
    }),
  )
}

/** Pools and advertisements are named `<namespace>-<network>`. */
export function cloudByPrefix(name: string, cluster: ClusterState): string | undefined {
  return cluster.derive(cloudsByLength).find((namespace) => name.startsWith(`${namespace}-`))
}

/** Longest name first: `openstack-2-internalapi` may belong to the cloud `openstack-2`. */
function cloudsByLength({ clouds }: ClusterState): readonly string[] {
  return [...clouds].sort((a, b) => b.length - a.length)
}

function ownerByNetwork({ ranges }: Pool, cluster: ClusterState): string | undefined {
  const around = cluster
    .derive(cloudSubnets)
    .filter(({ cidr }) => ranges.some((range) => rangesOverlap(cidrRange(cidr), range)))
  const owners = new Set(around.map(({ namespace }) => namespace))
  return owners.size === 1 ? around[0]?.namespace : undefined
}

export function advertises(advertisement: KubeObject, pool: Pool): boolean {
  const named = asStrings(asRecord(advertisement['spec'])['ipAddressPools'])
  const selectors = getList(advertisement, 'spec', 'ipAddressPoolSelectors')
  if (named.length === 0 && selectors.length === 0) return true
  return named.includes(pool.name) || selectors.some((selector) => matchesLabels(selector, pool.object.metadata.labels))
}
