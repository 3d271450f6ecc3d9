/** Creates the data plane controllers and the caches that they share with the webhooks. */
import { createOwnWrites, createWriter } from '../controllers/kit/writes.ts'
import type { Controller } from '../kube/controller.ts'
import type { EventRecord } from '../kube/event-recorder.ts'
import type { Runtime } from '../kube/runtime.ts'
import { createCaches, type DataPlaneCaches, nodeViewWatches, type OptionalKinds } from './caches.ts'
import { dataPlaneController } from './nodes/data-plane-controller.ts'
import { nodeController } from './nodes/node-controller.ts'
import { createNodeViews } from './nodes/node-view.ts'
import { roleController } from './nodes/role-controller.ts'
import { defaultRunRetry, type RunRetry } from './runs/decide-step.ts'
import { createRunIndex } from './runs/run-index.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'
import type { Environment } from './service-definitions/images.ts'
import type { ControlPlane } from './services/nova-control-plane.ts'
import { placementController } from './services/placement-controller.ts'
import { serviceController } from './services/service-controller.ts'
import { createOwnedSecrets, FIELD_MANAGER } from './writes.ts'

export interface DataPlaneOptions extends OptionalKinds {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly services: readonly ServiceDefinition[]
  /** Services whose kinds this cluster does not serve: a node that requests one reports it. */
  readonly unserved?: readonly ServiceDefinition[]
  readonly controlPlane: ControlPlane
  readonly env: Environment
  readonly record?: (event: EventRecord) => void
  readonly retry?: RunRetry
  /** How long a role waits for further changes of its nodes before it reconciles. */
  readonly settleMs?: number
  /** How long each node in progress delays its status; errors and the end are written at once. */
  readonly progressMs?: number
}

export function createDataPlane(options: DataPlaneOptions): {
  readonly controllers: readonly Controller[]
  readonly caches: DataPlaneCaches
} {
  const { runtime, services, unserved = [], controlPlane, env } = options
  const { client } = runtime
  const record = options.record ?? (() => {})
  const retry = options.retry ?? defaultRunRetry
  const caches = createCaches(runtime, services, options)
  const runs = createRunIndex({ runtime, record })
  const views = createNodeViews({ caches, runs, retry })
  caches.nodes.subscribe(({ kind, object }) => {
    if (kind === 'deleted') views.forget(object)
  })
  // A status that a role writes about itself concerns none of its nodes.
  const ownWrites = createOwnWrites()
  const writer = createWriter({ client, fieldManager: FIELD_MANAGER })
  const deps = {
    client,
    caches,
    runs,
    views,
    record,
    retry,
    services,
    unserved,
    controlPlane,
    env,
    writer,
    statusWriter: createWriter({ client, fieldManager: FIELD_MANAGER, ownWrites }),
    isOwnWrite: ownWrites.has,
    ownedSecrets: createOwnedSecrets(writer, caches.secrets),
    viewWatches: nodeViewWatches(options),
    settleMs: options.settleMs ?? 200,
    progressMs: options.progressMs ?? 100,
  }
  const controllers = [
    dataPlaneController(deps),
    roleController(deps),
    nodeController(deps),
    ...services.flatMap((definition) => [placementController(deps, definition), serviceController(deps, definition)]),
  ]
  return { controllers, caches }
}
