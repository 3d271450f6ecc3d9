/**
 * A rule: one known failure as data. What it looks at, when it holds, what that means and what to do.
 *
 * Meaning and remedy are the catalogue's (`errors/doctor-*.ts`); the condition is a pure function over what was gathered.
 */
import type { KubeObject } from '../api/object.ts'
import type { ListedProblem, Problem } from '../errors/finding.ts'
import type { ClusterState } from './cluster-state.ts'

/** How sure the evidence makes us: it proves the cause, it speaks for it, or it fits it among others. */
export type Likelihood = 'proven' | 'likely' | 'possible'

export const likelihoods: readonly Likelihood[] = ['proven', 'likely', 'possible']

/** One place where a rule holds. */
export interface RuleMatch<P> {
  /** The object that is wrong, not the one that shows it. */
  readonly about: KubeObject
  readonly path?: string
  readonly facts: P
  /** What was seen, quoted: an event, a condition, a line of a log. */
  readonly evidence?: readonly string[]
  /**
   * Objects that this one stands on: a finding about one of them is the cause of this one. It may be the object itself:
   * then a surer rule about it has the cause.
   */
  readonly dependsOn?: readonly KubeObject[]
}

export interface RuleDefinition<P> {
  readonly id: string
  readonly problem: Problem<P>
  /** Kinds without which the rule cannot be judged; none, where each kind is judged for itself. */
  readonly looksAt: readonly string[]
  /** Kinds that only make the answer better. */
  readonly also?: readonly string[]
  readonly likelihood: Likelihood
  readonly link: string
  readonly match: (patient: ClusterState) => readonly RuleMatch<P>[]
}

/** A rule whose facts are its own business. */
export interface Rule {
  readonly id: string
  readonly problem: ListedProblem
  readonly looksAt: readonly string[]
  readonly also: readonly string[]
  readonly likelihood: Likelihood
  /** Where the part's own documentation speaks of it. */
  readonly link: string
  readonly evaluate: (patient: ClusterState) => readonly RuleResult[]
}

export interface RuleResult extends Omit<RuleMatch<unknown>, 'facts'> {
  readonly message: string
  readonly remedy: string
}

export function rule<P>({ match, also = [], ...definition }: RuleDefinition<P>): Rule {
  const { problem } = definition
  return {
    ...definition,
    also,
    evaluate: (patient) =>
      match(patient).map(({ facts, ...rest }) => ({
        ...rest,
        message: problem.message(facts),
        remedy: problem.remedy(facts),
      })),
  }
}

export const links = {
  metallbUsage: 'https://metallb.io/usage/',
  metallbPools: 'https://metallb.io/configuration/_advanced_ipaddresspool_configuration/',
  metallbL2: 'https://metallb.io/configuration/_advanced_l2_configuration/',
  nmstate: 'https://nmstate.io/kubernetes-nmstate/user-guide.html',
  multus: 'https://github.com/k8snetworkplumbingwg/multus-cni/tree/master/docs',
  whereabouts: 'https://github.com/k8snetworkplumbingwg/whereabouts',
  infra: 'https://github.com/openstack-k8s-operators/infra-operator',
  openstack: 'https://openstack-k8s-operators.github.io/openstack-operator/',
  dataPlane: 'https://github.com/openstack-k8s-operators/openstack-operator/tree/main/docs/assemblies',
  nova: 'https://docs.openstack.org/nova/latest/admin/cells.html',
  olm: 'https://operator-framework.github.io/olm-book/docs/troubleshooting.html',
  webhooks: 'https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/',
  finalizers: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/',
  pods: 'https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/',
  storage: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/',
  nodes: 'https://kubernetes.io/docs/concepts/architecture/nodes/',
  certManager: 'https://cert-manager.io/docs/troubleshooting/',
} as const
