/** What runs for the object of a service, by the names that operators give. */
import type { Condition, KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getConditions, getString } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'
import { openstackKinds } from '../kinds.ts'

export const CLAIM = 'PersistentVolumeClaim'
export const workloadKinds = ['Pod', CLAIM, 'batch/Job']

/** Names begin with the object's; the claim of a StatefulSet is called `<volume>-<pod>`. */
export function findWorkloads(service: KubeObject, patient: ClusterState): readonly KubeObject[] {
  const stem = namePrefix(service)
  return workloadKinds
    .flatMap((kind) => patient.inNamespace(kind, service.metadata.namespace ?? ''))
    .filter(
      ({ kind, metadata }) => metadata.name.startsWith(stem) || (kind === CLAIM && metadata.name.includes(`-${stem}`)),
    )
}

/** Galera `openstack` has pods `openstack-galera-N`: by its bare name half of the cloud would be its own. */
function namePrefix({ kind, metadata }: KubeObject): string {
  return kind === 'Galera' ? `${metadata.name}-galera-` : metadata.name
}

/** The scheduler holds it back for its volumes: those have the cause, not the pod. */
export function waitsForVolumes(pod: KubeObject): boolean {
  return /PersistentVolumeClaim|volume/i.test(findCondition(pod, 'PodScheduled')?.message ?? '')
}

export const GALERA = 'mariadb.openstack.org/Galera'

/** DBReady, DBSyncReady, MariaDBAccountReady, NovaAPIDBReady, … */
export const isDatabaseCondition = ({ type }: Condition): boolean => /DB(Sync|Account)?Ready$/.test(type)

/** The database that a service names. */
export function findDatabase(service: KubeObject, patient: ClusterState): KubeObject | undefined {
  const { namespace = '' } = service.metadata
  const name = getString(service, 'spec', 'databaseInstance') ?? getString(service, 'spec', 'apiDatabaseInstance')
  return name === undefined ? undefined : patient.get(GALERA, name, namespace)
}

export interface WaitingService {
  readonly service: KubeObject
  readonly condition: Condition
}

/** Services that say of this database that they wait for it. */
export function servicesWaitingFor(galera: KubeObject, patient: ClusterState): readonly WaitingService[] {
  return openstackKinds
    .flatMap((kind) => patient.inNamespace(kind, galera.metadata.namespace ?? ''))
    .filter((service) => findDatabase(service, patient) === galera)
    .flatMap((service) => {
      const open = getConditions(service).find(
        (condition) => isDatabaseCondition(condition) && condition.status !== 'True',
      )
      return open ? [{ service, condition: open }] : []
    })
}

export interface UnboundVolume {
  readonly claim: KubeObject
  readonly pod: KubeObject
}

/** Pods of a database with the claims that are pending for longer than a pod takes to start. */
export function unboundVolumes(galera: KubeObject, patient: ClusterState): readonly UnboundVolume[] {
  return findWorkloads(galera, patient).flatMap((pod) => {
    const { name, namespace = '' } = pod.metadata
    const claim = pod.kind === 'Pod' ? patient.get(CLAIM, `mysql-db-${name}`, namespace) : undefined
    if (!claim || getString(claim, 'status', 'phase') !== 'Pending') return []
    const age = ageMs(claim.metadata.creationTimestamp, patient.now)
    return age < patient.context.grace.podMs ? [] : [{ claim, pod }]
  })
}
