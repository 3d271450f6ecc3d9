/** Defines a rule: one known failure, with its finding, the kinds that it reads, and a pure function that finds it. */

import { groupBy } from '../api/collections.ts'
import type { KubeObject } from '../api/object.ts'
import type { Problem } from '../errors/finding.ts'
import type { ClusterState } from './cluster-state.ts'

/** How strongly the evidence supports the cause. */
export type Likelihood = 'proven' | 'likely' | 'possible'

export const likelihoods: readonly Likelihood[] = ['proven', 'likely', 'possible']

/** One occurrence of a failure. */
export interface RuleMatch<P> {
  /** The faulty object, not the object that shows the symptom. */
  readonly about: KubeObject
  readonly path?: string
  readonly facts: P
  /** Quoted evidence: an event, a condition, a log line. */
  readonly evidence?: readonly string[]
  /** Objects whose findings explain this one. May include the object itself, if a more certain rule may explain it. */
  readonly dependsOn?: readonly KubeObject[]
}

export interface RuleDefinition<P> {
  readonly id: string
  readonly problem: Problem<P>
  /** Kinds that the rule requires. */
  readonly looksAt: readonly string[]
  /** Kinds that improve the result. */
  readonly also?: readonly string[]
  /** Defaults to `proven`. */
  readonly likelihood?: Likelihood
  /** Defaults to the documentation of the rule's family. */
  readonly link?: string
  readonly match: (cluster: ClusterState) => readonly RuleMatch<P>[]
}

/** A rule with hidden types of facts. */
export interface Rule {
  readonly id: string
  readonly problem: Pick<Problem<never>, 'code' | 'severity'>
  readonly looksAt: readonly string[]
  readonly also: readonly string[]
  readonly likelihood: Likelihood
  /** Upstream documentation. */
  readonly link: string
  readonly evaluate: (cluster: ClusterState) => readonly RuleResult[]
}

export interface RuleResult extends Omit<RuleMatch<unknown>, 'facts'> {
  readonly message: string
  readonly remedy: string
}

export function rule<P>({ match, also = [], ...definition }: RuleDefinition<P>): Rule {
  const { id, problem, likelihood = 'proven', link = familyLinks[id.split('/')[0] ?? ''] } = definition
  if (link === undefined) throw new TypeError(`rule ${id} has no link`)
  return {
    ...definition,
    also,
    likelihood,
    link,
    evaluate: (cluster) =>
      match(cluster).map(({ facts, ...rest }) => ({
        ...rest,
        message: problem.message(facts),
        remedy: problem.remedy(facts),
      })),
  }
}

/** Upstream documentation by component. */
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

const familyLinks: Readonly<Record<string, string>> = {
  'control-plane': links.openstack,
  'data-plane': links.dataPlane,
  dns: links.infra,
  ipam: links.infra,
  metallb: links.metallbPools,
  multus: links.multus,
  nmstate: links.nmstate,
  olm: links.olm,
  webhooks: links.webhooks,
}

/** Kinds of which a namespace may have only one object: matches the second one. */
export function matchDuplicates(
  cluster: ClusterState,
  groupKind: string,
): readonly RuleMatch<{ namespace: string; names: readonly string[] }>[] {
  const byNamespace = groupBy(cluster.all(groupKind), ({ metadata }) => metadata.namespace ?? '')
  return [...byNamespace].flatMap(([namespace, objects]) => {
    const second = objects[1]
    return second ? [{ about: second, facts: { namespace, names: objects.map(({ metadata }) => metadata.name) } }] : []
  })
}
