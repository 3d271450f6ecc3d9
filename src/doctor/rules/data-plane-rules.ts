/** Problems of data plane hosts with the NodeSet API, and failed runs of the Role/Node API. */

import { groupBy } from '../../api/collections.ts'
import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, formatObjectName, getConditions, getField, getString } from '../../api/raw-object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { explainState, foldHosts, formatHostNames } from '../../hosts/fold-hosts.ts'
import { type HostState, judgeHosts } from '../../hosts/judge-hosts.ts'
import { DATA_PLANE_DEPLOYMENT, isDeletionConfirmed, isRunningDeployment } from '../../verify/running-deployments.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/data-plane-findings.ts'
import { NOVA_HOSTS, SECRET } from '../kinds.ts'
import { referencedSecret } from '../referenced-secrets.ts'
import { links, type Rule, rule } from '../rule.ts'

const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'
const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'
const SERVICE = 'dataplane.openstack.org/OpenStackDataPlaneService'
const VERSION = 'core.openstack.org/OpenStackVersion'
const RUN = 'ansibleee.openstack.org/OpenStackAnsibleEE'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''
const nodeSetsOf = (deployment: KubeObject): readonly string[] => asStrings(asRecord(deployment['spec'])['nodeSets'])
const isDeployed = (deployment: KubeObject): boolean => getField(deployment, 'status', 'deployed') === true

/** The error of a failed deployment, which the operator does not retry. */
function findFailure(deployment: KubeObject): string | undefined {
  if (isDeployed(deployment)) return undefined
  const error = getConditions(deployment).find(({ status, severity }) => status === 'False' && severity === 'Error')
  return error && (error.message || error.reason || error.type)
}

const deploymentFailed = rule({
  id: 'data-plane/deployment-failed-for-good',
  problem: problems.deploymentFailed,
  looksAt: [DATA_PLANE_DEPLOYMENT],
  also: [NODE_SET, CONTROL_PLANE, 'batch/Job'],
  match: (cluster) =>
    cluster.all(DATA_PLANE_DEPLOYMENT).flatMap((about) => {
      const why = findFailure(about)
      // A later deployment of the same node sets succeeded.
      if (why === undefined || isSuperseded(about, cluster)) return []
      const facts = { namespace: namespaceOf(about), why, hosts: failedHosts(about) }
      const below = cluster
        .inNamespace(NODE_SET, namespaceOf(about))
        .filter(({ metadata }) => nodeSetsOf(about).includes(metadata.name))
      return [{ about, facts, dependsOn: below }]
    }),
})

function isSuperseded(deployment: KubeObject, cluster: ClusterState): boolean {
  const created = deployment.metadata.creationTimestamp ?? ''
  return nodeSetsOf(deployment).every((nodeSet) =>
    cluster
      .inNamespace(DATA_PLANE_DEPLOYMENT, namespaceOf(deployment))
      .some(
        (other) =>
          isDeployed(other) &&
          nodeSetsOf(other).includes(nodeSet) &&
          (other.metadata.creationTimestamp ?? '') > created,
      ),
  )
}

function failedHosts(deployment: KubeObject): string {
  const summaries = Object.values(asRecord(getField(deployment, 'status', 'ansibleExecutionSummaries')))
  const hosts = summaries.flatMap((summary) => [
    ...asStrings(asRecord(summary)['failedHostList']),
    ...asStrings(asRecord(summary)['unreachableHostList']),
  ])
  return [...new Set(hosts)].join(', ')
}

const changeNotDeployed = rule({
  id: 'data-plane/change-not-deployed',
  problem: problems.changeNotDeployed,
  looksAt: [NODE_SET, DATA_PLANE_DEPLOYMENT],
  match: (cluster) =>
    cluster.all(NODE_SET).flatMap((about) => {
      const desired = getString(about, 'status', 'configHash')
      const deployed = getString(about, 'status', 'deployedConfigHash')
      if (desired === undefined || deployed === undefined || desired === deployed) return []
      const runs = cluster
        .inNamespace(DATA_PLANE_DEPLOYMENT, namespaceOf(about))
        .filter((deployment) => nodeSetsOf(deployment).includes(about.metadata.name))
      if (runs.some((deployment) => !isDeployed(deployment) && findFailure(deployment) === undefined)) return []
      const last = runs.filter(isDeployed).at(-1)?.metadata.name
      return [{ about, facts: { nodeSet: about.metadata.name, last }, dependsOn: runs }]
    }),
})

/** The node set itself is deployed, so its own hashes do not show that some of its hosts lack something. */
const hostsBehind = rule({
  id: 'data-plane/hosts-behind',
  problem: problems.hostsBehind,
  looksAt: [NODE_SET, DATA_PLANE_DEPLOYMENT],
  also: [SERVICE, VERSION],
  match: (cluster) =>
    cluster.all(NODE_SET).flatMap((about) => {
      const { name, namespace = '' } = about.metadata
      if (getString(about, 'status', 'configHash') !== getString(about, 'status', 'deployedConfigHash')) return []
      const states = cluster.derive(hostStates).get(`${namespace}/${name}`) ?? []
      const behind = states.filter(({ verdict }) => verdict === 'behind')
      if (behind.length === 0) return []
      const facts = {
        namespace,
        hosts: formatHostNames(behind.map(({ host }) => host)),
        count: behind.length,
        total: states.length,
        why: foldHosts(behind).slice(0, 1).map(explainState).join(''),
      }
      const runs = cluster
        .inNamespace(DATA_PLANE_DEPLOYMENT, namespace)
        .filter((deployment) => nodeSetsOf(deployment).includes(name))
      return [{ about, facts, dependsOn: runs }]
    }),
})

/** Values of Secrets are not gathered, so contents are not compared: `stackloom hosts` does that. */
function hostStates(cluster: ClusterState): ReadonlyMap<string, readonly HostState[]> {
  const states = judgeHosts({
    nodeSets: cluster.all(NODE_SET),
    deployments: cluster.all(DATA_PLANE_DEPLOYMENT),
    services: cluster.unread(SERVICE) === undefined ? cluster.all(SERVICE) : undefined,
    versions: cluster.all(VERSION),
    content: () => ({ kind: 'ignored' }),
    certificates: [],
  })
  return groupBy(states, ({ namespace, nodeSet }) => `${namespace}/${nodeSet}`)
}

const notDiscovered = rule({
  id: 'data-plane/hypervisor-not-discovered',
  problem: problems.notDiscovered,
  looksAt: [NODE_SET, NOVA_HOSTS],
  also: [DATA_PLANE_DEPLOYMENT, 'Pod'],
  link: links.nova,
  match: (cluster) =>
    cluster.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const known = cluster.inNamespace(NOVA_HOSTS, namespace)[0]
      const services = asStrings(asRecord(about['spec'])['services'])
      const computes = services.length === 0 || services.some((name) => name.startsWith('nova'))
      if (!known || !computes || findCondition(about, 'Ready')?.status !== 'True') return []
      const names = new Set(asStrings(known['hosts']).map(shortName))
      const hosts = hostNames(about).filter((host) => !names.has(shortName(host)))
      return hosts.length === 0 ? [] : [{ about, facts: { hosts, namespace } }]
    }),
})

const shortName = (host: string): string => host.split('.')[0] ?? host

function hostNames(nodeSet: KubeObject): readonly string[] {
  return Object.entries(asRecord(getField(nodeSet, 'spec', 'nodes'))).map(
    ([name, node]) => getString(node, 'hostName') ?? name,
  )
}

const beforeControlPlane = rule({
  id: 'data-plane/before-control-plane',
  problem: problems.beforeControlPlane,
  looksAt: [DATA_PLANE_DEPLOYMENT, CONTROL_PLANE],
  likelihood: 'likely',
  match: (cluster) =>
    cluster.all(DATA_PLANE_DEPLOYMENT).flatMap((about) => {
      const [controlPlane] = cluster.inNamespace(CONTROL_PLANE, namespaceOf(about))
      if (isDeployed(about) || findFailure(about) !== undefined || !controlPlane) return []
      if (findCondition(controlPlane, 'Ready')?.status === 'True') return []
      return [{ about, facts: { controlPlane: formatObjectName(controlPlane) }, dependsOn: [controlPlane] }]
    }),
})

const nodeSetMissing = rule({
  id: 'data-plane/node-set-missing',
  problem: problems.nodeSetMissing,
  looksAt: [DATA_PLANE_DEPLOYMENT, NODE_SET],
  match: (cluster) =>
    cluster.knows(NODE_SET)
      ? cluster.all(DATA_PLANE_DEPLOYMENT).flatMap((about) =>
          nodeSetsOf(about)
            .filter((name) => !isDeployed(about) && !cluster.get(NODE_SET, name, namespaceOf(about)))
            .map((nodeSet) => {
              const names = cluster.inNamespace(NODE_SET, namespaceOf(about)).map(({ metadata }) => metadata.name)
              return { about, path: 'spec.nodeSets', facts: { nodeSet, known: closestMatch(nodeSet, names) } }
            }),
        )
      : [],
})

const hostTwice = rule({
  id: 'data-plane/host-twice',
  problem: problems.hostTwice,
  looksAt: [NODE_SET],
  match: (cluster) => {
    const entries = cluster.all(NODE_SET).flatMap((nodeSet) =>
      Object.values(asRecord(getField(nodeSet, 'spec', 'nodes'))).flatMap((node) => {
        // Names are unique only per cloud; the Ansible address identifies the machine.
        const machine = getString(node, 'ansible', 'ansibleHost')
        return machine === undefined ? [] : [{ nodeSet, machine }]
      }),
    )
    return [...groupBy(entries, ({ machine }) => machine)].flatMap(([host, all]) => {
      const about = all[1]?.nodeSet
      if (!about) return []
      const nodeSets = [...new Set(all.map(({ nodeSet }) => `${namespaceOf(nodeSet)}/${nodeSet.metadata.name}`))]
      return [{ about, path: 'spec.nodes', facts: { host, nodeSets } }]
    })
  },
})

const nodeSetError = rule({
  id: 'data-plane/node-set-error',
  problem: problems.nodeSetError,
  looksAt: [NODE_SET],
  also: [
    'network.openstack.org/IPSet',
    'network.openstack.org/DNSMasq',
    'network.openstack.org/NetConfig',
    CONTROL_PLANE,
    SECRET,
  ],
  likelihood: 'likely',
  match: (cluster) =>
    cluster.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const found = getConditions(about).find(
        ({ type, status, severity, lastTransitionTime }) =>
          status === 'False' &&
          severity === 'Error' &&
          // Errors of deployments have their own rule.
          !type.startsWith('Deployment') &&
          type !== 'Ready' &&
          ageMs(lastTransitionTime, cluster.now) >= cluster.context.grace.errorMs,
      )
      if (!found) return []
      const facts = { condition: found.type, message: found.message ?? found.reason ?? '' }
      const secret = referencedSecret(about)
      const dependsOn = [
        ...(secret === undefined ? [] : [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace } }]),
        ...[
          'network.openstack.org/NetConfig',
          'network.openstack.org/IPSet',
          'network.openstack.org/DNSMasq',
          CONTROL_PLANE,
        ].flatMap((kind) => cluster.inNamespace(kind, namespace)),
      ]
      return [{ about, facts, dependsOn }]
    }),
})

/** The webhook refuses each attempt, so only the namespace shows that a deletion was requested. */
const deletionUnconfirmed = rule({
  id: 'data-plane/deletion-unconfirmed',
  problem: problems.deletionUnconfirmed,
  looksAt: [DATA_PLANE_DEPLOYMENT],
  also: ['Namespace'],
  match: (cluster) => {
    const leaving = cluster.all('Namespace').filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    return leaving
      .flatMap(({ metadata }) => cluster.inNamespace(DATA_PLANE_DEPLOYMENT, metadata.name))
      .filter(
        (deployment) =>
          deployment.metadata.deletionTimestamp === undefined &&
          isRunningDeployment(deployment) &&
          !isDeletionConfirmed(deployment),
      )
      .map((about) => ({ about, facts: { deployment: about.metadata.name, namespace: namespaceOf(about) } }))
  },
})

const runStalled = rule({
  id: 'data-plane/run-stalled',
  problem: problems.runStalled,
  looksAt: [RUN],
  also: ['Node'],
  match: (cluster) =>
    cluster.all(RUN).flatMap((about) => {
      const stalled = getString(about, 'status', 'running', 'stalled')
      if (stalled === undefined) return []
      const [, why = stalled, code, remedy] = EXPLAINED.exec(stalled) ?? []
      const lost = cluster.all('Node').filter((node) => findCondition(node, 'Ready')?.status === 'Unknown')
      return [{ about, facts: { why, code, remedy }, dependsOn: code === LOST_POD ? lost : [] }]
    }),
})

/** A finding of the operator: the pod of a run is on a node that does not answer. */
const LOST_POD = 'SL7510'

/** A run that a later one on the same hosts replaced says nothing about them any more. */
const runFailed = rule({
  id: 'data-plane/run-failed',
  problem: problems.runFailed,
  looksAt: [RUN],
  match: (cluster) =>
    cluster.all(RUN).flatMap((about) => {
      if (getString(about, 'status', 'JobStatus') !== 'Failed') return []
      const others = cluster.inNamespace(RUN, namespaceOf(about))
      if (others.some((other) => isLaterRun(other, about))) return []
      const message = getString(about, 'status', 'result', 'message') ?? 'Ansible reported no cause'
      const [, why = message, code, remedy] = EXPLAINED.exec(message) ?? []
      return [{ about, facts: { run: about.metadata.name, namespace: namespaceOf(about), why, code, remedy } }]
    }),
})

/** `edpm-compute-0: Install the packages: … (SL7140: free space on the host)` */
const EXPLAINED = /^(.*) \((SL\d{4}): (.*)\)$/

function isLaterRun(other: KubeObject, run: KubeObject): boolean {
  const step = ({ metadata }: KubeObject): string => metadata.annotations?.['stackloom.dev/step'] ?? metadata.name
  const hosts = ({ metadata }: KubeObject): readonly string[] =>
    (metadata.annotations?.['stackloom.dev/hosts'] ?? '').split(',')
  const created = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ''
  return (
    step(other) === step(run) &&
    created(other) > created(run) &&
    hosts(run).every((host) => hosts(other).includes(host))
  )
}

export const dataPlaneRules: readonly Rule[] = [
  hostTwice,
  nodeSetMissing,
  nodeSetError,
  beforeControlPlane,
  deploymentFailed,
  notDiscovered,
  changeNotDeployed,
  hostsBehind,
  deletionUnconfirmed,
  runStalled,
  runFailed,
]
