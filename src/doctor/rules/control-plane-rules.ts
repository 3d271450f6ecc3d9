/** Problems of control planes: Secrets, conditions, databases and endpoints. */

import { asRecord, asString } from '../../api/json.ts'
import type { Condition, KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, formatObjectName, getField, getNumber } from '../../api/raw-object.ts'
import { oldBackupDays, readLastBackup } from '../../backup/last-backup.ts'
import { formatCondition, persistentError } from '../../verify/readiness/conditions.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { isBeingDeleted } from '../../verify/readiness/verdict.ts'
import type { ClusterState } from '../cluster-state.ts'
import { pendingServices } from '../facts/load-balancers.ts'
import {
  CLAIM,
  findDatabase,
  findWorkloads,
  GALERA,
  isDatabaseCondition,
  servicesWaitingFor,
  unboundVolumes,
  waitsForVolumes,
  workloadKinds,
} from '../facts/service-workloads.ts'
import * as problems from '../findings/control-plane-findings.ts'
import { openstackKinds, SECRET } from '../kinds.ts'
import { missingKeys, referencedSecret } from '../referenced-secrets.ts'
import { links, matchDuplicates, type Rule, rule } from '../rule.ts'

const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'
const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'
const OPENSTACK = 'operator.openstack.org/OpenStack'

const secretMissing = rule({
  id: 'control-plane/secret-missing',
  problem: problems.secretMissing,
  looksAt: [SECRET],
  also: [CONTROL_PLANE, NODE_SET],
  match: (cluster) =>
    cluster.knows(SECRET)
      ? [...cluster.all(CONTROL_PLANE), ...cluster.all(NODE_SET)].flatMap((owner) => {
          const secret = referencedSecret(owner)
          const { namespace = '' } = owner.metadata
          if (secret === undefined || cluster.get(SECRET, secret, namespace)) return []
          const harm =
            owner.kind === 'OpenStackControlPlane' ? 'no service gets a password' : 'Ansible cannot log in to its hosts'
          return [{ about: secretRef(secret, namespace), facts: { reader: formatObjectName(owner), harm } }]
        })
      : [],
})

/** A finding may refer to an object that does not exist. */
function secretRef(name: string, namespace: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } }
}

const secretKeyMissing = rule({
  id: 'control-plane/secret-key-missing',
  problem: problems.secretKeyMissing,
  looksAt: [SECRET, CONTROL_PLANE],
  also: [NODE_SET],
  // Newer operators create some of these keys.
  likelihood: 'likely',
  match: (cluster) =>
    [...cluster.all(CONTROL_PLANE), ...cluster.all(NODE_SET)].flatMap((owner) => {
      const { namespace = '' } = owner.metadata
      const about = cluster.get(SECRET, referencedSecret(owner) ?? '', namespace)
      if (!about) return []
      return missingKeys(owner, about).map(({ service, keys }) => ({ about, facts: { keys, service } }))
    }),
})

/** Set by a restore, which removes it when the databases are restored. */
const STAGE_ANNOTATION = 'core.openstack.org/deployment-stage'

const heldInStage = rule({
  id: 'control-plane/held-in-stage',
  problem: problems.heldInStage,
  looksAt: [CONTROL_PLANE],
  match: (cluster) =>
    cluster.all(CONTROL_PLANE).flatMap((about) => {
      const stage = about.metadata.annotations?.[STAGE_ANNOTATION]
      const { namespace = '', name } = about.metadata
      const remove = `kubectl -n ${namespace} annotate openstackcontrolplane ${name} ${STAGE_ANNOTATION}-`
      return stage === undefined ? [] : [{ about, facts: { stage, remove } }]
    }),
})

const backupOld = rule({
  id: 'control-plane/backup-old',
  problem: problems.backupOld,
  looksAt: [CONTROL_PLANE],
  match: (cluster) =>
    cluster.all(CONTROL_PLANE).flatMap((about) => {
      const backup = readLastBackup(about)
      const days = backup && oldBackupDays(backup, cluster.context.now)
      const { namespace = '' } = about.metadata
      return backup && days !== undefined ? [{ about, facts: { backup: backup.name, days, namespace } }] : []
    }),
})

function findError(object: KubeObject, { context }: ClusterState): Condition | undefined {
  return isBeingDeleted(object) ? undefined : persistentError(object, context)
}

const conditionError = rule({
  id: 'control-plane/condition-error',
  problem: problems.conditionError,
  looksAt: [CONTROL_PLANE],
  also: [...workloadKinds, 'Service', 'Event', 'storage.k8s.io/StorageClass', SECRET],
  likelihood: 'likely',
  match: (cluster) =>
    cluster.all(CONTROL_PLANE).flatMap((about) => {
      const found = findError(about, cluster)
      if (!found) return []
      const { namespace = '' } = about.metadata
      const facts = {
        condition: found.type,
        message: found.message ?? found.reason ?? '',
        describe: describeCommand(about),
      }
      return [{ about, facts, dependsOn: controlPlaneDependencies(namespace, cluster, about) }]
    }),
})

/** Objects that may explain an error of a control plane, the most direct first. */
function controlPlaneDependencies(
  namespace: string,
  cluster: ClusterState,
  controlPlane: KubeObject,
): readonly KubeObject[] {
  return [
    secretRef(referencedSecret(controlPlane) ?? '', namespace),
    ...cluster
      .derive(pendingServices)
      .flatMap((balanced) => (balanced.namespace === namespace ? [balanced.object] : [])),
    ...workloadKinds
      .flatMap((kind) => cluster.inNamespace(kind, namespace))
      .filter((object) => liveReadiness(object, cluster.context).kind !== 'ready'),
    ...openstackKinds
      .flatMap((kind) => cluster.inNamespace(kind, namespace))
      .filter((object) => object !== controlPlane),
  ]
}

const serviceError = rule({
  id: 'control-plane/service-error',
  problem: problems.serviceError,
  looksAt: [CONTROL_PLANE],
  also: [...openstackKinds, ...workloadKinds],
  likelihood: 'likely',
  match: (cluster) =>
    openstackKinds
      .filter((kind) => kind !== CONTROL_PLANE)
      .flatMap((kind) => cluster.all(kind))
      .flatMap((about) => {
        const found = findError(about, cluster)
        if (!found) return []
        const message = found.message ?? found.reason ?? ''
        const facts = { condition: found.type, message, describe: describeCommand(about) }
        return [{ about, facts, dependsOn: serviceDependencies(about, found, cluster) }]
      }),
})

/** The workloads of a service and, for a database error, its database with its workloads. */
function serviceDependencies(service: KubeObject, found: Condition, cluster: ClusterState): readonly KubeObject[] {
  const database = isDatabaseCondition(found) ? findDatabase(service, cluster) : undefined
  const workloads = findWorkloads(service, cluster)
  return database ? [...workloads, ...findWorkloads(database, cluster), database] : workloads
}

const databaseClaimPending = rule({
  id: 'control-plane/database-claim-pending',
  problem: problems.databaseClaimPending,
  looksAt: [GALERA, CLAIM, 'Pod'],
  also: openstackKinds,
  // There is no error: provisioning may just be slow.
  likelihood: 'likely',
  link: links.storage,
  match: (cluster) =>
    cluster.all(GALERA).flatMap((galera) =>
      unboundVolumes(galera, cluster).map(({ claim, pod }) => {
        const waiting = servicesWaitingFor(galera, cluster)
        return {
          about: claim,
          facts: {
            database: formatObjectName(galera),
            pod: pod.metadata.name,
            services: waiting.map(({ service }) => service.metadata.name),
            describe: describeCommand(claim),
          },
          evidence: waiting.map(({ service, condition }) => formatCondition(service, condition)),
          // A more certain rule may know why the claim is pending, or that the pod cannot be scheduled.
          dependsOn: waitsForVolumes(pod) ? [claim] : [claim, pod],
        }
      }),
    ),
})

const twoControlPlanes = rule({
  id: 'control-plane/two-in-a-namespace',
  problem: problems.twoControlPlanes,
  looksAt: [CONTROL_PLANE],
  match: (cluster) => matchDuplicates(cluster, CONTROL_PLANE),
})

const foreignEndpoint = rule({
  id: 'control-plane/foreign-endpoint',
  problem: problems.foreignEndpoint,
  looksAt: ['keystone.openstack.org/KeystoneEndpoint'],
  also: [CONTROL_PLANE],
  match: (cluster) =>
    cluster.all('keystone.openstack.org/KeystoneEndpoint').flatMap((about) =>
      Object.entries(asRecord(getField(about, 'spec', 'endpoints'))).flatMap(([endpoint, value]) => {
        const url = asString(value) ?? ''
        const other = [...cluster.clouds].find(
          (cloud) =>
            cloud !== about.metadata.namespace &&
            hostLabels(url).some((part) => part === cloud || part.endsWith(`-${cloud}`)),
        )
        // `keystone-public-my-openstack` also ends with `-openstack`, but belongs to my-openstack.
        const isOwnHost = hostLabels(url).some(
          (part) => part === about.metadata.namespace || part.endsWith(`-${about.metadata.namespace}`),
        )
        if (other === undefined || isOwnHost) return []
        return [{ about, path: `spec.endpoints.${endpoint}`, facts: { endpoint, url, other } }]
      }),
    ),
})

function hostLabels(url: string): readonly string[] {
  return URL.canParse(url) ? new URL(url).hostname.split('.') : []
}

const operatorMissing = rule({
  id: 'control-plane/no-operators',
  problem: problems.operatorMissing,
  looksAt: [CONTROL_PLANE, OPENSTACK],
  likelihood: 'likely',
  match: (cluster) => {
    if (!cluster.knows(OPENSTACK) || cluster.all(OPENSTACK).length > 0) return []
    const unseen = cluster
      .all(CONTROL_PLANE)
      .filter(
        (controlPlane) =>
          getNumber(controlPlane, 'status', 'observedGeneration') === undefined &&
          !findCondition(controlPlane, 'Ready'),
      )
    const [about] = unseen
    return about ? [{ about, facts: { clouds: unseen.length } }] : []
  },
})

export const controlPlaneRules: readonly Rule[] = [
  operatorMissing,
  secretMissing,
  secretKeyMissing,
  heldInStage,
  backupOld,
  twoControlPlanes,
  foreignEndpoint,
  databaseClaimPending,
  serviceError,
  conditionError,
]
