/** Pending Services: one rule for each of MetalLB's reasons, its event quoted. Document 001's first case. */
import type { KubeObject } from '../../api/object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import type { Problem } from '../../errors/finding.ts'
import { groupBy } from '../../plan/collections.ts'
import type { ClusterState } from '../cluster-state.ts'
import {
  formatRanges,
  lowestFreeAddress,
  POOL,
  type Pool,
  poolOwner,
  poolSize,
  pools,
  serves,
} from '../facts/address-pools.ts'
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

/** A rule about the Services whose cause is of one kind. */
function pendingRule<K extends Kind, P>(
  kind: K,
  id: string,
  problem: Problem<ServiceName & P>,
  facts: (cause: CauseOf<K>, service: LoadBalancer, patient: ClusterState) => P,
  likelihood: Likelihood = 'proven',
): Rule {
  const found = (patient: ClusterState): readonly RuleMatch<ServiceName & P>[] =>
    patient
      .derive(pendingCauses)
      .filter((pending): pending is PendingService & { readonly cause: CauseOf<K> } => pending.cause.kind === kind)
      .map(({ service, cause }) => ({
        about: service.object,
        facts: {
          namespace: service.namespace,
          service: service.object.metadata.name,
          ...facts(cause, service, patient),
        },
        evidence: formatEvidence(allocationFailure(service, patient)),
        dependsOn: servingPools(cause),
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

/** A pool that was overwritten, or has the wrong scope, is the cause of those whom it does not serve. */
function servingPools(cause: PendingCause): readonly KubeObject[] {
  return cause.kind === 'not-served' ? [cause.pool.object] : []
}

/** The pool of this Service's cloud that is meant, when another name was written. */
function suggestPool(service: LoadBalancer, patient: ClusterState, like: string | undefined): string | undefined {
  const own = patient
    .derive(pools)
    .filter((pool) => serves(pool, service.object) && poolOwner(pool, patient) === service.namespace)
    .map(({ name }) => name)
  if (like === undefined) return own[0]
  const network = like.split('-').at(-1) ?? like
  return (
    own.find((name) => name === `${service.namespace}-${like}` || name.endsWith(`-${network}`)) ??
    closestMatch(like, own)
  )
}

function metallbNamespace(patient: ClusterState, pool?: Pool): string {
  return (pool ?? patient.derive(pools)[0])?.object.metadata.namespace ?? 'metallb-system'
}

export const pendingRules: readonly Rule[] = [
  pendingRule('unknown-pool', 'unknown-pool', problems.pendingUnknownPool, ({ wanted }, service, patient) => ({
    pool: wanted,
    nearest: suggestPool(service, patient, wanted),
  })),
  pendingRule('not-served', 'not-for-namespace', problems.pendingNotForNamespace, (cause, service, patient) => ({
    pool: cause.pool.name,
    asked: cause.asked,
    serves: cause.pool.namespaces.join(', ') || 'Services with other labels',
    metallb: metallbNamespace(patient, cause.pool),
    own: suggestPool(service, patient, cause.pool.name),
  })),
  pendingRule('exhausted', 'exhausted', problems.pendingExhausted, ({ pool }, _service, patient) => ({
    pool: pool.name,
    ranges: formatRanges(pool),
    size: String(poolSize(pool)),
    metallb: metallbNamespace(patient, pool),
  })),
  pendingRule('not-in-pool', 'not-in-pool', problems.pendingNotInPool, ({ asked }, service, patient) => ({
    asked,
    own: suggestPool(service, patient, service.pool?.value),
    metallb: metallbNamespace(patient),
  })),
  pendingRule('other-pool', 'other-pool', problems.pendingOtherPool, ({ asked, wanted, pool }) => ({
    asked,
    wanted,
    pool: pool.name,
  })),
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
  pendingRule('stale', 'stale-annotation', problems.pendingStaleAnnotation, (cause, service, patient) => {
    const stable = cause.annotation.replace('metallb.universe.tf/', 'metallb.io/')
    const pool = suggestPool(service, patient, service.pool?.value ?? cause.value)
    const better = stable.endsWith('address-pool') ? pool : suggestAddress(pool, patient)
    return { annotation: cause.annotation, value: cause.value, stable, better }
  }),
  pendingRule('no-pools', 'no-pools', problems.pendingNoPools, () => ({})),
  pendingRule('nobody-serves', 'nobody-serves', problems.pendingNoAutoAssign, (_cause, service, patient) => ({
    pools: patient
      .derive(pools)
      .filter((pool) => serves(pool, service.object))
      .map(({ name }) => name),
  })),
  pendingRule('two-wishes', 'two-wishes', problems.pendingTwoRequests, () => ({})),
  pendingRule('family', 'wrong-family', problems.pendingWrongFamily, ({ asked, families }) => ({
    asked,
    families,
  })),
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
    (_cause, service, patient) => ({ said: allocationFailure(service, patient) !== undefined }),
    'possible',
  ),
]

function suggestAddress(pool: string | undefined, patient: ClusterState): string | undefined {
  const found = patient.derive(pools).find(({ name }) => name === pool)
  return found && lowestFreeAddress(found, new Set(patient.derive(holdersByAddress).keys()))
}

const keyAcrossClouds = rule({
  id: 'metallb/key-crosses-clouds',
  problem: metallbProblems.keyAcrossClouds,
  looksAt: ['Service'],
  also: ['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'],
  likelihood: 'proven',
  link: links.metallbUsage,
  match: (patient) => {
    const keyed = patient.derive(loadBalancers).filter(({ key }) => key !== undefined)
    return [...groupBy(keyed, ({ key }) => key ?? '')].flatMap(([key, services]) => {
      const namespaces = [...new Set(services.map(({ namespace }) => namespace))]
      const [first, second] = namespaces.map((one) => services.find(({ namespace }) => namespace === one))
      // Others may share on purpose.
      if (!first || !second || !namespaces.some((namespace) => patient.clouds.has(namespace))) return []
      const address = second.given.find((one) => first.given.includes(one))
      return [{ about: second.object, facts: { key, holders: namespaces, address } }]
    })
  },
})

const rabbitShares = rule({
  id: 'metallb/rabbitmq-shares-address',
  problem: metallbProblems.rabbitShares,
  looksAt: ['Service'],
  likelihood: 'proven',
  link: links.openstack,
  match: (patient) => {
    const rabbits = patient
      .derive(loadBalancers)
      .filter(({ ports }) => ports.includes('TCP/5671') || ports.includes('TCP/5672'))
    return rabbits.flatMap((rabbit, index) => {
      const other = rabbits
        .slice(0, index)
        .find((before) => before.namespace === rabbit.namespace && requestSameAddress(before, rabbit))
      const port = other && rabbit.ports.find((wanted) => other.ports.includes(wanted))
      if (!other || port === undefined) return []
      const address = rabbit.addresses.find((asked) => other.addresses.includes(asked))
      return [{ about: rabbit.object, facts: { address, key: rabbit.key, other: other.name, port } }]
    })
  },
})

/** The same address asked for by name, or one key and no address: MetalLB would put them together. */
function requestSameAddress(a: LoadBalancer, b: LoadBalancer): boolean {
  if (a.addresses.length > 0 && b.addresses.length > 0)
    return b.addresses.some((address) => a.addresses.includes(address))
  return a.key !== undefined && a.key === b.key
}

export const sharingRules: readonly Rule[] = [keyAcrossClouds, rabbitShares]
