/** The control plane of a cloud: its Secret, its conditions, its endpoints. */

import { asRecord, asString } from '../../api/json.ts'
import type { Condition, KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, formatObjectName, getField, getNumber } from '../../api/raw-object.ts'
import { groupBy } from '../../plan/collections.ts'
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
import { links, type Rule, rule } from '../rule.ts'

const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'
const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'
const OPENSTACK = 'operator.openstack.org/OpenStack'

const secretMissing = rule({
  id: 'control-plane/secret-missing',
  problem: problems.secretMissing,
  looksAt: [SECRET],
  also: [CONTROL_PLANE, NODE_SET],
  likelihood: 'proven',
  link: links.openstack,
  match: (patient) =>
    patient.knows(SECRET)
      ? [...patient.all(CONTROL_PLANE), ...patient.all(NODE_SET)].flatMap((owner) => {
          const secret = referencedSecret(owner)
          const { namespace = '' } = owner.metadata
          if (secret === undefined || patient.get(SECRET, secret, namespace)) return []
          const harm =
            owner.kind === 'OpenStackControlPlane' ? 'no service gets a password' : 'Ansible cannot log in to its hosts'
          return [{ about: secretRef(secret, namespace), facts: { reader: formatObjectName(owner), harm } }]
        })
      : [],
})

/** A finding may be about an object that is not there. */
function secretRef(name: string, namespace: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } }
}

const secretKeyMissing = rule({
  id: 'control-plane/secret-key-missing',
  problem: problems.secretKeyMissing,
  looksAt: [SECRET, CONTROL_PLANE],
  also: [NODE_SET],
  // Newer operators make some of these themselves.
  likelihood: 'likely',
  link: links.openstack,
  match: (patient) =>
    [...patient.all(CONTROL_PLANE), ...patient.all(NODE_SET)].flatMap((owner) => {
      const { namespace = '' } = owner.metadata
      const about = patient.get(SECRET, referencedSecret(owner) ?? '', namespace)
      if (!about) return []
      return missingKeys(owner, about).map(({ service, keys }) => ({
        about,
        facts: { keys, service },
      }))
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
  link: links.openstack,
  match: (patient) =>
    patient.all(CONTROL_PLANE).flatMap((about) => {
      const found = findError(about, patient)
      if (!found) return []
      const { namespace = '' } = about.metadata
      const facts = {
        condition: found.type,
        message: found.message ?? found.reason ?? '',
        describe: describeCommand(about),
      }
      return [{ about, facts, dependsOn: controlPlaneDependencies(namespace, patient, about) }]
    }),
})

/** What a control plane stands on, the nearest first: whatever of it has a finding is the cause. */
function controlPlaneDependencies(namespace: string, patient: ClusterState, own: KubeObject): readonly KubeObject[] {
  return [
    secretRef(referencedSecret(own) ?? '', namespace),
    ...patient
      .derive(pendingServices)
      .flatMap((balanced) => (balanced.namespace === namespace ? [balanced.object] : [])),
    ...workloadKinds
      .flatMap((kind) => patient.inNamespace(kind, namespace))
      .filter((object) => liveReadiness(object, patient.context).kind !== 'ready'),
    ...openstackKinds.flatMap((kind) => patient.inNamespace(kind, namespace)).filter((object) => object !== own),
  ]
}

const serviceError = rule({
  id: 'control-plane/service-error',
  problem: problems.serviceError,
  looksAt: [CONTROL_PLANE],
  also: [...openstackKinds, ...workloadKinds],
  likelihood: 'likely',
  link: links.openstack,
  match: (patient) =>
    openstackKinds
      .filter((kind) => kind !== CONTROL_PLANE)
      .flatMap((kind) => patient.all(kind))
      .flatMap((about) => {
        const found = findError(about, patient)
        if (!found) return []
        const message = found.message ?? found.reason ?? ''
        const facts = { condition: found.type, message, describe: describeCommand(about) }
        return [{ about, facts, dependsOn: serviceDependencies(about, found, patient) }]
      }),
})

/** A service stands on its own workloads and, where it speaks of its database, on that one and its workloads. */
function serviceDependencies(service: KubeObject, found: Condition, patient: ClusterState): readonly KubeObject[] {
  const database = isDatabaseCondition(found) ? findDatabase(service, patient) : undefined
  const own = findWorkloads(service, patient)
  return database ? [...own, ...findWorkloads(database, patient), database] : own
}

const databaseClaimPending = rule({
  id: 'control-plane/database-claim-pending',
  problem: problems.databaseClaimPending,
  looksAt: [GALERA, CLAIM, 'Pod'],
  also: openstackKinds,
  // Nobody has said that it cannot be served: a storage may just be slow.
  likelihood: 'likely',
  link: links.storage,
  match: (patient) =>
    patient.all(GALERA).flatMap((galera) =>
      unboundVolumes(galera, patient).map(({ claim, pod }) => {
        const waiting = servicesWaitingFor(galera, patient)
        return {
          about: claim,
          facts: {
            database: formatObjectName(galera),
            pod: pod.metadata.name,
            services: waiting.map(({ service }) => service.metadata.name),
            describe: describeCommand(claim),
          },
          evidence: waiting.map(({ service, condition }) => formatCondition(service, condition)),
          // A surer rule may know why nobody serves it, or that it only waits for a pod that no node takes.
          dependsOn: waitsForVolumes(pod) ? [claim] : [claim, pod],
        }
      }),
    ),
})

const twoControlPlanes = rule({
  id: 'control-plane/two-in-a-namespace',
  problem: problems.twoControlPlanes,
  looksAt: [CONTROL_PLANE],
  likelihood: 'proven',
  link: links.openstack,
  match: (patient) =>
    [...groupBy(patient.all(CONTROL_PLANE), ({ metadata }) => metadata.namespace ?? '')].flatMap(([namespace, all]) => {
      const about = all[1]
      if (!about) return []
      return [{ about, facts: { namespace, names: all.map(({ metadata }) => metadata.name) } }]
    }),
})

const foreignEndpoint = rule({
  id: 'control-plane/foreign-endpoint',
  problem: problems.foreignEndpoint,
  looksAt: ['keystone.openstack.org/KeystoneEndpoint'],
  also: [CONTROL_PLANE],
  likelihood: 'proven',
  link: links.openstack,
  match: (patient) =>
    patient.all('keystone.openstack.org/KeystoneEndpoint').flatMap((about) =>
      Object.entries(asRecord(getField(about, 'spec', 'endpoints'))).flatMap(([endpoint, value]) => {
        const url = asString(value) ?? ''
        const other = [...patient.clouds].find(
          (cloud) =>
            cloud !== about.metadata.namespace &&
            hostLabels(url).some((part) => part === cloud || part.endsWith(`-${cloud}`)),
        )
        // `keystone-public-my-openstack` ends like openstack and is its own.
        const own = hostLabels(url).some(
          (part) => part === about.metadata.namespace || part.endsWith(`-${about.metadata.namespace}`),
        )
        if (other === undefined || own) return []
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
  link: links.openstack,
  match: (patient) => {
    if (!patient.knows(OPENSTACK) || patient.all(OPENSTACK).length > 0) return []
    const unseen = patient
      .all(CONTROL_PLANE)
      .filter((one) => getNumber(one, 'status', 'observedGeneration') === undefined && !findCondition(one, 'Ready'))
    const [about] = unseen
    return about ? [{ about, facts: { clouds: unseen.length } }] : []
  },
})

export const controlPlaneRules: readonly Rule[] = [
  operatorMissing,
  secretMissing,
  secretKeyMissing,
  twoControlPlanes,
  foreignEndpoint,
  databaseClaimPending,
  serviceError,
  conditionError,
]
