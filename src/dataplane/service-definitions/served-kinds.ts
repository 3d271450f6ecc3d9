/** The kinds of the data plane, with those of its services: what a cluster has to serve. */

import type { KindDefinition } from '../../api/crd.ts'
import type { GroupVersionKind } from '../../api/object.ts'
import { ansibleRunKind } from '../kinds/ansible-run.ts'
import { dataPlaneKind } from '../kinds/data-plane.ts'
import { dataPlaneServiceKind } from '../kinds/data-plane-service.ts'
import { dataPlaneNodeKind } from '../kinds/node.ts'
import { dataPlaneRoleKind } from '../kinds/role.ts'
import type { ServiceDefinition } from './definition.ts'

/** Ours, whatever services there are. */
export const coreKinds: readonly KindDefinition[] = [
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  ansibleRunKind,
]

/** All that we serve. */
export function servedKinds(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...coreKinds, ...services.map(({ crd }) => crd)]
}

/** Kinds of the control plane that services wait for, each once: upstream's, where they are installed. */
export function fallbackKinds(services: readonly ServiceDefinition[]): readonly KindDefinition[] {
  return [...new Set(services.flatMap(({ dependency }) => dependency.fallbackCrd ?? []))]
}

export function groupVersionKind({ group, version, kind }: KindDefinition): GroupVersionKind {
  return { apiVersion: `${group}/${version}`, kind }
}

/** What one service needs to be served; a Secret always is. */
export function requiredKinds({ annotation, dependency }: ServiceDefinition): readonly GroupVersionKind[] {
  return dependency.fallbackCrd ? [annotation.kind, dependency.kind] : [annotation.kind]
}
