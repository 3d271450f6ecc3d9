/**
 * Opens one live view of the cluster for a whole run, and waits on it until something is ready.
 *
 * Each kind is listed once and then watched. A wait wakes on a change in its namespace, so it costs no polling.
 */
import { setMaxListeners } from 'node:events'
import { type GroupVersionKind, type KubeObject, objectKey, withoutManagedFields } from '../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import { type Cache, createCache, type Source } from '../kube/cache.ts'
import type { KubeClient } from '../kube/client.ts'
import { createReflector, defaultReflectorTiming, type Reflector, type ReflectorTiming } from '../kube/reflector.ts'
import type { StageContext } from '../run/stage.ts'
import type { Readiness } from '../verify/readiness/verdict.ts'
import { notReady, watchLost } from './findings/up.ts'

export interface LiveView {
  /** Watches these kinds from now on; resolves when each is listed completely, or is known not to be served yet. */
  readonly watch: (kinds: readonly GroupVersionKind[], context: StageContext) => Promise<void>
  /** Indexes the objects; with a namespace, namespaced kinds show the objects of that namespace only. */
  readonly index: (namespace?: string) => SnapshotIndex
  /** Resolves on the next change in this namespace or in a cluster-scoped kind, at the latest after `ms`. */
  readonly waitForChange: (namespace: string | undefined, ms: number, context: StageContext) => Promise<void>
  readonly close: () => Promise<void>
}

interface WatchedKind {
  readonly namespaced: boolean
  readonly cache: Cache
  readonly reflector: Reflector
}

/** A person watches the run, so it reconnects sooner than a controller would. */
const timing: ReflectorTiming = { ...defaultReflectorTiming, backoff: { initialMs: 200, maxMs: 5_000 } }
/** How long watching may fail before a wait gives up. */
const LOST_MS = 300_000

export function openLiveView(client: KubeClient): LiveView {
  const watched = new Map<string, WatchedKind>()
  const unserved = new Map<string, GroupVersionKind>()
  const waiters = new Set<{ readonly namespace: string | undefined; readonly wake: () => void }>()
  const end = new AbortController()
  // Every watched kind listens for the end.
  setMaxListeners(0, end.signal)
  const running: Promise<void>[] = []

  const wake = (namespace: string | undefined): void => {
    for (const waiter of waiters) {
      if (waiter.namespace === undefined || namespace === undefined || waiter.namespace === namespace) waiter.wake()
    }
  }
  const watchKind = async (kind: GroupVersionKind): Promise<void> => {
    const groupKind = formatGroupKind(kind)
    if (watched.has(groupKind)) return
    const resource = await client.resource(kind)
    if (watched.has(groupKind)) return
    if (!resource) return void unserved.set(groupKind, kind)
    unserved.delete(groupKind)
    const cache = createCache({ transform: trimObject })
    const reflector = createReflector({ client, source: watchSource(kind), cache, clock: systemClock, timing })
    watched.set(groupKind, { namespaced: resource.namespaced, cache, reflector })
    cache.subscribe(({ object }) => wake(object.metadata.namespace))
    running.push(reflector.run(end.signal))
  }
  const checkConnection = (context: StageContext): void => {
    for (const { reflector } of watched.values()) {
      const { failingSince, reason = 'unknown' } = reflector.status()
      if (failingSince === undefined) continue
      if (systemClock.elapsed() - failingSince >= LOST_MS) throw failure(watchLost, { reason })
      context.emit({ kind: 'waiting', reason: `the cluster cannot be watched: ${reason}` })
      return
    }
  }

  return {
    watch: async (kinds, context) => {
      await Promise.all(kinds.map(watchKind))
      const requested = kinds.flatMap((kind) => watched.get(formatGroupKind(kind)) ?? [])
      for (;;) {
        const pending = requested.filter(({ cache }) => !cache.hasSynced())
        if (pending.length === 0) return
        context.stop.throwIfAborted()
        checkConnection(context)
        await Promise.race([
          Promise.all(pending.map(({ cache }) => cache.waitForSync())),
          context.clock.sleep(500, context.stop),
        ])
      }
    },
    index: (namespace) => ({
      all: (groupKind) => {
        const found = watched.get(groupKind)
        return found ? found.cache.list(found.namespaced ? namespace : undefined) : []
      },
      get: (groupKind, name, within) =>
        watched.get(groupKind)?.cache.get(objectKey(within === undefined ? { name } : { namespace: within, name })),
      unread: (groupKind) => {
        if (unserved.has(groupKind)) return 'the cluster does not serve it yet'
        const found = watched.get(groupKind)
        return found && !found.cache.hasSynced()
          ? (found.reflector.status().reason ?? 'it was not read yet')
          : undefined
      },
    }),
    waitForChange: async (namespace, ms, context) => {
      checkConnection(context)
      // No event announces a new CRD, so kinds that an operator is about to bring are looked up again.
      await Promise.all([...unserved.values()].map(watchKind)).catch(() => undefined)
      context.stop.throwIfAborted()
      const done = new AbortController()
      const change = new Promise<void>((resolve) => {
        const waiter = { namespace, wake: resolve }
        waiters.add(waiter)
        context.stop.addEventListener('abort', () => resolve(), { signal: done.signal })
        done.signal.addEventListener('abort', () => waiters.delete(waiter))
      })
      try {
        await Promise.race([change, context.clock.sleep(ms, done.signal)])
      } finally {
        done.abort()
      }
    },
    close: async () => {
      end.abort()
      await Promise.allSettled(running)
    },
  }
}

/** Of Events only the warnings: the others come by the thousand. */
function watchSource({ apiVersion, kind }: GroupVersionKind): Source {
  const source = { kind: { apiVersion, kind } }
  return formatGroupKind(source.kind) === 'Event' ? { ...source, fieldSelector: 'type=Warning' } : source
}

/** Kinds that we neither write nor delete and that are many or large: managedFields are half of their size. */
const readOnlyKinds = new Set([
  'Event',
  'Node',
  'Pod',
  'apps/Deployment',
  'batch/Job',
  'cert-manager.io/Certificate',
  'discovery.k8s.io/EndpointSlice',
  'nmstate.io/NodeNetworkConfigurationEnactment',
])

/** Drops what no wait reads. Values of Secrets stay out of our memory: a wait needs to know only that they exist. */
function trimObject(object: KubeObject): KubeObject {
  const groupKind = formatGroupKind(object)
  if (groupKind === 'Secret') {
    const { data: _data, stringData: _stringData, ...rest } = object
    return rest
  }
  if (!readOnlyKinds.has(groupKind)) return object
  const trimmed = withoutManagedFields(object)
  if (groupKind !== 'Pod') return trimmed
  const spec = object['spec'] as { readonly nodeName?: string } | undefined
  return { ...trimmed, spec: { nodeName: spec?.nodeName } }
}

/** Checks again after this time even without a change, because grace periods end by the clock. */
const POLL_MS = 1_000
/** Shortest time between two checks, so that a busy cluster does not keep us busy. */
const MIN_INTERVAL_MS = 50
/** Repeats an unchanged reason after this time. */
const REPEAT_MS = 15_000

/**
 * Checks until ready and emits what it waits for; a failed check throws its cause and the next command.
 * With a namespace only changes in that namespace wake it.
 */
export async function waitUntilReady(
  check: () => Readiness,
  view: LiveView,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const { clock, emit, stop } = context
  let emitted: { readonly reason: string; readonly time: number } | undefined
  for (;;) {
    stop.throwIfAborted()
    const verdict = check()
    if (verdict.kind === 'ready') return
    if (verdict.kind === 'failed') throw failure(notReady, verdict, { exitCode: 1 })
    const now = clock.now()
    if (emitted?.reason !== verdict.waits || now - emitted.time >= REPEAT_MS) {
      emit({ kind: 'waiting', reason: `waits for ${verdict.waits}` })
      emitted = { reason: verdict.waits, time: now }
    }
    await view.waitForChange(namespace, POLL_MS, context)
    await clock.sleep(MIN_INTERVAL_MS, stop)
  }
}
