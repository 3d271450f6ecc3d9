/** Databases of a cloud: who waits for which, and the volumes that they wait for themselves. */
import type { Condition, KubeObject } from '../../api/object.ts'
import { conditionsOf, sinceMs, textAt } from '../../api/raw-object.ts'
import { openstackKinds } from '../kinds.ts'
import type { Patient } from '../patient.ts'
import { CLAIM, workloadsOf } from './workloads.ts'

export const GALERA = 'mariadb.openstack.org/Galera'

/** DBReady, DBSyncReady, MariaDBAccountReady, NovaAPIDBReady, … */
export const isOfDatabase = ({ type }: Condition): boolean => /DB(Sync|Account)?Ready$/.test(type)

/** The database that a service names. */
export function databaseOf(service: KubeObject, patient: Patient): KubeObject | undefined {
  const { namespace = '' } = service.metadata
  const name = textAt(service, 'spec', 'databaseInstance') ?? textAt(service, 'spec', 'apiDatabaseInstance')
  return name === undefined ? undefined : patient.get(GALERA, name, namespace)
}

export interface WaitingService {
  readonly service: KubeObject
  readonly condition: Condition
}

/** Services that say of this database that they wait for it. */
export function waitingFor(galera: KubeObject, patient: Patient): readonly WaitingService[] {
  return openstackKinds
    .flatMap((kind) => patient.in(kind, galera.metadata.namespace ?? ''))
    .filter((service) => databaseOf(service, patient) === galera)
    .flatMap((service) => {
      const open = conditionsOf(service).find((one) => isOfDatabase(one) && one.status !== 'True')
      return open ? [{ service, condition: open }] : []
    })
}

export interface UnboundVolume {
  readonly claim: KubeObject
  readonly pod: KubeObject
}

/** Pods of a database with the claims that are pending for longer than a pod takes to start. */
export function unboundVolumes(galera: KubeObject, patient: Patient): readonly UnboundVolume[] {
  return workloadsOf(galera, patient).flatMap((pod) => {
    const { name, namespace = '' } = pod.metadata
    const claim = pod.kind === 'Pod' ? patient.get(CLAIM, `mysql-db-${name}`, namespace) : undefined
    if (!claim || textAt(claim, 'status', 'phase') !== 'Pending') return []
    const age = sinceMs(claim.metadata.creationTimestamp, patient.now)
    return age < patient.context.grace.podMs ? [] : [{ claim, pod }]
  })
}
