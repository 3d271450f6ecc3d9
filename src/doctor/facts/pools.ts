/** MetalLB's pools as its allocator sees them: ranges, whom they serve, who advertises them. */
import type { KubeObject } from '../../api/object.ts'
import { at, listAt } from '../../api/raw-object.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import { rangeOf } from '../../net/cidr.ts'
import {
  compareRanges,
  formatRange,
  parseRange,
  type Range,
  rangeContains,
  rangeSize,
  rangesOverlap,
} from '../../net/range.ts'
import { recordOf, textsOf } from '../../yaml/loose.ts'
import type { Patient } from '../patient.ts'
import { cloudSubnets } from './networks.ts'
import { matchesLabels } from './selectors.ts'

export const POOL = 'metallb.io/IPAddressPool'
export const L2 = 'metallb.io/L2Advertisement'
export const BGP = 'metallb.io/BGPAdvertisement'

export interface Pool {
  readonly object: KubeObject
  readonly name: string
  readonly ranges: readonly Range[]
  readonly autoAssign: boolean
  /** Namespaces that it is pinned to, by name or by selector; empty means all of them. */
  readonly namespaces: readonly string[]
  /** It has namespace selectors, and none matches any namespace: MetalLB then lets everybody in. */
  readonly openBySelector: boolean
  readonly serviceSelectors: readonly unknown[]
}

export function pools(patient: Patient): readonly Pool[] {
  return patient.all(POOL).map((object) => poolOf(object, patient))
}

export function poolNamed(patient: Patient, name: string): Pool | undefined {
  return patient.derive(poolsByName).get(name)
}

function poolsByName(patient: Patient): ReadonlyMap<string, Pool> {
  return new Map(patient.derive(pools).map((pool) => [pool.name, pool]))
}

/** The pool that holds an address. */
export function poolOfAddress(patient: Patient, text: string): Pool | undefined {
  const address = parseAddress(text)
  if (!address) return undefined
  const spans = patient.derive(poolSpans)
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

function poolSpans(patient: Patient): readonly (Range & { readonly pool: Pool })[] {
  return patient
    .derive(pools)
    .flatMap((pool) => pool.ranges.map((range) => ({ ...range, pool })))
    .sort(compareRanges)
}

function poolOf(object: KubeObject, patient: Patient): Pool {
  const allocation = at(object, 'spec', 'serviceAllocation')
  const selectors = listAt(allocation, 'namespaceSelectors')
  const selected = patient
    .all('Namespace')
    .filter(({ metadata }) => selectors.some((one) => matchesLabels(one, metadata.labels)))
    .map(({ metadata }) => metadata.name)
  const named = textsOf(recordOf(allocation)['namespaces'])
  return {
    object,
    name: object.metadata.name,
    ranges: textsOf(recordOf(object['spec'])['addresses']).flatMap((text) => parseRange(text) ?? []),
    autoAssign: at(object, 'spec', 'autoAssign') !== false,
    namespaces: [...new Set([...named, ...selected])],
    openBySelector: named.length === 0 && selectors.length > 0 && selected.length === 0,
    serviceSelectors: listAt(allocation, 'serviceSelectors'),
  }
}

/** Whether MetalLB gives this Service an address of the pool, whoever asked for it. */
export function serves(pool: Pool, { metadata }: KubeObject): boolean {
  const here = pool.namespaces.length === 0 || pool.namespaces.includes(metadata.namespace ?? '')
  const labelled =
    pool.serviceSelectors.length === 0 ||
    pool.serviceSelectors.some((one) => matchesLabels(one, metadata.labels))
  return here && labelled
}

export function sizeOfPool({ ranges }: Pool): bigint {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0n)
}

export function rangesText({ ranges }: Pool): string {
  return ranges.map(formatRange).join(', ') || 'nothing'
}

/** The lowest address that nobody holds. */
export function freeIn(pool: Pool, held: ReadonlySet<string>): string | undefined {
  for (const { family, first, last } of pool.ranges) {
    // A pool has at most some hundreds of holders, so a free one is near.
    const end = first + BigInt(held.size)
    for (let value = first; value <= last && value <= end; value += 1n) {
      const text = formatAddress({ family, value })
      if (!held.has(text)) return text
    }
  }
  return undefined
}

/** Whose pool it is: the plan says so, its name does, or its addresses lie in the network of one cloud alone. */
export function ownerOf(pool: Pool, patient: Patient): string | undefined {
  return patient.derive(poolOwners).get(pool.name)
}

function poolOwners(patient: Patient): ReadonlyMap<string, string> {
  const planned = (patient.plan?.clouds ?? []).flatMap(({ namespace, networks }) =>
    networks.flatMap(({ pool }) => (pool === undefined ? [] : [[pool, namespace] as const])),
  )
  const byPlan = new Map(planned)
  // The longest name first: openstack2-internalapi is not the pool "2-internalapi" of openstack.
  const clouds = [...patient.clouds].sort((a, b) => b.length - a.length)
  return new Map(
    patient.derive(pools).flatMap((pool) => {
      const owner =
        byPlan.get(pool.name) ??
        clouds.find((namespace) => pool.name.startsWith(`${namespace}-`)) ??
        ownerByNetwork(pool, patient)
      return owner === undefined ? [] : [[pool.name, owner] as const]
    }),
  )
}

function ownerByNetwork({ ranges }: Pool, patient: Patient): string | undefined {
  const around = patient
    .derive(cloudSubnets)
    .filter(({ cidr }) => ranges.some((range) => rangesOverlap(rangeOf(cidr), range)))
  const owners = new Set(around.map(({ namespace }) => namespace))
  return owners.size === 1 ? around[0]?.namespace : undefined
}

export function advertises(advertisement: KubeObject, pool: Pool): boolean {
  const named = textsOf(recordOf(advertisement['spec'])['ipAddressPools'])
  const selectors = listAt(advertisement, 'spec', 'ipAddressPoolSelectors')
  if (named.length === 0 && selectors.length === 0) return true
  return named.includes(pool.name) || selectors.some((one) => matchesLabels(one, pool.object.metadata.labels))
}
