/** Finds the workloads and databases of a service by the names that the operators use. */
import type { Condition, KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getConditions, getString } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'
import { openstackKinds } from '../kinds.ts'

export const CLAIM = 'PersistentVolumeClaim'
export const workloadKinds = ['Pod', CLAIM, 'batch/Job']

/** Workload names start with the name of the object; a claim of a StatefulSet is `<volume>-<pod>`. */
export function findWorkloads(service: KubeObject, cluster: ClusterState): readonly KubeObject[] {
  const stem = namePrefix(service)
  return workloadKinds
    .flatMap((kind) => cluster.inNamespace(kind, service.metadata.namespace ?? ''))
    .filter(
      ({ kind, metadata }) => metadata.name.startsWith(stem) || (kind === CLAIM && metadata.name.includes(`-${stem}`)),
    )
}

/** Galera `openstack` has pods `openstack-galera-N`; its bare name would match half of the cloud. */
function namePrefix({ kind, metadata }: KubeObject): string {
  return kind === 'Galera' ? `${metadata.name}-galera-` : metadata.name
}

/** Whether the pod is unschedulable because of its volumes. */
export function waitsForVolumes(pod: KubeObject): boolean {
  return /PersistentVolumeClaim|volume/i.test(findCondition(pod, 'PodScheduled')?.message ?? '')
}

export const GALERA = 'mariadb.openstack.org/Galera'

/** DBReady, DBSyncReady, MariaDBAccountReady, NovaAPIDBReady, … */
export const isDatabaseCondition = ({ type }: Condition): boolean => /DB(Sync|Account)?Ready$/.test(type)

/** The database of a service. */
export function findDatabase(service: KubeObject, cluster: ClusterState): KubeObject | undefined {
  const { namespace = '' } = service.metadata
  const name = getString(service, 'spec', 'databaseInstance') ?? getString(service, 'spec', 'apiDatabaseInstance')
  return name === undefined ? undefined : cluster.get(GALERA, name, namespace)
}

export interface WaitingService {
  readonly service: KubeObject
  readonly condition: Condition
}

/** Services that wait for this database. */
export function servicesWaitingFor(galera: KubeObject, cluster: ClusterState): readonly WaitingService[] {
  return openstackKinds
    .flatMap((kind) => cluster.inNamespace(kind, galera.metadata.namespace ?? ''))
    .filter((service) => findDatabase(service, cluster) === galera)
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

/** Pods of a database whose claims are pending for longer than the grace period. */
export function unboundVolumes(galera: KubeObject, cluster: ClusterState): readonly UnboundVolume[] {
  return findWorkloads(galera, cluster).flatMap((pod) => {
    const { name, namespace = '' } = pod.metadata
    const claim = pod.kind === 'Pod' ? cluster.get(CLAIM, `mysql-db-${name}`, namespace) : undefined
    if (!claim || getString(claim, 'status', 'phase') !== 'Pending') return []
    const age = ageMs(claim.metadata.creationTimestamp, cluster.now)
    return age < cluster.context.grace.podMs ? [] : [{ claim, pod }]
  })
}
