/** What runs for the object of a service, by the names that operators give. */
import type { KubeObject } from '../../api/object.ts'
import { findCondition } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'

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
