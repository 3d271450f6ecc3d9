/** The data plane controllers in the test's own process, with short delays and a control plane that is played. */
import type { GroupVersionKind } from '../../../src/api/object.ts'
import type { ControlPlane } from '../../../src/controllers/dataplane/control-plane.ts'
import { dataPlaneControllers } from '../../../src/controllers/dataplane/controllers.ts'
import { createWorld, type World } from '../../../src/controllers/dataplane/world.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Happening } from '../../../src/kube/events.ts'
import type { Log } from '../../../src/kube/log.ts'
import { createRuntime, type Runtime } from '../../../src/kube/runtime.ts'
import { nodeServices } from '../../../src/node-services/all.ts'
import type { ServiceDefinition } from '../../../src/node-services/definition.ts'

/** More than the runs that are kept for people to read: what was tried must be known all the same. */
export const ATTEMPTS = 5

export interface PlayedControlPlane extends ControlPlane {
  readonly discovered: string[]
  readonly removed: string[]
  /** Instances by host; a host that is not here cannot be asked about. */
  readonly instances: Map<string, number>
}

function playedControlPlane(): PlayedControlPlane {
  const discovered: string[] = []
  const removed: string[] = []
  const instances = new Map<string, number>()
  return {
    discovered,
    removed,
    instances,
    discoverHosts: async ({ host, cell }) => void discovered.push(`${host} in ${cell.metadata.name}`),
    instancesOn: async ({ host }) => {
      const count = instances.get(host)
      return count === undefined ? { kind: 'unknown', why: 'connection refused' } : { kind: 'known', count }
    },
    removeCompute: async ({ host }) => void removed.push(host),
  }
}

export interface RunningControllers {
  readonly world: World
  readonly runtime: Runtime
  readonly controlPlane: PlayedControlPlane
  readonly happened: Happening[]
  readonly errors: string[]
  /** Nothing queued, nothing worked on. */
  readonly idle: () => boolean
  readonly stop: () => Promise<void>
}

export interface ControllerOptions {
  readonly services?: readonly ServiceDefinition[]
  readonly unserved?: readonly ServiceDefinition[]
  readonly env?: Readonly<Record<string, string>>
  readonly machines?: GroupVersionKind
  readonly controlPlane?: PlayedControlPlane
  /** `product`: as the product waits, for figures. Tests are impatient. */
  readonly pace?: 'product'
}

export function startControllers(client: KubeClient, options: ControllerOptions = {}): RunningControllers {
  const { services = nodeServices, env = {}, machines, controlPlane = playedControlPlane() } = options
  const happened: Happening[] = []
  const errors: string[] = []
  const log: Log = (entry) => {
    if (entry.level === 'error') errors.push(JSON.stringify(entry))
  }
  const runtime = createRuntime({ client, log })
  const world = createWorld({
    runtime,
    services,
    controlPlane,
    env,
    record: (one) => void happened.push(one),
    retry: { attempts: ATTEMPTS, firstPauseMs: 50, longestPauseMs: 100 },
    ...(options.pace !== 'product' && { settleMs: 20, progressMs: 0 }),
    ...(machines && { machines }),
    ...(options.unserved && { unserved: options.unserved }),
  })
  const added = dataPlaneControllers(world).map((one) => runtime.add(one))
  const idle = (): boolean => added.every((one) => one.idle())
  const control = new AbortController()
  const done = runtime.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await done
  }
  return { world, runtime, controlPlane, happened, errors, idle, stop }
}
