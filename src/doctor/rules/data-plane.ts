/**
 * Hosts outside the cluster: node sets of today's API, their runs, and whether nova knows them. Nodes of 2023 are not looked
 * at: their own conditions and `status --data-plane` say what they wait for.
 */
import type { KubeObject } from '../../api/object.ts'
import { at, conditionOf, conditionsOf, nameOf, sinceMs, textAt } from '../../api/raw-object.ts'
import * as problems from '../../errors/doctor-data-plane.ts'
import { nearest } from '../../errors/nearest.ts'
import { groupBy } from '../../plan/group.ts'
import { recordOf, textsOf } from '../../yaml/loose.ts'
import { NOVA_HOSTS, SECRET } from '../kinds.ts'
import { links } from '../links.ts'
import { secretOf } from '../named-secrets.ts'
import type { Patient } from '../patient.ts'
import { type Rule, rule } from '../rule.ts'

const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'
const DEPLOYMENT = 'dataplane.openstack.org/OpenStackDataPlaneDeployment'
const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''
const nodeSetsOf = (deployment: KubeObject): readonly string[] =>
  textsOf(recordOf(deployment['spec'])['nodeSets'])
const isDeployed = (deployment: KubeObject): boolean => at(deployment, 'status', 'deployed') === true

/** Its last word, when that is a failure: the operator does not come back to it. */
function failureOf(deployment: KubeObject): string | undefined {
  if (isDeployed(deployment)) return undefined
  const error = conditionsOf(deployment).find(
    ({ status, severity }) => status === 'False' && severity === 'Error',
  )
  return error && (error.message || error.reason || error.type)
}

const deploymentSpent = rule({
  id: 'data-plane/deployment-failed-for-good',
  problem: problems.deploymentSpent,
  looksAt: [DEPLOYMENT],
  also: [NODE_SET, CONTROL_PLANE, 'batch/Job'],
  likelihood: 'proven',
  link: links.dataPlane,
  holds: (patient) =>
    patient.all(DEPLOYMENT).flatMap((about) => {
      const why = failureOf(about)
      // A later run of the same node sets has taken its place.
      if (why === undefined || supersededBy(about, patient)) return []
      const { name } = about.metadata
      const facts = { deployment: name, namespace: namespaceOf(about), why, hosts: failedHosts(about) }
      const below = patient
        .in(NODE_SET, namespaceOf(about))
        .filter(({ metadata }) => nodeSetsOf(about).includes(metadata.name))
      return [{ about, facts, restsOn: below }]
    }),
})

function supersededBy(deployment: KubeObject, patient: Patient): boolean {
  const created = deployment.metadata.creationTimestamp ?? ''
  return nodeSetsOf(deployment).every((nodeSet) =>
    patient
      .in(DEPLOYMENT, namespaceOf(deployment))
      .some(
        (other) =>
          isDeployed(other) &&
          nodeSetsOf(other).includes(nodeSet) &&
          (other.metadata.creationTimestamp ?? '') > created,
      ),
  )
}

function failedHosts(deployment: KubeObject): string {
  const summaries = Object.values(recordOf(at(deployment, 'status', 'ansibleExecutionSummaries')))
  const hosts = summaries.flatMap((one) => [
    ...textsOf(recordOf(one)['failedHostList']),
    ...textsOf(recordOf(one)['unreachableHostList']),
  ])
  return [...new Set(hosts)].join(', ')
}

const changeNotDeployed = rule({
  id: 'data-plane/change-not-deployed',
  problem: problems.changeNotDeployed,
  looksAt: [NODE_SET, DEPLOYMENT],
  likelihood: 'proven',
  link: links.dataPlane,
  holds: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const wanted = textAt(about, 'status', 'configHash')
      const deployed = textAt(about, 'status', 'deployedConfigHash')
      if (wanted === undefined || deployed === undefined || wanted === deployed) return []
      const runs = patient
        .in(DEPLOYMENT, namespaceOf(about))
        .filter((one) => nodeSetsOf(one).includes(about.metadata.name))
      if (runs.some((one) => !isDeployed(one) && failureOf(one) === undefined)) return []
      const last = runs.filter(isDeployed).at(-1)?.metadata.name
      return [{ about, facts: { nodeSet: about.metadata.name, last }, restsOn: runs }]
    }),
})

const notDiscovered = rule({
  id: 'data-plane/hypervisor-not-discovered',
  problem: problems.notDiscovered,
  looksAt: [NODE_SET, NOVA_HOSTS],
  also: [DEPLOYMENT, 'Pod'],
  likelihood: 'proven',
  link: links.nova,
  holds: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const known = patient.in(NOVA_HOSTS, namespace)[0]
      const services = textsOf(recordOf(about['spec'])['services'])
      const computes = services.length === 0 || services.some((name) => name.startsWith('nova'))
      if (!known || !computes || conditionOf(about, 'Ready')?.status !== 'True') return []
      const names = new Set(textsOf(known['hosts']).map(shortName))
      const hosts = hostsOf(about).filter((host) => !names.has(shortName(host)))
      return hosts.length === 0 ? [] : [{ about, facts: { hosts, namespace } }]
    }),
})

const shortName = (host: string): string => host.split('.')[0] ?? host

function hostsOf(nodeSet: KubeObject): readonly string[] {
  return Object.entries(recordOf(at(nodeSet, 'spec', 'nodes'))).map(
    ([name, node]) => textAt(node, 'hostName') ?? name,
  )
}

const beforeControlPlane = rule({
  id: 'data-plane/before-control-plane',
  problem: problems.beforeControlPlane,
  looksAt: [DEPLOYMENT, CONTROL_PLANE],
  likelihood: 'likely',
  link: links.dataPlane,
  holds: (patient) =>
    patient.all(DEPLOYMENT).flatMap((about) => {
      const [controlPlane] = patient.in(CONTROL_PLANE, namespaceOf(about))
      if (isDeployed(about) || failureOf(about) !== undefined || !controlPlane) return []
      if (conditionOf(controlPlane, 'Ready')?.status === 'True') return []
      return [{ about, facts: { controlPlane: nameOf(controlPlane) }, restsOn: [controlPlane] }]
    }),
})

const nodeSetMissing = rule({
  id: 'data-plane/node-set-missing',
  problem: problems.nodeSetMissing,
  looksAt: [DEPLOYMENT, NODE_SET],
  likelihood: 'proven',
  link: links.dataPlane,
  holds: (patient) =>
    patient.knows(NODE_SET)
      ? patient.all(DEPLOYMENT).flatMap((about) =>
          nodeSetsOf(about)
            .filter((name) => !isDeployed(about) && !patient.get(NODE_SET, name, namespaceOf(about)))
            .map((nodeSet) => {
              const names = patient.in(NODE_SET, namespaceOf(about)).map(({ metadata }) => metadata.name)
              return { about, path: 'spec.nodeSets', facts: { nodeSet, known: nearest(nodeSet, names) } }
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
  holds: (patient) => {
    const entries = patient.all(NODE_SET).flatMap((nodeSet) =>
      Object.values(recordOf(at(nodeSet, 'spec', 'nodes'))).flatMap((node) => {
        // Names are per cloud; the address by which Ansible reaches a host is the same machine everywhere.
        const machine = textAt(node, 'ansible', 'ansibleHost')
        return machine === undefined ? [] : [{ nodeSet, machine }]
      }),
    )
    return [...groupBy(entries, ({ machine }) => machine)].flatMap(([host, all]) => {
      const about = all[1]?.nodeSet
      if (!about) return []
      const nodeSets = [
        ...new Set(all.map(({ nodeSet }) => `${namespaceOf(nodeSet)}/${nodeSet.metadata.name}`)),
      ]
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
  holds: (patient) =>
    patient.all(NODE_SET).flatMap((about) => {
      const namespace = namespaceOf(about)
      const found = conditionsOf(about).find(
        ({ type, status, severity, lastTransitionTime }) =>
          status === 'False' &&
          severity === 'Error' &&
          // What a deployment says of itself is told there.
          !type.startsWith('Deployment') &&
          type !== 'Ready' &&
          sinceMs(lastTransitionTime, patient.now) >= patient.context.grace.errorMs,
      )
      if (!found) return []
      const facts = { condition: found.type, message: found.message ?? found.reason ?? '' }
      const secret = secretOf(about)
      const restsOn = [
        ...(secret === undefined
          ? []
          : [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace } }]),
        ...[
          'network.openstack.org/NetConfig',
          'network.openstack.org/IPSet',
          'network.openstack.org/DNSMasq',
          CONTROL_PLANE,
        ].flatMap((kind) => patient.in(kind, namespace)),
      ]
      return [{ about, facts, restsOn }]
    }),
})

const deletionUnconfirmed = rule({
  id: 'data-plane/deletion-unconfirmed',
  problem: problems.deletionUnconfirmed,
  looksAt: [DEPLOYMENT],
  likelihood: 'likely',
  link: links.dataPlane,
  holds: (patient) =>
    patient
      .all(DEPLOYMENT)
      .filter(
        (one) =>
          one.metadata.deletionTimestamp !== undefined &&
          (one.metadata.finalizers ?? []).length > 0 &&
          !isDeployed(one) &&
          failureOf(one) === undefined &&
          one.metadata.annotations?.['dataplane.openstack.org/confirm-delete'] !== 'true',
      )
      .map((about) => ({ about, facts: { deployment: about.metadata.name, namespace: namespaceOf(about) } })),
})

export const dataPlaneRules: readonly Rule[] = [
  hostTwice,
  nodeSetMissing,
  nodeSetError,
  beforeControlPlane,
  deploymentSpent,
  notDiscovered,
  changeNotDeployed,
  deletionUnconfirmed,
]
