/** Keeps one cache equal to the objects of several namespaces, for a program without rights in the others. */
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import type { KubeReader } from './client.ts'
import { createReflector, type Reflector, type ReflectorOptions, type ReflectorStatus } from './reflector.ts'

export interface NamespacesReflectorOptions<T extends KubeObject> extends ReflectorOptions<T> {
  readonly client: Pick<KubeReader, 'list' | 'watch' | 'resource'>
  readonly namespaces: readonly string[]
}

const DISCOVERY_RETRY_MS = 2000

/** A kind without namespaces is read as a whole. */
export function createNamespacesReflector<T extends KubeObject>(options: NamespacesReflectorOptions<T>): Reflector {
  const { client, source, cache, clock, namespaces } = options
  const whole = createReflector(options)
  const open = new Set(namespaces)
  const parts = namespaces.map((namespace) => {
    const replace = (objects: readonly T[]): void => {
      cache.replaceNamespace(namespace, objects)
      open.delete(namespace)
      if (open.size === 0) cache.markSynced()
    }
    return createReflector({ ...options, source: { ...source, namespace }, cache: { ...cache, replace } })
  })
  let running: readonly Reflector[] = [whole]
  return {
    source,
    status: () => combineStatus(running.map((reflector) => reflector.status())),
    run: async (signal) => {
      const isNamespaced = await discoverScope(client, source.kind, clock, signal)
      running = isNamespaced === false ? [whole] : parts
      await Promise.all(running.map((reflector) => reflector.run(signal)))
    },
  }
}

/** Undefined when the signal fired first. */
async function discoverScope(
  client: Pick<KubeReader, 'resource'>,
  kind: Parameters<KubeReader['resource']>[0],
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  while (!signal.aborted) {
    try {
      const resource = await client.resource(kind)
      if (resource) return resource.namespaced
    } catch {
      // The reflectors report an unreachable server; here it is only asked again.
    }
    await clock.sleep(DISCOVERY_RETRY_MS, signal)
  }
  return undefined
}

/** The worst of all: the one that fails for the longest time. */
function combineStatus(statuses: readonly ReflectorStatus[]): ReflectorStatus {
  const failing = statuses
    .filter(({ failingSince }) => failingSince !== undefined)
    .toSorted((a, b) => (a.failingSince ?? 0) - (b.failingSince ?? 0))
  const events = statuses.flatMap(({ lastEventAt }) => lastEventAt ?? [])
  return {
    failingSince: failing[0]?.failingSince,
    reason: failing[0]?.reason,
    lastEventAt: events.length > 0 ? Math.max(...events) : undefined,
  }
}
