/** Problems of MetalLB pools and advertisements. */

import { groupBy } from '../../api/collections.ts'
import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getConditions, getString } from '../../api/raw-object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { formatRange, intersection, type Range } from '../../net/range.ts'
import type { ClusterState } from '../cluster-state.ts'
import {
  advertises,
  BGP,
  cloudByPrefix,
  findPoolByAddress,
  formatRanges,
  isOwnerGuessed,
  L2,
  POOL,
  type Pool,
  poolOwner,
  pools,
} from '../facts/address-pools.ts'
import { missingPool, suggestPool } from '../facts/cloud-pools.ts'
import { holdersByAddress, type LoadBalancer, loadBalancers } from '../facts/load-balancers.ts'
import * as problems from '../findings/metallb-findings.ts'
import { links, type Rule, type RuleMatch, rule } from '../rule.ts'

const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'
const NET_CONFIG = 'network.openstack.org/NetConfig'
const clouds = [CONTROL_PLANE, NET_CONFIG]

const metallbNamespace = ({ object }: Pool): string => object.metadata.namespace ?? 'metallb-system'

/** Clouds and their Services, by requested pool. */
function requestersByPool(cluster: ClusterState): ReadonlyMap<string, ReadonlyMap<string, readonly LoadBalancer[]>> {
  const found = new Map<string, Map<string, LoadBalancer[]>>()
  for (const service of cluster.derive(loadBalancers)) {
    if (service.pool === undefined || !cluster.clouds.has(service.namespace)) continue
    const byCloud = found.get(service.pool.value) ?? new Map<string, LoadBalancer[]>()
    byCloud.set(service.namespace, [...(byCloud.get(service.namespace) ?? []), service])
    found.set(service.pool.value, byCloud)
  }
  return found
}

/** Services with an address of a pool, by pool. */
function holdersByPool(cluster: ClusterState): ReadonlyMap<string, readonly LoadBalancer[]> {
  const found = new Map<string, LoadBalancer[]>()
  for (const [address, all] of cluster.derive(holdersByAddress)) {
    const pool = findPoolByAddress(cluster, address)
    if (pool) found.set(pool.name, [...(found.get(pool.name) ?? []), ...all])
  }
  return found
}

const samePoolName = rule({
  id: 'metallb/same-pool-name',
  problem: problems.samePoolName,
  looksAt: ['Service', POOL],
  also: [...clouds, L2],
  match: (cluster) =>
    cluster.derive(pools).flatMap((pool) => {
      const asking = cluster.derive(requestersByPool).get(pool.name)
      if (!asking || asking.size < 2 || hasCloudPrefix(pool, cluster)) return []
      const losers = [...asking].filter(([cloud, services]) => hasLostPool(pool, cloud, services, cluster))
      const [holder] = [...asking.keys()].filter((cloud) => !losers.some(([loser]) => loser === cloud))
      if (losers.length === 0 || holder === undefined) return []
      const advertisements = cluster.all(L2).filter((advertisement) => advertises(advertisement, pool))
      return [
        {
          about: pool.object,
          facts: { pool: pool.name, holder, losers: losers.map(([cloud]) => cloud), ranges: formatRanges(pool) },
          evidence: [
            ...losers.flatMap(([, services]) => services.slice(0, 3).map(({ name }) => `Service ${name} requests it`)),
            ...advertisements.map(({ metadata }) => `L2Advertisement ${metadata.name} announces it`),
          ],
        },
      ]
    }),
})

/** A pool whose name starts with a namespace belongs to that cloud. */
function hasCloudPrefix({ name }: Pool, { clouds: all }: ClusterState): boolean {
  return [...all].some((namespace) => name.startsWith(`${namespace}-`))
}

/** The pool serves only other clouds, or contains none of the addresses that this cloud requests. */
function hasLostPool(pool: Pool, cloud: string, services: readonly LoadBalancer[], cluster: ClusterState): boolean {
  if (pool.namespaces.length > 0) return !pool.namespaces.includes(cloud)
  const asked = services.flatMap(({ addresses }) => addresses)
  return asked.length > 0 && asked.every((address) => findPoolByAddress(cluster, address) !== pool)
}

const wrongRange = rule({
  id: 'metallb/wrong-range',
  problem: problems.wrongRange,
  looksAt: ['Service', POOL],
  also: clouds,
  match: (cluster) =>
    cluster.derive(pools).flatMap((pool) => {
      const owner = poolOwner(pool, cluster)
      if (owner === undefined) return []
      const takers = groupBy(
        (cluster.derive(holdersByPool).get(pool.name) ?? []).filter(({ namespace }) => namespace !== owner),
        ({ namespace }) => namespace,
      )
      return [...takers].map(([taker, services]) => ({
        about: pool.object,
        path: 'spec.serviceAllocation.namespaces',
        facts: {
          pool: pool.name,
          owner,
          taker,
          services: services.map(({ object, assigned }) => `${object.metadata.name} ${assigned.join(' ')}`),
          scope: pool.namespaces,
          metallb: metallbNamespace(pool),
          isGuessed: isOwnerGuessed(pool, cluster),
        },
      }))
    }),
})

const manyRanges = rule({
  id: 'metallb/one-pool-many-ranges',
  problem: problems.manyRanges,
  looksAt: [POOL],
  also: ['Service', ...clouds],
  match: (cluster) =>
    cluster.derive(pools).flatMap((pool) => {
      const ofFamily = groupBy(pool.ranges, ({ family }) => family)
      const [several] = [...ofFamily.values()].filter((ranges) => ranges.length > 1)
      const namespaces =
        pool.namespaces.length > 0
          ? pool.namespaces
          : [...(cluster.derive(requestersByPool).get(pool.name)?.keys() ?? [])]
      const [first] = several ?? []
      if (!several || !first || namespaces.length < 2) return []
      const ranges = several.map(formatRange)
      return [
        {
          about: pool.object,
          path: 'spec.addresses',
          facts: { pool: pool.name, ranges, namespaces, first: formatRange(first) },
        },
      ]
    }),
})

const poolsOverlap = rule({
  id: 'metallb/pools-overlap',
  problem: problems.poolsOverlap,
  looksAt: [POOL],
  match: (cluster) => {
    const spans = cluster
      .derive(pools)
      .flatMap((pool) => pool.ranges.map((range) => ({ ...range, pool })))
      .sort((a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
    const found: RuleMatch<{ pool: string; other: string; range: string; metallb: string }>[] = []
    let reach: (Range & { readonly pool: Pool }) | undefined
    for (const span of spans) {
      const both = reach && intersection(reach, span)
      if (reach && both)
        found.push({
          about: span.pool.object,
          path: 'spec.addresses',
          facts: {
            pool: span.pool.name,
            other: reach.pool.name,
            range: formatRange(both),
            metallb: metallbNamespace(span.pool),
          },
        })
      if (!reach || span.family !== reach.family || span.last > reach.last) reach = span
    }
    return found
  },
})

const configurationRefused = rule({
  id: 'metallb/configuration-refused',
  problem: problems.configurationRefused,
  looksAt: ['metallb.io/ConfigurationState'],
  link: links.metallbUsage,
  match: (cluster) =>
    cluster
      .all('metallb.io/ConfigurationState')
      .filter((state) => getString(state, 'status', 'result') === 'Invalid')
      .map((state) => ({
        about: state,
        facts: {
          program: state.metadata.name,
          reason: getString(state, 'status', 'errorSummary') ?? 'no reason given',
        },
        evidence: getConditions(state).flatMap(({ status, message }) =>
          status === 'False' && message ? [message] : [],
        ),
        dependsOn: cluster.all(POOL),
      })),
})

const openPool = rule({
  id: 'metallb/open-pool',
  problem: problems.openPool,
  looksAt: [POOL],
  also: [...clouds, 'Namespace'],
  match: (cluster) =>
    cluster.derive(pools).flatMap((pool) => {
      const owner = poolOwner(pool, cluster)
      const open = pool.namespaces.length === 0 && pool.serviceSelectors.length === 0
      if (owner === undefined || !open || (pool.openBySelector && !cluster.knows('Namespace'))) return []
      const why = pool.openBySelector ? ('empty selector' as const) : ('no scope' as const)
      const isGuessed = isOwnerGuessed(pool, cluster)
      return [
        { about: pool.object, facts: { pool: pool.name, owner, metallb: metallbNamespace(pool), why, isGuessed } },
      ]
    }),
})

const notAdvertised = rule({
  id: 'metallb/not-advertised',
  problem: problems.notAdvertised,
  looksAt: [POOL, L2, 'Service'],
  also: [BGP],
  link: links.metallbL2,
  match: (cluster) => {
    // If BGPAdvertisements were not read, all pools may be announced by BGP.
    if (!cluster.knows(BGP) && cluster.all(L2).length === 0) return []
    const advertisements = [...cluster.all(L2), ...cluster.all(BGP)]
    return cluster.derive(pools).flatMap((pool) => {
      const services = cluster.derive(holdersByPool).get(pool.name)?.length ?? 0
      if (services === 0 || advertisements.some((advertisement) => advertises(advertisement, pool))) return []
      return [{ about: pool.object, facts: { pool: pool.name, services, metallb: metallbNamespace(pool) } }]
    })
  },
})

const unknownPoolAdvertised = rule({
  id: 'metallb/advertises-unknown-pool',
  problem: problems.unknownPoolAdvertised,
  looksAt: [POOL],
  also: [L2, BGP],
  link: links.metallbL2,
  match: (cluster) => {
    const known = new Set(cluster.derive(pools).map(({ name }) => name))
    return [...cluster.all(L2), ...cluster.all(BGP)].flatMap((advertisement) =>
      advertisedPools(advertisement)
        .filter((pool) => !known.has(pool))
        .map((pool) => ({
          about: advertisement,
          path: 'spec.ipAddressPools',
          facts: {
            advertisement: advertisement.metadata.name,
            pool,
            known: suggestAdvertised(pool, advertisement, cluster),
          },
          dependsOn: [missingPool(pool, cluster)],
        })),
    )
  },
})

/** The pool that was probably intended; if the cloud is unknown, only one that belongs to no cloud. */
function suggestAdvertised(pool: string, { metadata }: KubeObject, cluster: ClusterState): string | undefined {
  const cloud =
    cloudByPrefix(pool, cluster) ??
    cloudByPrefix(metadata.name, cluster) ??
    [...cluster.clouds].find((namespace) => metadata.name.endsWith(`-${namespace}`))
  if (cloud !== undefined) return suggestPool(pool, cloud, cluster)
  const free = cluster.derive(pools).filter((candidate) => poolOwner(candidate, cluster) === undefined)
  return closestMatch(
    pool,
    free.map(({ name }) => name),
  )
}

function advertisedPools(advertisement: KubeObject): readonly string[] {
  return asStrings(asRecord(advertisement['spec'])['ipAddressPools'])
}

const leftoverPool = rule({
  id: 'metallb/unprefixed-leftover',
  problem: problems.leftoverPool,
  looksAt: [POOL, 'Service'],
  also: clouds,
  likelihood: 'likely',
  match: (cluster) => {
    const all = cluster.derive(pools)
    const prefixed = new Map(
      all.flatMap((pool) => {
        const cloud = [...cluster.clouds].find((namespace) => pool.name.startsWith(`${namespace}-`))
        return cloud === undefined ? [] : [[pool.name, cloud] as const]
      }),
    )
    return all.flatMap((pool) => {
      const beside = [...prefixed].filter(([name]) => name.endsWith(`-${pool.name}`)).map(([, cloud]) => cloud)
      const used = cluster.derive(holdersByPool).has(pool.name) || cluster.derive(requestersByPool).has(pool.name)
      if (beside.length === 0 || used) return []
      return [{ about: pool.object, facts: { pool: pool.name, clouds: beside, metallb: metallbNamespace(pool) } }]
    })
  },
})

const BGP_CONFIGURATION = 'network.openstack.org/BGPConfiguration'

/** The namespace is metallb-system with the MetalLB operator of older OpenShift, openshift-frr-k8s with that of newer. */
const frrNamespace = rule({
  id: 'metallb/frr-namespace',
  problem: problems.frrNamespace,
  looksAt: [BGP_CONFIGURATION, 'apps/DaemonSet'],
  match: (cluster) => {
    const running = cluster
      .all('apps/DaemonSet')
      .filter(({ metadata }) => /^frr-k8s(-daemon)?$/.test(metadata.name))
      .map(({ metadata }) => metadata.namespace ?? '')
    return cluster.all(BGP_CONFIGURATION).flatMap((about) => {
      const namespace = getString(about, 'spec', 'frrConfigurationNamespace')
      if (namespace === undefined || running.length === 0 || running.includes(namespace)) return []
      const facts = { configuration: about.metadata.name, cloud: about.metadata.namespace ?? '', namespace, running }
      return [{ about, path: 'spec.frrConfigurationNamespace', facts }]
    })
  },
})

export const metallbRules: readonly Rule[] = [
  poolsOverlap,
  samePoolName,
  configurationRefused,
  wrongRange,
  manyRanges,
  notAdvertised,
  unknownPoolAdvertised,
  openPool,
  leftoverPool,
  frrNamespace,
]
