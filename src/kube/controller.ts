/**
 * Runs the controller loop: changes become keys, keys are reconciled, and the outcome decides when to reconcile again.
 *
 * Level-triggered: a reconciler receives a key, never the change, so that a lost, duplicated or late event only changes
 * the time. Must not know kinds or clusters.
 */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { type KubeObject, objectKey } from '../api/object.ts'
import { type Clock, waitForAbort } from '../clock/clock.ts'
import { Failure, formatError } from '../errors/failure.ts'
import type { CacheReader, Change, Source } from './cache.ts'
import { type Log, silentLog, withFields } from './log.ts'
import { createQueue, type QueueObserver } from './queue.ts'
import type { BackoffPolicy } from './retry.ts'

export interface ReconcileContext {
  /** Fires when the controller stops. Pass it to every request. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly clock: Clock
}

export interface ReconcileResult {
  /** Reconcile again after this time, whether or not something changes. */
  readonly requeueAfterMs?: number
}

/** Reconciles one key. A thrown error retries it with backoff. */
export type Reconcile = (
  request: Request,
  context: ReconcileContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler without a result need not return one
) => Promise<ReconcileResult | void>

export interface Watch extends Source {
  /** The keys of the controller's kind that a change of this object affects. The object itself by default. */
  readonly map?: (object: KubeObject) => readonly string[]
  /** At the start of the controller, keys of such objects are processed after all others. */
  readonly isLowPriority?: (object: KubeObject) => boolean
  /** Whether the controller wrote this exact version itself and need not reconcile it. */
  readonly isOwnWrite?: (object: KubeObject) => boolean
}

export interface Controller {
  readonly name: string
  readonly watches: readonly Watch[]
  readonly reconcile: Reconcile
  /** How many keys are reconciled at the same time. */
  readonly workers?: number
  readonly retry?: BackoffPolicy
}

/** The outcome of one reconcile. */
export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'requeue-after'; readonly ms: number }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'interrupted' }

/** Callbacks for metrics. */
export interface ControllerObserver {
  readonly queue?: QueueObserver
  readonly started?: (workers: number) => void
  readonly active?: (workers: number) => void
  readonly reconciled?: (outcome: Outcome['kind'], tookMs: number) => void
}

export interface ControllerDeps {
  readonly clock: Clock
  readonly getCache: (source: Source) => CacheReader
  readonly log?: Log
  readonly observer?: ControllerObserver
}

export interface RunningController {
  readonly name: string
  /** Requests a reconcile from outside: a timer, a file, another system. */
  readonly enqueue: (key: string) => void
  /** Nothing is queued and nothing is being reconciled. */
  readonly idle: () => boolean
  /** For each key in work, how long it has taken so far. */
  readonly processingMs: () => readonly number[]
  /** Runs until the signal fires and the last reconcile has ended. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** Reconciles that never wait give the rest of the program a turn after this time. */
const MAX_BLOCK_MS = 5

export function createController(definition: Controller, deps: ControllerDeps): RunningController {
  const { clock, getCache, log: plainLog = silentLog, observer = {} } = deps
  const { name, watches, reconcile, workers = 1, retry } = definition
  const log = withFields(plainLog, { controller: name })
  const queue = createQueue({
    clock,
    ...(retry && { retry }),
    ...(observer.queue && { observer: observer.queue }),
  })
  let active = 0

  const reconcileKey = async (key: string, stop: AbortSignal): Promise<Outcome> => {
    const control = new AbortController()
    // Every request of the reconcile listens to it: many listeners are not a leak.
    setMaxListeners(0, control.signal)
    const onStop = (): void => control.abort(stop.reason)
    if (stop.aborted) return { kind: 'interrupted' }
    stop.addEventListener('abort', onStop)
    try {
      const result = await reconcile(parseObjectKey(key), {
        signal: control.signal,
        clock,
        log: withFields(log, { key, reconcileId: randomUUID() }),
      })
      const ms = result?.requeueAfterMs
      return ms === undefined ? { kind: 'success' } : { kind: 'requeue-after', ms }
    } catch (error) {
      // A stop is not a failure of the key: the next leader reconciles everything again.
      if (stop.aborted) return { kind: 'interrupted' }
      return { kind: 'error', error }
    } finally {
      stop.removeEventListener('abort', onStop)
    }
  }

  const requeue = (key: string, outcome: Outcome): void => {
    switch (outcome.kind) {
      case 'success':
        queue.forget(key)
        return
      case 'requeue-after':
        queue.forget(key)
        queue.addAfter(key, outcome.ms)
        return
      case 'error':
        log({ level: 'error', message: 'reconcile failed', key, ...describeFailure(outcome.error) })
        queue.addRateLimited(key)
        return
      case 'interrupted':
        return
    }
  }

  const processKey = async (key: string, stop: AbortSignal): Promise<void> => {
    active += 1
    observer.active?.(active)
    const startedAt = clock.elapsed()
    const outcome = await reconcileKey(key, stop)
    requeue(key, outcome)
    active -= 1
    observer.active?.(active)
    observer.reconciled?.(outcome.kind, clock.elapsed() - startedAt)
    queue.done(key)
  }

  let lastYield = clock.elapsed()
  let pendingYield: Promise<void> | undefined
  const yieldToEventLoop = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        pendingYield = undefined
        lastYield = clock.elapsed()
        resolve()
      })
    })
  /**
   * Reconciles without anything to do would otherwise block the event loop: no event, no request and no lease renewal
   * in between. All workers share one turn.
   */
  const isYieldDue = (): boolean => clock.elapsed() - lastYield >= MAX_BLOCK_MS

  const work = async (stop: AbortSignal): Promise<void> => {
    for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
      // Checked right before the work: hundreds of workers go on after one yield, and each would work for a while.
      while (isYieldDue()) await (pendingYield ??= yieldToEventLoop())
      await processKey(key, stop)
    }
  }

  let started = false
  const enqueueFor = (watch: Watch, object: KubeObject): void => {
    try {
      const add = !started && watch.isLowPriority?.(object) ? queue.addLowPriority : queue.add
      for (const key of watch.map ? watch.map(object) : [objectKey(object.metadata)]) add(key)
    } catch (error) {
      // A failing map must not stop the cache that reports the change, nor its other listeners.
      const fields = { kind: watch.kind.kind, key: objectKey(object.metadata), reason: formatError(error) }
      log({ level: 'error', message: 'a map from object to keys failed', ...fields })
    }
  }

  const listen = (watch: Watch, cache: CacheReader): (() => void) =>
    cache.subscribe((change: Change) => {
      if (change.kind !== 'deleted' && watch.isOwnWrite?.(change.object)) return
      // The keys that the previous object affected matter as much as those of the new one.
      if (change.kind === 'modified') enqueueFor(watch, change.previous)
      enqueueFor(watch, change.object)
    })

  return {
    name,
    enqueue: queue.add,
    idle: queue.idle,
    processingMs: queue.processingMs,
    run: async (signal) => {
      const caches = watches.map((watch) => ({ watch, cache: getCache(watch) }))
      const ends = caches.map(({ watch, cache }) => listen(watch, cache))
      const stop = (): void => queue.stop()
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop)
      try {
        await Promise.race([Promise.all(caches.map(({ cache }) => cache.waitForSync())), waitForAbort(signal)])
        if (signal.aborted) return
        started = true
        observer.started?.(workers)
        log({ level: 'info', message: 'controller started', workers })
        await Promise.all(Array.from({ length: workers }, () => work(signal)))
        log({ level: 'info', message: 'controller stopped' })
      } finally {
        signal.removeEventListener('abort', stop)
        for (const end of ends) end()
      }
    },
  }
}

/** What to log of an error; the stack only when it is a defect, not a finding. */
function describeFailure(error: unknown): { readonly reason: string; readonly stack?: string } {
  const stack = error instanceof Error && !(error instanceof Failure) ? error.stack : undefined
  return { reason: formatError(error), ...(stack !== undefined && { stack }) }
}

/** Names the object to reconcile; it never says what changed. */
export interface Request {
  readonly namespace?: string
  readonly name: string
}

function parseObjectKey(key: string): Request {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
