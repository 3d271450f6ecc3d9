/** Lists the OpenStack services that nodes can have, in display order, and the kinds that a cluster has to serve for them. */
import type { KindDefinition } from '../../api/crd.ts'
import type { GroupVersionKind } from '../../api/object.ts'
import { ansibleRunKind } from '../kinds/ansible-run.ts'
import { dataPlaneKind, dataPlaneNodeKind, dataPlaneRoleKind, dataPlaneServiceKind } from '../kinds/data-plane.ts'
import { cinderVolumeService } from './cinder-volume.ts'
import type { ServiceDefinition } from './definition.ts'
import { novaService } from './nova.ts'
import { ovnMetadataService } from './ovn-metadata.ts'
import { sriovService } from './sriov.ts'

export const nodeServices: readonly ServiceDefinition[] = [
  novaService,
  ovnMetadataService,
  sriovService,
  cinderVolumeService,
]

/** The kinds that are independent of the services. */
export const coreKinds: readonly KindDefinition[] = [
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  ansibleRunKind,
]

export function servedKinds(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...coreKinds, ...services.map(({ crd }) => crd)]
}

/** Control plane kinds that services wait for, for clusters without upstream's CRDs. */
export function fallbackKinds(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...new Set(services.flatMap(({ dependency }) => dependency.fallbackCrd ?? []))]
}

export function groupVersionKind({ group, version, kind }: KindDefinition): GroupVersionKind {
  return { apiVersion: `${group}/${version}`, kind }
}

/** The kinds that the cluster has to serve for one service; a Secret always is. */
export function requiredKinds({ annotation, dependency }: ServiceDefinition): readonly GroupVersionKind[] {
  return dependency.fallbackCrd ? [annotation.kind, dependency.kind] : [annotation.kind]
}
