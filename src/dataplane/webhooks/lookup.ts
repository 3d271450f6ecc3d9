/** What the webhooks of the data plane kinds need to know of the cluster. Passed in: they neither read nor remember. */
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { ServiceAnnotation } from '../rules/service-annotation.ts'
import type { Environment } from '../service-definitions/images.ts'

/** The parts of one namespace that concern each other. */
export interface DataPlaneObjects {
  readonly role: (name: string) => DataPlaneRole | undefined
  readonly node: (name: string) => DataPlaneNode | undefined
  readonly nodesInRole: (role: string) => readonly DataPlaneNode[]
  readonly service: (annotation: ServiceAnnotation, name: string) => ServiceObject | undefined
}

export interface DataPlaneLookup {
  /** As last heard of: fast, and may be behind. */
  readonly cached: (namespace: string) => DataPlaneObjects
  /** As the API server says now: asked before something is refused. */
  readonly live: (namespace: string, signal: AbortSignal) => Promise<DataPlaneObjects>
  readonly env: Environment
}
