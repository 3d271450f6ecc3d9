/** What runs for the object of a service, by the names that operators give. */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf } from '../../api/raw-object.ts'
import type { Patient } from '../patient.ts'

export const CLAIM = 'PersistentVolumeClaim'
export const workloadKinds = ['Pod', CLAIM, 'batch/Job']

/** Names begin with the object's; the claim of a StatefulSet is called `<volume>-<pod>`. */
export function workloadsOf(service: KubeObject, patient: Patient): readonly KubeObject[] {
  const stem = stemOf(service)
  return workloadKinds
    .flatMap((kind) => patient.in(kind, service.metadata.namespace ?? ''))
    .filter(
      ({ kind, metadata }) =>
        metadata.name.startsWith(stem) || (kind === CLAIM && metadata.name.includes(`-${stem}`)),
    )
}

/** Galera `openstack` has pods `openstack-galera-N`: by its bare name half of the cloud would be its own. */
function stemOf({ kind, metadata }: KubeObject): string {
  return kind === 'Galera' ? `${metadata.name}-galera-` : metadata.name
}

/** The scheduler holds it back for its volumes: those have the cause, not the pod. */
export function waitsForVolumes(pod: KubeObject): boolean {
  return /PersistentVolumeClaim|volume/i.test(conditionOf(pod, 'PodScheduled')?.message ?? '')
}
