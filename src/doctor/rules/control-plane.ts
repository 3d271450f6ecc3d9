/** The control plane of a cloud: its Secret, its conditions, its endpoints. */
import type { Condition, KubeObject } from '../../api/object.ts'
import { at, conditionOf, describeCommand, nameOf, numberAt } from '../../api/raw-object.ts'
import * as problems from '../../errors/doctor-control-plane.ts'
import { groupBy } from '../../plan/group.ts'
import { lastingError, say } from '../../verify/readiness/conditions.ts'
import { isBeingDeleted } from '../../verify/readiness/deletion.ts'
import { readinessOfLive } from '../../verify/readiness/readiness.ts'
import { recordOf, textOf } from '../../yaml/loose.ts'
import { databaseOf, GALERA, isOfDatabase, unboundVolumes, waitingFor } from '../facts/databases.ts'
import { pending } from '../facts/load-balancers.ts'
import { missingKeys } from '../facts/secret-keys.ts'
import { CLAIM, waitsForVolumes, workloadKinds, workloadsOf } from '../facts/workloads.ts'
import { openstackKinds, SECRET } from '../kinds.ts'
import { links } from '../links.ts'
import { secretOf } from '../named-secrets.ts'
import type { Patient } from '../patient.ts'
import { type Rule, rule } from '../rule.ts'

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
  holds: (patient) =>
    patient.knows(SECRET)
      ? [...patient.all(CONTROL_PLANE), ...patient.all(NODE_SET)].flatMap((owner) => {
          const secret = secretOf(owner)
          const { namespace = '' } = owner.metadata
          if (secret === undefined || patient.get(SECRET, secret, namespace)) return []
          const harm =
            owner.kind === 'OpenStackControlPlane'
              ? 'no service gets a password'
              : 'Ansible cannot log in to its hosts'
          return [{ about: secretNamed(secret, namespace), facts: { reader: nameOf(owner), harm } }]
        })
      : [],
})

/** A finding may be about an object that is not there. */
function secretNamed(name: string, namespace: string): KubeObject {
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
  holds: (patient) =>
    [...patient.all(CONTROL_PLANE), ...patient.all(NODE_SET)].flatMap((owner) => {
      const { namespace = '' } = owner.metadata
      const about = patient.get(SECRET, secretOf(owner) ?? '', namespace)
      if (!about) return []
      return missingKeys(owner, about).map(({ service, keys }) => ({
        about,
        facts: { keys, service },
      }))
    }),
})

function errorOf(object: KubeObject, { context }: Patient): Condition | undefined {
  return isBeingDeleted(object) ? undefined : lastingError(object, context)
}

const conditionError = rule({
  id: 'control-plane/condition-error',
  problem: problems.conditionError,
  looksAt: [CONTROL_PLANE],
  also: [...workloadKinds, 'Service', 'Event', 'storage.k8s.io/StorageClass', SECRET],
  likelihood: 'likely',
  link: links.openstack,
  holds: (patient) =>
    patient.all(CONTROL_PLANE).flatMap((about) => {
      const found = errorOf(about, patient)
      if (!found) return []
      const { namespace = '' } = about.metadata
      const facts = {
        condition: found.type,
        message: found.message ?? found.reason ?? '',
        describe: describeCommand(about),
      }
      return [{ about, facts, restsOn: below(namespace, patient, about) }]
    }),
})

/** What a control plane stands on, the nearest first: whatever of it has a finding is the cause. */
function below(namespace: string, patient: Patient, own: KubeObject): readonly KubeObject[] {
  return [
    secretNamed(secretOf(own) ?? '', namespace),
    ...patient.derive(pending).flatMap((one) => (one.namespace === namespace ? [one.object] : [])),
    ...workloadKinds
      .flatMap((kind) => patient.in(kind, namespace))
      .filter((object) => readinessOfLive(object, patient.context).kind !== 'ready'),
    ...openstackKinds.flatMap((kind) => patient.in(kind, namespace)).filter((object) => object !== own),
  ]
}

const serviceError = rule({
  id: 'control-plane/service-error',
  problem: problems.serviceError,
  looksAt: [CONTROL_PLANE],
  also: [...openstackKinds, ...workloadKinds],
  likelihood: 'likely',
  link: links.openstack,
  holds: (patient) =>
    openstackKinds
      .filter((kind) => kind !== CONTROL_PLANE)
      .flatMap((kind) => patient.all(kind))
      .flatMap((about) => {
        const found = errorOf(about, patient)
        if (!found) return []
        const message = found.message ?? found.reason ?? ''
        const facts = { condition: found.type, message, describe: describeCommand(about) }
        return [{ about, facts, restsOn: belowService(about, found, patient) }]
      }),
})

/** A service stands on its own workloads and, where it speaks of its database, on that one and its workloads. */
function belowService(service: KubeObject, found: Condition, patient: Patient): readonly KubeObject[] {
  const database = isOfDatabase(found) ? databaseOf(service, patient) : undefined
  const own = workloadsOf(service, patient)
  return database ? [...own, ...workloadsOf(database, patient), database] : own
}

const databaseClaimPending = rule({
  id: 'control-plane/database-claim-pending',
  problem: problems.databaseClaimPending,
  looksAt: [GALERA, CLAIM, 'Pod'],
  also: openstackKinds,
  // Nobody has said that it cannot be served: a storage may just be slow.
  likelihood: 'likely',
  link: links.storage,
  holds: (patient) =>
    patient.all(GALERA).flatMap((galera) =>
      unboundVolumes(galera, patient).map(({ claim, pod }) => {
        const waiting = waitingFor(galera, patient)
        return {
          about: claim,
          facts: {
            database: nameOf(galera),
            pod: pod.metadata.name,
            services: waiting.map(({ service }) => service.metadata.name),
            describe: describeCommand(claim),
          },
          saw: waiting.map(({ service, condition }) => say(service, condition)),
          // A surer rule may know why nobody serves it, or that it only waits for a pod that no node takes.
          restsOn: waitsForVolumes(pod) ? [claim] : [claim, pod],
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
  holds: (patient) =>
    [...groupBy(patient.all(CONTROL_PLANE), ({ metadata }) => metadata.namespace ?? '')].flatMap(
      ([namespace, all]) => {
        const about = all[1]
        if (!about) return []
        return [{ about, facts: { namespace, names: all.map(({ metadata }) => metadata.name) } }]
      },
    ),
})

const foreignEndpoint = rule({
  id: 'control-plane/foreign-endpoint',
  problem: problems.foreignEndpoint,
  looksAt: ['keystone.openstack.org/KeystoneEndpoint'],
  also: [CONTROL_PLANE],
  likelihood: 'proven',
  link: links.openstack,
  holds: (patient) =>
    patient.all('keystone.openstack.org/KeystoneEndpoint').flatMap((about) =>
      Object.entries(recordOf(at(about, 'spec', 'endpoints'))).flatMap(([endpoint, value]) => {
        const url = textOf(value) ?? ''
        const other = [...patient.clouds].find(
          (cloud) =>
            cloud !== about.metadata.namespace &&
            hostOf(url).some((part) => part === cloud || part.endsWith(`-${cloud}`)),
        )
        // `keystone-public-my-openstack` ends like openstack and is its own.
        const own = hostOf(url).some(
          (part) => part === about.metadata.namespace || part.endsWith(`-${about.metadata.namespace}`),
        )
        if (other === undefined || own) return []
        return [{ about, path: `spec.endpoints.${endpoint}`, facts: { endpoint, url, other } }]
      }),
    ),
})

function hostOf(url: string): readonly string[] {
  return URL.canParse(url) ? new URL(url).hostname.split('.') : []
}

const noOperator = rule({
  id: 'control-plane/no-operators',
  problem: problems.noOperator,
  looksAt: [CONTROL_PLANE, OPENSTACK],
  likelihood: 'likely',
  link: links.openstack,
  holds: (patient) => {
    if (!patient.knows(OPENSTACK) || patient.all(OPENSTACK).length > 0) return []
    const unseen = patient
      .all(CONTROL_PLANE)
      .filter(
        (one) => numberAt(one, 'status', 'observedGeneration') === undefined && !conditionOf(one, 'Ready'),
      )
    const [about] = unseen
    return about ? [{ about, facts: { clouds: unseen.length } }] : []
  },
})

export const controlPlaneRules: readonly Rule[] = [
  noOperator,
  secretMissing,
  secretKeyMissing,
  twoControlPlanes,
  foreignEndpoint,
  databaseClaimPending,
  serviceError,
  conditionError,
]
