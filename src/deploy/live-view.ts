/**
 * The lookout: one live view of the cluster for a whole run. Each kind is listed once and then followed, whoever
 * asks; waits wake when something changes in their namespace, so cost grows with what happens, not with the clock.
 */
import { setMaxListeners } from 'node:events'
import { type GroupVersionKind, objectKey } from '../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import { type Cache, createCache } from '../kube/cache.ts'
import type { KubeClient } from '../kube/client.ts'
import { createReflector, defaultReflectorTiming, type Reflector, type ReflectorTiming } from '../kube/reflector.ts'
import { watchLost } from '../run/findings.ts'
import type { StageContext } from '../run/stage.ts'
import { trimObject, watchSource } from './followed.ts'

export interface LiveView {
  /** Follows these kinds from now on; ends when each was read whole, or is known not to be served yet. */
  readonly watch: (kinds: readonly GroupVersionKind[], context: StageContext) => Promise<void>
  /** The view; with a namespace, namespaced kinds show that namespace alone. */
  readonly index: (namespace?: string) => SnapshotIndex
  /** The next change in this namespace or in what has none, or the end of the time, whichever is first. */
  readonly waitForChange: (namespace: string | undefined, ms: number, context: StageContext) => Promise<void>
  /** Why the cluster cannot be followed at the moment. */
  readonly watchError: () => string | undefined
  readonly close: () => Promise<void>
}

export interface LiveViewOptions {
  readonly client: KubeClient
  readonly clock?: Clock
  readonly timing?: ReflectorTiming
  /** How long the cluster may be out of sight before a wait gives up. */
  readonly lostMs?: number
}

interface WatchedKind {
  readonly namespaced: boolean
  readonly cache: Cache
  readonly reflector: Reflector
}

export function openLiveView(settings: LiveViewOptions): LiveView {
  const { client, clock = systemClock, timing = interactiveTiming, lostMs = 300_000 } = settings
  const followed = new Map<string, WatchedKind>()
  const unserved = new Map<string, GroupVersionKind>()
  const wakers = new Set<{ readonly namespace: string | undefined; readonly wake: () => void }>()
  const end = new AbortController()
  // Every kind that is followed listens for the end.
  setMaxListeners(0, end.signal)
  const running: Promise<void>[] = []

  const wakeFor = (namespace: string | undefined): void => {
    for (const waker of wakers) {
      if (waker.namespace === undefined || namespace === undefined || waker.namespace === namespace) waker.wake()
    }
  }
  const begin = async (kind: GroupVersionKind): Promise<void> => {
    const groupKind = formatGroupKind(kind)
    if (followed.has(groupKind)) return
    const resource = await client.resource(kind)
    if (followed.has(groupKind)) return
    if (!resource) return void unserved.set(groupKind, kind)
    unserved.delete(groupKind)
    const cache = createCache({ transform: trimObject })
    const source = watchSource(kind)
    const reflector = createReflector({ client, source, cache, clock, timing })
    followed.set(groupKind, { namespaced: resource.namespaced, cache, reflector })
    cache.subscribe(({ object }) => wakeFor(object.metadata.namespace))
    running.push(reflector.run(end.signal))
  }
  const failing = (): { readonly reason: string; readonly forMs: number } | undefined => {
    for (const { reflector } of followed.values()) {
      const { failingSince, reason } = reflector.status()
      if (failingSince !== undefined) return { reason: reason ?? 'unknown', forMs: clock.elapsed() - failingSince }
    }
    return undefined
  }
  const checkSight = (context: StageContext): void => {
    const trouble = failing()
    if (!trouble) return
    if (trouble.forMs >= lostMs) throw failure(watchLost, { reason: trouble.reason })
    context.emit({ kind: 'waiting', reason: `the cluster is out of sight: ${trouble.reason}` })
  }

  return {
    watch: async (kinds, context) => {
      await Promise.all(kinds.map(begin))
      const wanted = kinds.flatMap((kind) => followed.get(formatGroupKind(kind)) ?? [])
      while (wanted.some(({ cache }) => !cache.hasSynced())) {
        context.stop.throwIfAborted()
        checkSight(context)
        const open = wanted.filter(({ cache }) => !cache.hasSynced())
        await Promise.race([
          Promise.all(open.map(({ cache }) => cache.waitForSync())),
          context.clock.sleep(500, context.stop),
        ])
      }
    },
    index: (namespace) => ({
      all: (groupKind) => {
        const one = followed.get(groupKind)
        if (!one) return []
        return one.cache.list(one.namespaced ? namespace : undefined)
      },
      get: (groupKind, name, within) =>
        followed.get(groupKind)?.cache.get(objectKey(within === undefined ? { name } : { namespace: within, name })),
      unread: (groupKind) => {
        if (unserved.has(groupKind)) return 'the cluster does not serve it yet'
        const one = followed.get(groupKind)
        return one && !one.cache.hasSynced() ? (one.reflector.status().reason ?? 'it was not read yet') : undefined
      },
    }),
    waitForChange: async (namespace, ms, context) => {
      checkSight(context)
      // A kind that an operator is about to bring is asked for again: nobody tells of a new CRD.
      await Promise.all([...unserved.values()].map(begin)).catch(() => undefined)
      context.stop.throwIfAborted()
      const over = new AbortController()
      const change = new Promise<void>((resolve) => {
        const waker = { namespace, wake: resolve }
        wakers.add(waker)
        context.stop.addEventListener('abort', () => resolve(), { signal: over.signal })
        over.signal.addEventListener('abort', () => wakers.delete(waker))
      })
      try {
        await Promise.race([change, context.clock.sleep(ms, over.signal)])
      } finally {
        over.abort()
      }
    },
    watchError: () => failing()?.reason,
    close: async () => {
      end.abort()
      await Promise.allSettled(running)
    },
  }
}

/** A run is watched by a person: it comes back sooner than a controller would. */
const interactiveTiming: ReflectorTiming = { ...defaultReflectorTiming, backoff: { initialMs: 200, maxMs: 5_000 } }
