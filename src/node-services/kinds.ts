/** The kinds of the data plane, with those of its services: what a cluster has to serve. */
import { ansibleRunKind } from '../api/ansibleee.ts'
import type { KindDefinition } from '../api/crd.ts'
import { dataPlaneKind } from '../api/dataplane.ts'
import { dataPlaneNodeKind } from '../api/dataplane-node.ts'
import { dataPlaneRoleKind } from '../api/dataplane-role.ts'
import { dataPlaneServiceKind } from '../api/dataplane-service.ts'
import type { GroupVersionKind } from '../api/object.ts'
import type { ServiceDefinition } from './definition.ts'

/** Ours, whatever services there are. */
export const frameKinds: readonly KindDefinition[] = [
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  ansibleRunKind,
]

/** All that we serve. */
export function servedKinds(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...frameKinds, ...services.map(({ crd }) => crd)]
}

/** Kinds of the control plane that services wait for, each once: upstream's, where they are installed. */
export function standIns(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...new Set(services.flatMap(({ dependency }) => dependency.standIn ?? []))]
}

export function groupVersionKindOf({ group, version, kind }: KindDefinition): GroupVersionKind {
  return { apiVersion: `${group}/${version}`, kind }
}

/** What one service needs to be served; a Secret always is. */
export function kindsOf({ annotation, dependency }: ServiceDefinition): readonly GroupVersionKind[] {
  return dependency.standIn ? [annotation.kind, dependency.kind] : [annotation.kind]
}
