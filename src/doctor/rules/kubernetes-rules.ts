/** Problems of the cluster itself: nodes, pods, volumes, certificates and blocked deletions. */
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getConditions, getField, getNumber, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { podsOfWorkload } from '../../verify/readiness/pods.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { DATA_PLANE_DEPLOYMENT } from '../../verify/running-deployments.ts'
import type { ClusterState } from '../cluster-state.ts'
import { CLAIM, waitsForVolumes } from '../facts/service-workloads.ts'
import * as problems from '../findings/kubernetes-findings.ts'
import { kindsWithFinalizers } from '../kinds.ts'
import { links, type Rule, rule } from '../rule.ts'
import { certificateRules } from './certificate-rules.ts'

const CLASS = 'storage.k8s.io/StorageClass'

const stuckFinalizer = rule({
  id: 'kubernetes/stuck-finalizer',
  problem: problems.stuckFinalizer,
  looksAt: [],
  also: ['apps/Deployment', ...kindsWithFinalizers],
  likelihood: 'likely',
  link: links.finalizers,
  match: (cluster) =>
    kindsWithFinalizers
      .flatMap((kind) => cluster.all(kind))
      .flatMap((about) => {
        const { deletionTimestamp: since, finalizers = [], name, namespace } = about.metadata
        const [finalizer] = finalizers
        if (since === undefined || finalizer === undefined) return []
        if (ageMs(since, cluster.now) < cluster.context.grace.errorMs) return []
        const { owner, alive } = findFinalizerOwner(finalizer, about, cluster)
        const where = namespace === undefined ? '' : `-n ${namespace} `
        const strip = `kubectl ${where}patch ${resourceName(about)} ${name} --type=merge -p '{"metadata":{"finalizers":null}}'`
        return [{ about, path: 'metadata.finalizers', facts: { finalizer, owner, alive, since, strip } }]
      }),
})

function resourceName({ apiVersion, kind }: KubeObject): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
  return `${kind.toLowerCase()}${group}`
}

const namespaceTerminating = rule({
  id: 'kubernetes/namespace-terminating',
  problem: problems.namespaceTerminating,
  looksAt: ['Namespace'],
  also: ['apiregistration.k8s.io/APIService', DATA_PLANE_DEPLOYMENT, ...kindsWithFinalizers],
  link: links.finalizers,
  match: (cluster) =>
    cluster.all('Namespace').flatMap((about) => {
      const { deletionTimestamp, name } = about.metadata
      if (deletionTimestamp === undefined || ageMs(deletionTimestamp, cluster.now) < cluster.context.grace.errorMs)
        return []
      const reported = getConditions(about).filter(({ status }) => status === 'True')
      const reason =
        reported
          .map(({ message }) => message)
          .filter(Boolean)
          .join('; ') || 'no reason given'
      const inside = [DATA_PLANE_DEPLOYMENT, ...kindsWithFinalizers].flatMap((kind) => cluster.inNamespace(kind, name))
      const unavailable = reported.some(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')
      const groups = unavailable ? cluster.all('apiregistration.k8s.io/APIService') : []
      return [{ about, facts: { reason, namespace: name }, dependsOn: [...groups, ...inside] }]
    }),
})

const groupUnavailable = rule({
  id: 'kubernetes/api-unavailable',
  problem: problems.groupUnavailable,
  looksAt: ['apiregistration.k8s.io/APIService'],
  link: links.nodes,
  match: (cluster) =>
    cluster.all('apiregistration.k8s.io/APIService').flatMap((about) => {
      const available = findCondition(about, 'Available')
      if (available?.status !== 'False') return []
      return [{ about, facts: { group: about.metadata.name, reason: available.message || available.reason || '' } }]
    }),
})

const nodeNotReady = rule({
  id: 'kubernetes/node-not-ready',
  problem: problems.nodeNotReady,
  looksAt: ['Node'],
  also: ['Pod'],
  link: links.nodes,
  match: (cluster) =>
    cluster.all('Node').flatMap((about) => {
      const ready = findCondition(about, 'Ready')
      if (!ready || ready.status === 'True') return []
      const { name: node } = about.metadata
      const reason = ready.message || ready.reason || ready.status
      return [{ about, facts: { node, reason, held: ready.status === 'Unknown' ? findHeldPods(node, cluster) : [] } }]
    }),
})

/** Pods of a node that does not answer, which StatefulSets and Jobs replace only when they are gone. */
function findHeldPods(node: string, cluster: ClusterState): readonly string[] {
  return cluster
    .all('Pod')
    .filter((pod) => {
      const owners = pod.metadata.ownerReferences ?? []
      const phase = getString(pod, 'status', 'phase')
      return (
        getString(pod, 'spec', 'nodeName') === node &&
        phase !== 'Succeeded' &&
        phase !== 'Failed' &&
        owners.some(({ kind }) => kind === 'StatefulSet' || kind === 'Job') &&
        isRelevant(pod, cluster)
      )
    })
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    .toSorted()
}

/** DaemonSets that the network of a cloud needs. */
const AGENTS = /^(speaker|.*nmstate-handler|.*multus.*|whereabouts.*|ovs.*|frr-k8s.*)$/

const agentMissing = rule({
  id: 'kubernetes/node-agent-missing',
  problem: problems.agentMissing,
  looksAt: ['apps/DaemonSet'],
  also: ['Pod', 'Node'],
  link: links.pods,
  match: (cluster) =>
    cluster.all('apps/DaemonSet').flatMap((about) => {
      const { name, namespace = '', creationTimestamp } = about.metadata
      const desired = getNumber(about, 'status', 'desiredNumberScheduled') ?? 0
      const ready = getNumber(about, 'status', 'numberAvailable') ?? 0
      const young = ageMs(creationTimestamp, cluster.now) < cluster.context.grace.podMs
      if (!AGENTS.test(name) || ready >= desired || young) return []
      const unready = cluster.all('Node').filter((node) => findCondition(node, 'Ready')?.status !== 'True')
      const dependsOn = [...unready, ...podsOfWorkload(about, cluster.context)]
      return [{ about, facts: { agent: name, ready, wanted: desired, namespace }, dependsOn }]
    }),
})

const podCannotRun = rule({
  id: 'kubernetes/pod-cannot-run',
  problem: problems.podCannotRun,
  looksAt: ['Pod'],
  also: ['Event'],
  link: links.pods,
  match: (cluster) =>
    cluster.all('Pod').flatMap((about) => {
      // A Job retries its pods and reports the failure itself.
      if (!isRelevant(about, cluster) || isJobPod(about)) return []
      const verdict = liveReadiness(about, cluster.context)
      if (verdict.kind !== 'failed') return []
      return [{ about, facts: { cause: verdict.cause, next: verdict.next }, dependsOn: passwordSecret(about) }]
    }),
})

function isJobPod({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'Job')
}

/** A missing key in the password Secret makes databases crash. */
function passwordSecret({ metadata }: KubeObject): readonly KubeObject[] {
  const { namespace = '' } = metadata
  return [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'osp-secret', namespace } }]
}

/** Objects of clouds and of the operators that they need. */
function isRelevant({ metadata }: KubeObject, cluster: ClusterState): boolean {
  const { namespace = '' } = metadata
  return cluster.clouds.has(namespace) || /metallb|nmstate|openstack|cert-manager|multus|whereabouts/.test(namespace)
}

const podUnschedulable = rule({
  id: 'kubernetes/pod-unschedulable',
  problem: problems.podUnschedulable,
  looksAt: ['Pod'],
  also: [CLAIM, 'Node'],
  link: links.pods,
  match: (cluster) =>
    cluster.all('Pod').flatMap((about) => {
      const scheduled = findCondition(about, 'PodScheduled')
      const { namespace = '', name } = about.metadata
      if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable' || !isRelevant(about, cluster))
        return []
      if (ageMs(scheduled.lastTransitionTime, cluster.now) < cluster.context.grace.podMs) return []
      const reason = scheduled.message || 'the scheduler gives no reason'
      const dependsOn = waitsForVolumes(about) ? cluster.inNamespace(CLAIM, namespace) : []
      return [{ about, facts: { reason, pod: `${namespace}/${name}` }, dependsOn }]
    }),
})

const claimPending = rule({
  id: 'kubernetes/claim-not-served',
  problem: problems.claimPending,
  looksAt: [CLAIM],
  also: [CLASS, 'Event'],
  link: links.storage,
  match: (cluster) =>
    cluster.all(CLAIM).flatMap((about) => {
      const verdict = liveReadiness(about, cluster.context)
      if (!isRelevant(about, cluster) || isClassless(about) || verdict.kind !== 'failed') return []
      return [{ about, facts: { cause: verdict.cause, next: verdict.next } }]
    }),
})

const isClassless = (claim: KubeObject): boolean =>
  getString(claim, 'status', 'phase') === 'Pending' && getField(claim, 'spec', 'storageClassName') === undefined

const noDefaultClass = rule({
  id: 'kubernetes/no-default-storage-class',
  problem: problems.noDefaultClass,
  looksAt: [CLAIM, CLASS],
  link: links.storage,
  match: (cluster) => {
    const classes = cluster.all(CLASS)
    const hasDefault = classes.some(
      ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
    )
    if (hasDefault || !cluster.knows(CLASS)) return []
    return cluster
      .all(CLAIM)
      .filter((claim) => isClassless(claim) && isRelevant(claim, cluster))
      .map((about) => ({
        about,
        facts: {
          claim: `${about.metadata.namespace}/${about.metadata.name}`,
          classes: classes.map(({ metadata }) => metadata.name),
        },
      }))
  },
})

/** Rules that explain findings of all other rules. */
export const clusterRules: readonly Rule[] = [
  nodeNotReady,
  groupUnavailable,
  noDefaultClass,
  claimPending,
  podUnschedulable,
  podCannotRun,
  agentMissing,
  ...certificateRules,
]

/** Blocked deletions. */
export const deletionRules: readonly Rule[] = [stuckFinalizer, namespaceTerminating]

interface FinalizerOwner {
  readonly owner: string
  readonly alive: 'gone' | 'there' | 'unknown'
}

/** Owners that cannot be derived from the finalizer name. */
const knownOwners: readonly (readonly [RegExp, string])[] = [
  [/^kubernetes\.io\/pv/, 'the storage controller of Kubernetes'],
  [/^foregroundDeletion$|^orphan$/, 'the garbage collector of Kubernetes'],
  [/^service\.kubernetes\.io\/load-balancer/, 'the load balancer'],
  [/rabbitmq\.com/, 'rabbitmq-cluster-operator'],
  [/metal3\.io/, 'baremetal-operator'],
  [/^openstack\.org\/(ipset|netconfig|dnsmasq|dnsdata|reservation|memcached|redis|transporturl)/i, 'infra-operator'],
  [/^openstack\.org\/openstack(baremetal|provision)/i, 'openstack-baremetal-operator'],
  [/^openstack\.org\/openstack/i, 'openstack-operator'],
]

/** By the finalizer name, or by the API group of the object: `keystone.openstack.org` belongs to keystone-operator. */
function findFinalizerOwner(finalizer: string, object: KubeObject, cluster: ClusterState): FinalizerOwner {
  const owner =
    knownOwners.find(([pattern]) => pattern.test(finalizer))?.[1] ??
    operatorByGroup(object) ??
    finalizer.split('/')[0] ??
    finalizer
  return { owner, alive: operatorState(owner, cluster) }
}

function operatorByGroup(object: KubeObject): string | undefined {
  const group = formatGroupKind(object).split('/')[0] ?? ''
  const service = /^([a-z]+)\.openstack\.org$/.exec(group)?.[1]
  return service === undefined ? undefined : `${service}-operator`
}

function operatorState(owner: string, cluster: ClusterState): FinalizerOwner['alive'] {
  if (!owner.endsWith('-operator') || !cluster.knows('apps/Deployment')) return 'unknown'
  const runs = cluster
    .all('apps/Deployment')
    .some(({ metadata }) => metadata.name === owner || metadata.name.startsWith(`${owner}-controller-manager`))
  return runs ? 'there' : 'gone'
}
