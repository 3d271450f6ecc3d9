/** Runs the data plane controllers in the test's own process, with short delays and a simulated control plane. */
import type { GroupVersionKind } from '../../../src/api/object.ts'
import type { DataPlaneCaches } from '../../../src/dataplane/caches.ts'
import { createDataPlane } from '../../../src/dataplane/controllers.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import type { ServiceDefinition } from '../../../src/dataplane/service-definitions/definition.ts'
import type { ControlPlane } from '../../../src/dataplane/services/nova-control-plane.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { EventRecord } from '../../../src/kube/event-recorder.ts'
import type { Log } from '../../../src/kube/log.ts'
import { createRuntime, type Runtime } from '../../../src/kube/runtime.ts'

/** More than the runs that are kept for people to read: older attempts must still count. */
export const ATTEMPTS = 5

export interface SimulatedControlPlane extends ControlPlane {
  readonly discovered: string[]
  readonly removed: string[]
  /** Instances by host; for any other host the count is unknown. */
  readonly instances: Map<string, number>
}

function simulateControlPlane(): SimulatedControlPlane {
  const discovered: string[] = []
  const removed: string[] = []
  const instances = new Map<string, number>()
  return {
    discovered,
    removed,
    instances,
    discoverHosts: async ({ host, cell }) => void discovered.push(`${host} in ${cell.metadata.name}`),
    countInstances: async ({ host }) => {
      const count = instances.get(host)
      return count === undefined ? { kind: 'unknown', why: 'connection refused' } : { kind: 'known', count }
    },
    removeCompute: async ({ host }) => void removed.push(host),
    removeAgents: async ({ host }) => void removed.push(`agents of ${host}`),
  }
}

export interface RunningControllers {
  readonly caches: DataPlaneCaches
  readonly runtime: Runtime
  readonly controlPlane: SimulatedControlPlane
  readonly events: EventRecord[]
  readonly errors: string[]
  /** Whether no key is queued or being reconciled. */
  readonly idle: () => boolean
  readonly stop: () => Promise<void>
}

export interface ControllerOptions {
  readonly services?: readonly ServiceDefinition[]
  readonly unserved?: readonly ServiceDefinition[]
  readonly env?: Readonly<Record<string, string>>
  readonly machines?: GroupVersionKind
  readonly machineNamespaces?: readonly string[]
  readonly controlPlane?: SimulatedControlPlane
  /** `product`: the delays of the product, for benchmarks. Tests use shorter ones. */
  readonly pace?: 'product'
}

export function startControllers(client: KubeClient, options: ControllerOptions = {}): RunningControllers {
  const { services = nodeServices, env = {}, machines, controlPlane = simulateControlPlane() } = options
  const events: EventRecord[] = []
  const errors: string[] = []
  const log: Log = (entry) => {
    if (entry.level === 'error') errors.push(JSON.stringify(entry))
  }
  const runtime = createRuntime({ client, log })
  const { controllers, caches } = createDataPlane({
    runtime,
    services,
    controlPlane,
    env,
    record: (event) => void events.push(event),
    retry: { attempts: ATTEMPTS, firstPauseMs: 50, maxPauseMs: 100 },
    ...(options.pace !== 'product' && { settleMs: 20, progressMs: 0 }),
    ...(machines && { machines }),
    ...(options.machineNamespaces && { machineNamespaces: options.machineNamespaces }),
    ...(options.unserved && { unserved: options.unserved }),
  })
  const running = controllers.map((controller) => runtime.add(controller))
  const idle = (): boolean => running.every((controller) => controller.idle())
  const control = new AbortController()
  const done = runtime.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await done
  }
  return { caches, runtime, controlPlane, events, errors, idle, stop }
}
