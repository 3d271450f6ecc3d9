/** Pending Services, with one rule per reason of MetalLB, and Services that must not share an address. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Problem } from '../../errors/finding.ts'
import type { ClusterState } from '../cluster-state.ts'
import {
  findPool,
  formatRanges,
  lowestFreeAddress,
  POOL,
  poolOwner,
  poolSize,
  pools,
  serves,
} from '../facts/address-pools.ts'
import { expectedPool, metallbNamespace, missingPool, suggestPool } from '../facts/cloud-pools.ts'
import {
  allocationFailure,
  formatEvidence,
  holdersByAddress,
  type LoadBalancer,
  loadBalancers,
} from '../facts/load-balancers.ts'
import { type PendingCause, type PendingService, pendingCauses } from '../facts/pending-cause.ts'
import * as metallbProblems from '../findings/metallb-findings.ts'
import * as problems from '../findings/pending-findings.ts'
import { type Likelihood, links, type Rule, type RuleMatch, rule } from '../rule.ts'

type Kind = PendingCause['kind']
type CauseOf<K extends Kind> = Extract<PendingCause, { readonly kind: K }>
interface ServiceName {
  readonly namespace: string
  readonly service: string
}

/** Creates the rule for one kind of cause. */
function pendingRule<K extends Kind, P>(
  kind: K,
  id: string,
  problem: Problem<ServiceName & P>,
  facts: (cause: CauseOf<K>, service: LoadBalancer, cluster: ClusterState) => P,
  likelihood: Likelihood = 'proven',
): Rule {
  const found = (cluster: ClusterState): readonly RuleMatch<ServiceName & P>[] =>
    cluster
      .derive(pendingCauses)
      .filter((pending): pending is PendingService & { readonly cause: CauseOf<K> } => pending.cause.kind === kind)
      .map(({ service, cause }) => ({
        about: service.object,
        facts: {
          namespace: service.namespace,
          service: service.object.metadata.name,
          ...facts(cause, service, cluster),
        },
        evidence: formatEvidence(allocationFailure(service, cluster)),
        dependsOn: explainingPools(cause, service, cluster),
      }))
  return rule({
    id: `metallb/pending-${id}`,
    problem,
    looksAt: ['Service', POOL],
    also: ['Event', 'Namespace', 'core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'],
    likelihood,
    link: links.metallbUsage,
    match: found,
  })
}

/** Pools whose faults explain why a Service has no address; the pool that it needs may be missing. */
function explainingPools(cause: PendingCause, service: LoadBalancer, cluster: ClusterState): readonly KubeObject[] {
  switch (cause.kind) {
    case 'not-served':
      return [cause.pool.object]
    case 'unknown-pool':
    case 'other-pool':
      return [findPool(cluster, cause.requestedPool)?.object ?? missingPool(cause.requestedPool, cluster)]
    case 'not-in-pool': {
      const needed = neededPool(service, cause.asked, cluster)
      return needed === undefined ? [] : [findPool(cluster, needed)?.object ?? missingPool(needed, cluster)]
    }
    default:
      return []
  }
}

/** The pool that a Service names, or that of the network of its address. */
function neededPool({ pool, namespace }: LoadBalancer, asked: string, cluster: ClusterState): string | undefined {
  return pool?.value ?? expectedPool(asked, namespace, cluster)
}

/** The pool of this cloud that was probably intended, if it serves the Service. */
function ownPool(name: string | undefined, service: LoadBalancer, cluster: ClusterState): string | undefined {
  const suggested = name === undefined ? undefined : suggestPool(name, service.namespace, cluster)
  const pool = suggested === undefined ? undefined : findPool(cluster, suggested)
  return pool && serves(pool, service.object) ? pool.name : undefined
}

export const pendingRules: readonly Rule[] = [
  pendingRule('unknown-pool', 'unknown-pool', problems.pendingUnknownPool, ({ requestedPool }, service, cluster) => ({
    pool: requestedPool,
    nearest: ownPool(requestedPool, service, cluster),
  })),
  pendingRule('not-served', 'not-for-namespace', problems.pendingNotForNamespace, (cause, service, cluster) => ({
    pool: cause.pool.name,
    asked: cause.asked,
    serves: cause.pool.namespaces.join(', ') || 'Services with other labels',
    metallb: cause.pool.object.metadata.namespace ?? metallbNamespace(cluster),
    owner: poolOwner(cause.pool, cluster),
    cloudPool: ownPool(cause.pool.name, service, cluster),
  })),
  pendingRule('exhausted', 'exhausted', problems.pendingExhausted, ({ pool }, _service, cluster) => ({
    pool: pool.name,
    ranges: formatRanges(pool),
    size: String(poolSize(pool)),
    metallb: pool.object.metadata.namespace ?? metallbNamespace(cluster),
  })),
  pendingRule('not-in-pool', 'not-in-pool', problems.pendingNotInPool, ({ asked }, service, cluster) => {
    const needed = neededPool(service, asked, cluster)
    const cloudPool = ownPool(needed, service, cluster)
    const missing = cloudPool === undefined && needed !== undefined && !findPool(cluster, needed) ? needed : undefined
    return { asked, cloudPool, missing, metallb: metallbNamespace(cluster) }
  }),
  pendingRule(
    'other-pool',
    'other-pool',
    problems.pendingOtherPool,
    ({ asked, requestedPool, pool }, service, cluster) => ({
      asked,
      wanted: requestedPool,
      pool: pool.name,
      meant: ownPool(requestedPool, service, cluster),
    }),
  ),
  pendingRule('port-clash', 'port-clash', problems.pendingPortClash, ({ asked, port, holder }) => ({
    asked,
    port,
    holder: holder.name,
  })),
  pendingRule('sharing', 'sharing-refused', problems.pendingSharingRefused, ({ asked, holder }, service) => ({
    asked,
    holder: holder.name,
    key: service.key,
    holderKey: holder.key,
  })),
  pendingRule('stale', 'stale-annotation', problems.pendingStaleAnnotation, (cause, service, cluster) => {
    const stable = cause.annotation.replace('metallb.universe.tf/', 'metallb.io/')
    const pool = ownPool(service.pool?.value ?? cause.value, service, cluster)
    const better = stable.endsWith('address-pool') ? pool : suggestAddress(pool, cluster)
    return { annotation: cause.annotation, value: cause.value, stable, better }
  }),
  pendingRule('no-pools', 'no-pools', problems.pendingNoPools, () => ({})),
  pendingRule('no-auto-assign', 'nobody-serves', problems.pendingNoAutoAssign, (_cause, service, cluster) => ({
    pools: cluster
      .derive(pools)
      .filter((pool) => serves(pool, service.object))
      // A pool without a scope serves everyone, and may still be another cloud's.
      .filter((pool) => (poolOwner(pool, cluster) ?? service.namespace) === service.namespace)
      .map(({ name }) => name),
  })),
  pendingRule('two-requests', 'two-wishes', problems.pendingTwoRequests, () => ({})),
  pendingRule('family', 'wrong-family', problems.pendingWrongFamily, ({ asked, families }) => ({ asked, families })),
  pendingRule('no-address', 'no-address', problems.pendingNoAddress, ({ asked }) => ({ asked })),
  pendingRule(
    'other-class',
    'other-class',
    problems.pendingOtherClass,
    ({ loadBalancerClass }) => ({ loadBalancerClass }),
    'likely',
  ),
  pendingRule(
    'unexplained',
    'unexplained',
    problems.pendingUnexplained,
    (_cause, service, cluster) => ({ said: allocationFailure(service, cluster) !== undefined }),
    'possible',
  ),
]

function suggestAddress(pool: string | undefined, cluster: ClusterState): string | undefined {
  const found = cluster.derive(pools).find(({ name }) => name === pool)
  return found && lowestFreeAddress(found, new Set(cluster.derive(holdersByAddress).keys()))
}

const keyAcrossClouds = rule({
  id: 'metallb/key-crosses-clouds',
  problem: metallbProblems.keyAcrossClouds,
  looksAt: ['Service'],
  also: ['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'],
  link: links.metallbUsage,
  match: (cluster) => {
    const keyed = cluster.derive(loadBalancers).filter(({ key }) => key !== undefined)
    return [...groupBy(keyed, ({ key }) => key ?? '')].flatMap(([key, services]) => {
      const namespaces = [...new Set(services.map(({ namespace }) => namespace))]
      const [first, second] = namespaces.map((name) => services.find(({ namespace }) => namespace === name))
      // Services outside the clouds may share intentionally.
      if (!first || !second || !namespaces.some((namespace) => cluster.clouds.has(namespace))) return []
      const address = second.assigned.find((ip) => first.assigned.includes(ip))
      return [{ about: second.object, facts: { key, holders: namespaces, address } }]
    })
  },
})

const rabbitShares = rule({
  id: 'metallb/rabbitmq-shares-address',
  problem: metallbProblems.rabbitShares,
  looksAt: ['Service'],
  link: links.openstack,
  match: (cluster) => {
    const rabbits = cluster
      .derive(loadBalancers)
      .filter(({ ports }) => ports.includes('TCP/5671') || ports.includes('TCP/5672'))
    return rabbits.flatMap((rabbit, index) => {
      const other = rabbits
        .slice(0, index)
        .find((before) => before.namespace === rabbit.namespace && requestSameAddress(before, rabbit))
      const port = other && rabbit.ports.find((candidate) => other.ports.includes(candidate))
      if (!other || port === undefined) return []
      const address = rabbit.addresses.find((asked) => other.addresses.includes(asked))
      return [{ about: rabbit.object, facts: { address, key: rabbit.key, other: other.name, port } }]
    })
  },
})

/** Whether both request the same address, or have the same key and no address. */
function requestSameAddress(a: LoadBalancer, b: LoadBalancer): boolean {
  if (a.addresses.length > 0 && b.addresses.length > 0)
    return b.addresses.some((address) => a.addresses.includes(address))
  return a.key !== undefined && a.key === b.key
}

export const sharingRules: readonly Rule[] = [keyAcrossClouds, rabbitShares]
