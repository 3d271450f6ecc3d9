/**
 * The lookout: one live view of the cluster for a whole run. Each kind is listed once and then followed, whoever
 * asks; waits wake when something changes in their namespace, so cost grows with what happens, not with the clock.
 */
import { setMaxListeners } from 'node:events'
import type { GroupVersionKind } from '../api/object.ts'
import { groupKindOf, type SnapshotIndex } from '../api/snapshot.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import { unfollowable } from '../errors/deploy.ts'
import { failure } from '../errors/failure.ts'
import { type Cache, createCache } from '../kube/cache.ts'
import type { KubeClient } from '../kube/client.ts'
import { keyOf } from '../kube/key.ts'
import { createReflector, defaultTiming, type Reflector, type ReflectorTiming } from '../kube/reflector.ts'
import type { StageContext } from '../run/stage.ts'
import { keptOf, sourceOf } from './followed.ts'

export interface Lookout {
  /** Follows these kinds from now on; ends when each was read whole, or is known not to be served yet. */
  readonly follow: (kinds: readonly GroupVersionKind[], context: StageContext) => Promise<void>
  /** The view; with a namespace, namespaced kinds show that namespace alone. */
  readonly index: (namespace?: string) => SnapshotIndex
  /** The next change in this namespace or in what has none, or the end of the time, whichever is first. */
  readonly changed: (namespace: string | undefined, ms: number, context: StageContext) => Promise<void>
  /** Why the cluster cannot be followed at the moment. */
  readonly trouble: () => string | undefined
  readonly close: () => Promise<void>
}

export interface LookoutSettings {
  readonly client: KubeClient
  readonly clock?: Clock
  readonly timing?: ReflectorTiming
  /** How long the cluster may be out of sight before a wait gives up. */
  readonly lostMs?: number
}

interface Followed {
  readonly namespaced: boolean
  readonly cache: Cache
  readonly reflector: Reflector
}

export function openLookout(settings: LookoutSettings): Lookout {
  const { client, clock = systemClock, timing = quickTiming, lostMs = 300_000 } = settings
  const followed = new Map<string, Followed>()
  const unserved = new Map<string, GroupVersionKind>()
  const wakers = new Set<{ readonly namespace: string | undefined; readonly wake: () => void }>()
  const end = new AbortController()
  // Every kind that is followed listens for the end.
  setMaxListeners(0, end.signal)
  const running: Promise<void>[] = []

  const wakeFor = (namespace: string | undefined): void => {
    for (const waker of wakers) {
      if (waker.namespace === undefined || namespace === undefined || waker.namespace === namespace)
        waker.wake()
    }
  }
  const begin = async (kind: GroupVersionKind): Promise<void> => {
    const groupKind = groupKindOf(kind)
    if (followed.has(groupKind)) return
    const resource = await client.resource(kind)
    if (followed.has(groupKind)) return
    if (!resource) return void unserved.set(groupKind, kind)
    unserved.delete(groupKind)
    const cache = createCache({ keep: keptOf })
    const source = sourceOf(kind)
    const reflector = createReflector({ client, source, cache, clock, timing })
    followed.set(groupKind, { namespaced: resource.namespaced, cache, reflector })
    cache.subscribe(({ object }) => wakeFor(object.metadata.namespace))
    running.push(reflector.run(end.signal))
  }
  const failing = (): { readonly reason: string; readonly forMs: number } | undefined => {
    for (const { reflector } of followed.values()) {
      const { failingSince, reason } = reflector.status()
      if (failingSince !== undefined)
        return { reason: reason ?? 'unknown', forMs: clock.elapsed() - failingSince }
    }
    return undefined
  }
  const checkSight = (context: StageContext): void => {
    const trouble = failing()
    if (!trouble) return
    if (trouble.forMs >= lostMs) throw failure(unfollowable, { reason: trouble.reason })
    context.emit({ kind: 'waiting', reason: `the cluster is out of sight: ${trouble.reason}` })
  }

  return {
    follow: async (kinds, context) => {
      await Promise.all(kinds.map(begin))
      const wanted = kinds.flatMap((kind) => followed.get(groupKindOf(kind)) ?? [])
      while (wanted.some(({ cache }) => !cache.synced())) {
        context.stop.throwIfAborted()
        checkSight(context)
        const open = wanted.filter(({ cache }) => !cache.synced())
        await Promise.race([
          Promise.all(open.map(({ cache }) => cache.whenSynced())),
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
        followed
          .get(groupKind)
          ?.cache.get(keyOf(within === undefined ? { name } : { namespace: within, name })),
      unread: (groupKind) => {
        if (unserved.has(groupKind)) return 'the cluster does not serve it yet'
        const one = followed.get(groupKind)
        return one && !one.cache.synced()
          ? (one.reflector.status().reason ?? 'it was not read yet')
          : undefined
      },
    }),
    changed: async (namespace, ms, context) => {
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
    trouble: () => failing()?.reason,
    close: async () => {
      end.abort()
      await Promise.allSettled(running)
    },
  }
}

/** A run is watched by a person: it comes back sooner than a controller would. */
const quickTiming: ReflectorTiming = { ...defaultTiming, backoff: { firstMs: 200, maxMs: 5_000 } }
