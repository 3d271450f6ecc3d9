/** What the webhooks of the data plane kinds need to know of the cluster. Passed in: they neither read nor remember. */
import type { DataPlaneNode } from '../api/dataplane-node.ts'
import type { DataPlaneRole } from '../api/dataplane-role.ts'
import type { ServiceAnnotation } from '../api/service-annotation.ts'
import type { ServiceObject } from '../api/service-cr.ts'
import type { Environment } from '../api/service-images.ts'

/** The parts of one namespace that concern each other. */
export interface DataPlaneParts {
  readonly role: (name: string) => DataPlaneRole | undefined
  readonly node: (name: string) => DataPlaneNode | undefined
  readonly nodesOf: (role: string) => readonly DataPlaneNode[]
  readonly service: (annotation: ServiceAnnotation, name: string) => ServiceObject | undefined
}

export interface DataPlaneView {
  /** As last heard of: fast, and may be behind. */
  readonly known: (namespace: string) => DataPlaneParts
  /** As the API server says now: asked before something is refused. */
  readonly now: (namespace: string, signal: AbortSignal) => Promise<DataPlaneParts>
  readonly env: Environment
}
