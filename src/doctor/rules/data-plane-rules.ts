/**
 * Hosts outside the cluster: node sets of today's API, their runs, and whether nova knows them. Nodes of 2023 are not looked
 * at: their own conditions and `status --data-plane` say what they wait for.
 */

import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, formatObjectName, getConditions, getField, getString } from '../../api/raw-object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { groupBy } from '../../plan/collections.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/data-plane-findings.ts'
import { NOVA_HOSTS, SECRET } from '../kinds.ts'
import { referencedSecret } from '../referenced-secrets.ts'
import { links, type Rule, rule } from '../rule.ts'

const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'
const DEPLOYMENT = 'dataplane.openstack.org/OpenStackDataPlaneDeployment'
const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''
const nodeSetsOf = (deployment: KubeObject): readonly string[] => asStrings(asRecord(deployment['spec'])['nodeSets'])
const isDeployed = (deployment: KubeObject): boolean => getField(deployment, 'status', 'deployed') === true

/** Its last word, when that is a failure: the operator does not come back to it. */
function findFailure(deployment: KubeObject): string | undefined {
  if (isDeployed(deployment)) return undefined
  const error = getConditions(deployment).find(({ status, severity }) => status === 'False' && severity === 'Error')
  return error && (error.message || error.reason || error.type)
}

const deploymentFailed = rule({
  id: 'data-plane/deployment-failed-for-good',
  problem: problems.deploymentFailed,
  looksAt: [DEPLOYMENT],
  also: [NODE_SET, CONTROL_PLANE, 'batch/Job'],
  likelihood: 'proven',
  link: links.dataPlane,
  match: (patient) =>
    patient.all(DEPLOYMENT).flatMap((about) => {
      const why = findFailure(about)
      // A later run of the same node sets has taken its place.
      if (why === undefined || isSuperseded(about, patient)) return []
      const { name } = about.metadata
      const facts = { deployment: name, namespace: namespaceOf(about), why, hosts: failedHosts(about) }
      const below = patient
        .inNamespace(NODE_SET, namespaceOf(about))
        .filter(({ metadata }) => nodeSetsOf(about).includes(metadata.name))
      return [{ about, facts, dependsOn: below }]
    }),
})

function isSuperseded(deployment: KubeObject, patient: ClusterState): boolean {
  const created = deployment.metadata.creationTimestamp ?? ''
  return nodeSetsOf(deployment).every((nodeSet) =>
    patient
      .inNamespace(DEPLOYMENT, namespaceOf(deployment))
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
  looksAt: [NODE_SET, DEPLOYMENT],
  likelihood: 'proven',
  link: links.dataPlane,
  match: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const wanted = getString(about, 'status', 'configHash')
      const deployed = getString(about, 'status', 'deployedConfigHash')
      if (wanted === undefined || deployed === undefined || wanted === deployed) return []
      const runs = patient
        .inNamespace(DEPLOYMENT, namespaceOf(about))
        .filter((one) => nodeSetsOf(one).includes(about.metadata.name))
      if (runs.some((run) => !isDeployed(run) && findFailure(run) === undefined)) return []
      const last = runs.filter(isDeployed).at(-1)?.metadata.name
      return [{ about, facts: { nodeSet: about.metadata.name, last }, dependsOn: runs }]
    }),
})

const notDiscovered = rule({
  id: 'data-plane/hypervisor-not-discovered',
  problem: problems.notDiscovered,
  looksAt: [NODE_SET, NOVA_HOSTS],
  also: [DEPLOYMENT, 'Pod'],
  likelihood: 'proven',
  link: links.nova,
  match: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const known = patient.inNamespace(NOVA_HOSTS, namespace)[0]
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
  looksAt: [DEPLOYMENT, CONTROL_PLANE],
  likelihood: 'likely',
  link: links.dataPlane,
  match: (patient) =>
    patient.all(DEPLOYMENT).flatMap((about) => {
      const [controlPlane] = patient.inNamespace(CONTROL_PLANE, namespaceOf(about))
      if (isDeployed(about) || findFailure(about) !== undefined || !controlPlane) return []
      if (findCondition(controlPlane, 'Ready')?.status === 'True') return []
      return [{ about, facts: { controlPlane: formatObjectName(controlPlane) }, dependsOn: [controlPlane] }]
    }),
})

const nodeSetMissing = rule({
  id: 'data-plane/node-set-missing',
  problem: problems.nodeSetMissing,
  looksAt: [DEPLOYMENT, NODE_SET],
  likelihood: 'proven',
  link: links.dataPlane,
  match: (patient) =>
    patient.knows(NODE_SET)
      ? patient.all(DEPLOYMENT).flatMap((about) =>
          nodeSetsOf(about)
            .filter((name) => !isDeployed(about) && !patient.get(NODE_SET, name, namespaceOf(about)))
            .map((nodeSet) => {
              const names = patient.inNamespace(NODE_SET, namespaceOf(about)).map(({ metadata }) => metadata.name)
              return { about, path: 'spec.nodeSets', facts: { nodeSet, known: closestMatch(nodeSet, names) } }
            }),
        )
      : [],
})

const hostTwice = rule({
  id: 'data-plane/host-twice',
  problem: problems.hostTwice,
  looksAt: [NODE_SET],
  likelihood: 'proven',
  link: links.dataPlane,
  match: (patient) => {
    const entries = patient.all(NODE_SET).flatMap((nodeSet) =>
      Object.values(asRecord(getField(nodeSet, 'spec', 'nodes'))).flatMap((node) => {
        // Names are per cloud; the address by which Ansible reaches a host is the same machine everywhere.
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
  link: links.dataPlane,
  match: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const found = getConditions(about).find(
        ({ type, status, severity, lastTransitionTime }) =>
          status === 'False' &&
          severity === 'Error' &&
          // What a deployment says of itself is told there.
          !type.startsWith('Deployment') &&
          type !== 'Ready' &&
          ageMs(lastTransitionTime, patient.now) >= patient.context.grace.errorMs,
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
        ].flatMap((kind) => patient.inNamespace(kind, namespace)),
      ]
      return [{ about, facts, dependsOn }]
    }),
})

const deletionUnconfirmed = rule({
  id: 'data-plane/deletion-unconfirmed',
  problem: problems.deletionUnconfirmed,
  looksAt: [DEPLOYMENT],
  likelihood: 'likely',
  link: links.dataPlane,
  match: (patient) =>
    patient
      .all(DEPLOYMENT)
      .filter(
        (one) =>
          one.metadata.deletionTimestamp !== undefined &&
          (one.metadata.finalizers ?? []).length > 0 &&
          !isDeployed(one) &&
          findFailure(one) === undefined &&
          one.metadata.annotations?.['dataplane.openstack.org/confirm-delete'] !== 'true',
      )
      .map((about) => ({ about, facts: { deployment: about.metadata.name, namespace: namespaceOf(about) } })),
})

export const dataPlaneRules: readonly Rule[] = [
  hostTwice,
  nodeSetMissing,
  nodeSetError,
  beforeControlPlane,
  deploymentFailed,
  notDiscovered,
  changeNotDeployed,
  deletionUnconfirmed,
]
