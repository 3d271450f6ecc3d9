/**
 * Combines caches, controllers and leader election: starts them in order and stops them in the reverse order.
 *
 * Caches run on every replica, so that a new leader starts warm; controllers run on the leader only.
 */
import { setMaxListeners } from 'node:events'
import { type GroupVersionKind, type KubeObject, objectKey } from '../api/object.ts'
import { type Clock, systemClock, waitForAbort } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import { finding } from '../errors/finding.ts'
import {
  type Cache,
  type CacheReader,
  createCache,
  createIdentityTransform,
  type IndexFunction,
  type Source,
  sourceKey,
} from './cache.ts'
import type { KubeClient } from './client.ts'
import { type Controller, createController, type RunningController } from './controller.ts'
import { controllersHang } from './findings/runtime.ts'
import { type LeaseOptions, runAsLeader } from './leader-election.ts'
import type { Leadership, LeadershipEnd } from './leadership.ts'
import { leaderFencedClient, leaderGuard } from './leadership.ts'
import { type Log, silentLog } from './log.ts'
import type { Metrics } from './metrics.ts'
import { createNamespacesReflector } from './namespaces-reflector.ts'
import { createReflector, type Reflector, type ReflectorTiming } from './reflector.ts'
import type { WriteGuard } from './write-guard.ts'

export interface RuntimeOptions {
  readonly client: KubeClient
  readonly clock?: Clock
  readonly log?: Log
  readonly metrics?: Metrics
  readonly timing?: ReflectorTiming
  /** Without it, controllers start as soon as their caches have synced. */
  readonly election?: Omit<LeaseOptions, 'client' | 'clock' | 'log' | 'observer'>
  /** Limit for controllers to stop. */
  readonly graceMs?: number
  /** A cache that could not be refreshed for this long makes the program unready. */
  readonly staleMs?: number
  /** The part of an object that caches store; everything by default. */
  readonly transform?: (object: KubeObject) => KubeObject
  /** Whether caches keep only what identifies an object of this kind, once their listeners have received it. */
  readonly isIndexed?: (kind: GroupVersionKind) => boolean
  /** The namespaces that a kind is read in; undefined for all. */
  readonly namespacesFor?: (kind: GroupVersionKind) => readonly string[] | undefined
  /** For tests: modifying a cached object fails. */
  readonly freeze?: boolean
}

export interface HealthCheck {
  readonly name: string
  /** What is wrong; undefined when the check passes. */
  readonly problem: string | undefined
}

/** Read by controllers, written by its reflector; controllers may note their own writes. */
export type SharedCache<T extends KubeObject = KubeObject> = CacheReader<T> & Pick<Cache<T>, 'note'>

export interface Runtime {
  /** For controllers: its writes fail when this program is not the leader. */
  readonly client: KubeClient
  /** For what controllers do past the client, such as starting a process: throws when this program is not the leader. */
  readonly guard: WriteGuard
  /** The shared cache of a source; the first call creates it. */
  readonly cache: <T extends KubeObject = KubeObject>(
    source: Source,
    indexes?: Readonly<Record<string, IndexFunction<T>>>,
  ) => SharedCache<T>
  readonly add: (controller: Controller) => RunningController
  /** Runs until the signal fires or the leadership is lost; after a loss the process must exit. */
  readonly run: (signal: AbortSignal) => Promise<LeadershipEnd>
  readonly isLeader: () => boolean
  readonly ready: () => readonly HealthCheck[]
}

const METADATA_PAGE = 100

interface Reflected {
  readonly cache: Cache
  readonly reflector: Reflector
  readonly name: string
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { client, clock = systemClock, log = silentLog, metrics, timing, election, transform, freeze = false } = options
  const { graceMs = 30_000, staleMs = 300_000, namespacesFor, isIndexed = () => false } = options
  const reflected = new Map<string, Reflected>()
  const controllers: RunningController[] = []
  let leadership: Leadership | undefined
  let start: ((entry: Reflected) => void) | undefined

  const isLeader = (): boolean => (election ? (leadership?.isHeld() ?? false) : true)
  const guard = leaderGuard(isLeader)

  const reflect = (source: Source): Reflected => {
    const id = sourceKey(source)
    const known = reflected.get(id)
    if (known) return known
    const { kind, namespace, labelSelector, fieldSelector, metadataOnly } = source
    const name = [kind.kind, namespace, labelSelector, fieldSelector].filter(Boolean).join(' ')
    const cache = createCache({
      freeze,
      onIndexFailure: ({ metadata }, error) => {
        const fields = { kind: kind.kind, key: objectKey(metadata), reason: formatError(error) }
        log({ level: 'error', message: 'an index failed for an object', ...fields })
      },
      ...optional({ transform: metadataOnly ? createIdentityTransform(labelSelector) : transform }),
      ...(isIndexed(kind) && { retain: createIdentityTransform(undefined) }),
    })
    const observer = metrics?.reflector(name, () => created.reflector.status())
    const plain = { kind, ...optional({ namespace, labelSelector, fieldSelector, metadataOnly }) }
    const served = namespace === undefined ? namespacesFor?.(kind) : undefined
    const settings = {
      client,
      source: plain,
      cache,
      clock,
      log,
      ...optional({ timing, observer }),
      // The server sends annotations of up to 256 KiB per object.
      ...(metadataOnly && { pageSize: METADATA_PAGE }),
    }
    const reflector = served
      ? createNamespacesReflector({ ...settings, namespaces: served })
      : createReflector(settings)
    const created: Reflected = { cache, reflector, name }
    reflected.set(id, created)
    start?.(created)
    return created
  }

  const add = (definition: Controller): RunningController => {
    for (const watch of definition.watches) reflect(watch)
    const observer = metrics?.controller(definition.name, () => created.processingMs())
    const getCache = (source: Source): CacheReader => reflect(source).cache
    const created = createController(definition, { clock, log, getCache, ...optional({ observer }) })
    controllers.push(created)
    return created
  }

  const work = async (signal: AbortSignal): Promise<void> => {
    setMaxListeners(0, signal)
    const busy = new Set(controllers)
    const runs = controllers.map(async (controller) => {
      await controller.run(signal)
      busy.delete(controller)
    })
    // Without controllers it runs for its caches.
    if (runs.length === 0) await waitForAbort(signal)
    const grace = graceAfter(signal, clock, graceMs)
    const isLate = await Promise.race([Promise.all(runs).then(() => false), grace.over])
    grace.cancel()
    if (!isLate) return
    const facts = { names: [...busy].map(({ name }) => name), graceMs }
    log({ level: 'warn', message: finding(controllersHang, facts).message, code: controllersHang.code })
  }

  const elect = (signal: AbortSignal): Promise<LeadershipEnd> | undefined => {
    if (!election) return undefined
    const observer = metrics?.election(election.name)
    const asLeader = (current: Leadership): Promise<void> => {
      leadership = current
      return work(current.signal)
    }
    return runAsLeader({ ...election, client, clock, log, ...optional({ observer }) }, asLeader, signal)
  }

  return {
    client: leaderFencedClient(client, guard),
    guard,
    cache: <T extends KubeObject>(source: Source, indexes: Readonly<Record<string, IndexFunction<T>>> = {}) => {
      const { cache } = reflect(source)
      for (const [name, valuesOf] of Object.entries(indexes)) cache.declareIndex(name, valuesOf as IndexFunction)
      return cache as unknown as SharedCache<T>
    },
    add,
    isLeader,
    ready: () => [...reflected.values()].map((entry) => checkCache(entry, clock, staleMs)),
    run: async (signal) => {
      const caches = new AbortController()
      // One listener per cache, controller and reconcile: many listeners are not a leak.
      setMaxListeners(0, signal, caches.signal)
      const runs: Promise<void>[] = []
      start = ({ reflector }) => void runs.push(reflector.run(caches.signal))
      for (const entry of reflected.values()) start(entry)
      try {
        const end = await elect(signal)
        if (end) return end
        await work(signal)
        return 'stopped'
      } finally {
        // Last: a controller that is finishing may still read.
        start = undefined
        caches.abort()
        await Promise.all(runs)
      }
    },
  }
}

/** Resolves to true this long after the signal fired. */
function graceAfter(
  signal: AbortSignal,
  clock: Clock,
  ms: number,
): { readonly over: Promise<true>; readonly cancel: () => void } {
  let stopTimer = (): void => {}
  let arm = (): void => {}
  const over = new Promise<true>((resolve) => {
    arm = () => {
      stopTimer = clock.after(ms, () => resolve(true))
    }
  })
  if (signal.aborted) arm()
  else signal.addEventListener('abort', arm)
  const cancel = (): void => {
    signal.removeEventListener('abort', arm)
    stopTimer()
  }
  return { over, cancel }
}

function checkCache({ cache, reflector, name }: Reflected, clock: Clock, staleMs: number): HealthCheck {
  const { failingSince, reason } = reflector.status()
  if (!cache.hasSynced()) return { name, problem: `not read yet${reason ? `: ${reason}` : ''}` }
  const failingMs = failingSince === undefined ? 0 : clock.elapsed() - failingSince
  return {
    name,
    problem: failingMs > staleMs ? `not refreshed for ${Math.round(failingMs / 1000)} s: ${reason}` : undefined,
  }
}

/** Drops undefined members: an absent option and an undefined one are different types. */
function optional<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}
