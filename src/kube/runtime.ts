/**
 * The runtime: one place where caches, controllers and the leader election are put together, started in the right
 * order and stopped in the reverse one.
 *
 * Caches run on every replica, so that a new leader starts warm; controllers run on the leader only.
 */
import { setMaxListeners } from 'node:events'
import type { KubeObject } from '../api/object.ts'
import { type Clock, systemClock, waitForAbort } from '../clock/clock.ts'
import { finding } from '../errors/finding.ts'
import { type Cache, type CacheReader, createCache, type IndexFunction, type Source, sourceKey } from './cache.ts'
import type { KubeClient } from './client.ts'
import { type Controller, type ControllerObserver, createController, type RunningController } from './controller.ts'
import { controllersHang } from './findings/runtime.ts'
import { type LeaseOptions, runAsLeader } from './leader-election.ts'
import type { Leadership, LeadershipEnd } from './leadership.ts'
import { leaderFencedClient } from './leadership.ts'
import { type Log, silentLog } from './log.ts'
import type { Metrics } from './metrics.ts'
import { createReflector, type Reflector, type ReflectorTiming } from './reflector.ts'

export interface RuntimeOptions {
  readonly client: KubeClient
  readonly clock?: Clock
  readonly log?: Log
  readonly metrics?: Metrics
  readonly timing?: ReflectorTiming
  /** Without it, controllers start as soon as their caches are whole. */
  readonly election?: Omit<LeaseOptions, 'client' | 'clock' | 'log' | 'observer'>
  /** So long controllers may take to end. */
  readonly graceMs?: number
  /** A cache that could not be refreshed for so long makes the program unready. */
  readonly staleMs?: number
  /** What of an object caches hold; all of it unless told otherwise. */
  readonly keep?: (object: KubeObject) => KubeObject
  /** For tests: a reader who writes to a cached object fails. */
  readonly freeze?: boolean
}

export interface HealthCheck {
  readonly name: string
  /** Why not; undefined when all is well. */
  readonly problem: string | undefined
}

/** Read by all; written by its reflector, but for notes of own writes. */
export type SharedCache<T extends KubeObject = KubeObject> = CacheReader<T> & Pick<Cache<T>, 'note'>

export interface Runtime {
  /** For controllers: its writes fail when this program does not lead (any more). */
  readonly client: KubeClient
  /** The cache of a source, the same one for everybody who asks; the first question makes it. */
  readonly cache: <T extends KubeObject = KubeObject>(
    source: Source,
    indexes?: Readonly<Record<string, IndexFunction<T>>>,
  ) => SharedCache<T>
  readonly add: (controller: Controller) => RunningController
  /** Works until the signal fires or the leadership is lost; the latter means: end the process. */
  readonly run: (signal: AbortSignal) => Promise<LeadershipEnd>
  readonly isLeader: () => boolean
  readonly ready: () => readonly HealthCheck[]
}

interface Reflected {
  readonly cache: Cache
  readonly reflector: Reflector
  readonly name: string
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { client, clock = systemClock, log = silentLog, metrics, timing, election, keep, freeze = false } = options
  const { graceMs = 30_000, staleMs = 300_000 } = options
  const reflected = new Map<string, Reflected>()
  const controllers: RunningController[] = []
  let leadership: Leadership | undefined
  let start: ((one: Reflected) => void) | undefined

  const leads = (): boolean => (election ? (leadership?.isHeld() ?? false) : true)

  const reflect = (source: Source): Reflected => {
    const id = sourceKey(source)
    const known = reflected.get(id)
    if (known) return known
    const { kind, namespace, labelSelector, fieldSelector } = source
    const name = [kind.kind, namespace, labelSelector, fieldSelector].filter(Boolean).join(' ')
    const cache = createCache({ freeze, ...optional({ keep }) })
    const observer = metrics?.reflector(name, () => made.reflector.status())
    const plain = { kind, ...optional({ namespace, labelSelector, fieldSelector }) }
    const reflector = createReflector({
      client,
      source: plain,
      cache,
      clock,
      log,
      ...optional({ timing, observer }),
    })
    const made: Reflected = { cache, reflector, name }
    reflected.set(id, made)
    start?.(made)
    return made
  }

  const add = (definition: Controller): RunningController => {
    for (const watch of definition.watches) reflect(watch)
    const workingMs = (): readonly number[] => made.processingMs()
    const observer: ControllerObserver | undefined = metrics?.controller(definition.name, workingMs)
    const cacheOf = (source: Source): CacheReader => reflect(source).cache
    const made = createController(definition, { clock, log, getCache: cacheOf, ...optional({ observer }) })
    controllers.push(made)
    return made
  }

  const work = async (signal: AbortSignal): Promise<void> => {
    setMaxListeners(0, signal)
    const busy = new Set(controllers)
    const runs = controllers.map(async (controller) => {
      await controller.run(signal)
      busy.delete(controller)
    })
    // Caches alone are reason enough to run.
    if (runs.length === 0) await waitForAbort(signal)
    const grace = graceAfter(signal, clock, graceMs)
    const late = await Promise.race([Promise.all(runs).then(() => false), grace.over])
    grace.cancel()
    if (!late) return
    const facts = { names: [...busy].map(({ name }) => name), graceMs }
    log({ level: 'warn', message: finding(controllersHang, facts).message, code: controllersHang.code })
  }

  const elect = (signal: AbortSignal): Promise<LeadershipEnd> | undefined => {
    if (!election) return undefined
    const observer = metrics?.election(election.name)
    const asLeader = (tenure: Leadership): Promise<void> => {
      leadership = tenure
      return work(tenure.signal)
    }
    return runAsLeader({ ...election, client, clock, log, ...optional({ observer }) }, asLeader, signal)
  }

  return {
    client: leaderFencedClient(client, leads),
    cache: <T extends KubeObject>(source: Source, indexes: Readonly<Record<string, IndexFunction<T>>> = {}) => {
      const { cache } = reflect(source)
      for (const [name, valuesOf] of Object.entries(indexes)) cache.declareIndex(name, valuesOf as IndexFunction)
      return cache as unknown as SharedCache<T>
    },
    add,
    isLeader: leads,
    ready: () => [...reflected.values()].map((reflected) => checkOf(reflected, clock, staleMs)),
    run: async (signal) => {
      const caches = new AbortController()
      // One listener per cache, controller and look: many of them are no leak.
      setMaxListeners(0, signal, caches.signal)
      const runs: Promise<void>[] = []
      start = ({ reflector }) => void runs.push(reflector.run(caches.signal))
      for (const one of reflected.values()) start(one)
      try {
        const end = await elect(signal)
        if (end) return end
        await work(signal)
        return 'stopped'
      } finally {
        // Last: a controller that finishes its look may still read.
        start = undefined
        caches.abort()
        await Promise.all(runs)
      }
    },
  }
}

/** True once so long has passed since the signal fired. */
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

function checkOf({ cache, reflector, name }: Reflected, clock: Clock, staleMs: number): HealthCheck {
  const { failingSince, reason } = reflector.status()
  if (!cache.hasSynced()) return { name, problem: `not read yet${reason ? `: ${reason}` : ''}` }
  const failingMs = failingSince === undefined ? 0 : clock.elapsed() - failingSince
  return {
    name,
    problem: failingMs > staleMs ? `not refreshed for ${Math.round(failingMs / 1000)} s: ${reason}` : undefined,
  }
}

/** Leaves out what is undefined: an option that is absent and one that is undefined are two things. */
function optional<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}
