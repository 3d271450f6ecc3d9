/** Pending Services: one rule for each of MetalLB's reasons, its event quoted. Document 001's first case. */
import type { KubeObject } from '../../api/object.ts'
import * as problems from '../../errors/doctor-pending.ts'
import type { Problem } from '../../errors/finding.ts'
import { nearest } from '../../errors/nearest.ts'
import { type Balanced, holders, quoted, refusalOf } from '../facts/load-balancers.ts'
import { type Pending, type PendingCause, pendingCauses } from '../facts/pending-cause.ts'
import { freeIn, ownerOf, POOL, type Pool, pools, rangesText, serves, sizeOfPool } from '../facts/pools.ts'
import { links } from '../links.ts'
import type { Patient } from '../patient.ts'
import { type Case, type Likelihood, type Rule, rule } from '../rule.ts'

type Kind = PendingCause['kind']
type CauseOf<K extends Kind> = Extract<PendingCause, { readonly kind: K }>
interface Named {
  readonly namespace: string
  readonly service: string
}

/** A rule about the Services whose cause is of one kind. */
function pendingRule<K extends Kind, P>(
  kind: K,
  id: string,
  problem: Problem<Named & P>,
  facts: (cause: CauseOf<K>, service: Balanced, patient: Patient) => P,
  likelihood: Likelihood = 'proven',
): Rule {
  const found = (patient: Patient): readonly Case<Named & P>[] =>
    patient
      .derive(pendingCauses)
      .filter((one): one is Pending & { readonly cause: CauseOf<K> } => one.cause.kind === kind)
      .map(({ service, cause }) => ({
        about: service.object,
        facts: {
          namespace: service.namespace,
          service: service.object.metadata.name,
          ...facts(cause, service, patient),
        },
        saw: quoted(refusalOf(service, patient)),
        restsOn: poolsIn(cause),
      }))
  return rule({
    id: `metallb/pending-${id}`,
    problem,
    looksAt: ['Service', POOL],
    also: [
      'Event',
      'Namespace',
      'core.openstack.org/OpenStackControlPlane',
      'network.openstack.org/NetConfig',
    ],
    likelihood,
    link: links.metallbUsage,
    holds: found,
  })
}

/** A pool that was overwritten, or has the wrong scope, is the cause of those whom it does not serve. */
function poolsIn(cause: PendingCause): readonly KubeObject[] {
  return cause.kind === 'not-served' ? [cause.pool.object] : []
}

/** The pool of this Service's cloud that is meant, when another name was written. */
function ownPool(service: Balanced, patient: Patient, like: string | undefined): string | undefined {
  const own = patient
    .derive(pools)
    .filter((pool) => serves(pool, service.object) && ownerOf(pool, patient) === service.namespace)
    .map(({ name }) => name)
  if (like === undefined) return own[0]
  const network = like.split('-').at(-1) ?? like
  return (
    own.find((name) => name === `${service.namespace}-${like}` || name.endsWith(`-${network}`)) ??
    nearest(like, own)
  )
}

function metallbOf(patient: Patient, pool?: Pool): string {
  return (pool ?? patient.derive(pools)[0])?.object.metadata.namespace ?? 'metallb-system'
}

export const pendingRules: readonly Rule[] = [
  pendingRule(
    'unknown-pool',
    'unknown-pool',
    problems.pendingUnknownPool,
    ({ wanted }, service, patient) => ({
      pool: wanted,
      nearest: ownPool(service, patient, wanted),
    }),
  ),
  pendingRule(
    'not-served',
    'not-for-namespace',
    problems.pendingNotForNamespace,
    (cause, service, patient) => ({
      pool: cause.pool.name,
      asked: cause.asked,
      serves: cause.pool.namespaces.join(', ') || 'Services with other labels',
      metallb: metallbOf(patient, cause.pool),
      own: ownPool(service, patient, cause.pool.name),
    }),
  ),
  pendingRule('exhausted', 'exhausted', problems.pendingExhausted, ({ pool }, _service, patient) => ({
    pool: pool.name,
    ranges: rangesText(pool),
    size: String(sizeOfPool(pool)),
    metallb: metallbOf(patient, pool),
  })),
  pendingRule('not-in-pool', 'not-in-pool', problems.pendingNotInPool, ({ asked }, service, patient) => ({
    asked,
    own: ownPool(service, patient, service.pool?.value),
    metallb: metallbOf(patient),
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
    const pool = ownPool(service, patient, service.pool?.value ?? cause.value)
    const better = stable.endsWith('address-pool') ? pool : freeAddress(pool, patient)
    return { annotation: cause.annotation, value: cause.value, stable, better }
  }),
  pendingRule('no-pools', 'no-pools', problems.pendingNoPools, () => ({})),
  pendingRule('nobody-serves', 'nobody-serves', problems.pendingNobodyServes, (_cause, service, patient) => ({
    pools: patient
      .derive(pools)
      .filter((pool) => serves(pool, service.object))
      .map(({ name }) => name),
  })),
  pendingRule('two-wishes', 'two-wishes', problems.pendingTwoWishes, () => ({})),
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
    (_cause, service, patient) => ({ said: refusalOf(service, patient) !== undefined }),
    'possible',
  ),
]

function freeAddress(pool: string | undefined, patient: Patient): string | undefined {
  const found = patient.derive(pools).find(({ name }) => name === pool)
  return found && freeIn(found, new Set(patient.derive(holders).keys()))
}
