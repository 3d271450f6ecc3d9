/**
 * The controller loop: changes become keys, keys become looks, and what a look says decides about the next one.
 *
 * Level-triggered: a reconciler is told where to look, never what happened, so that a lost, doubled or late event
 * changes nothing but the time. It knows no kind and no cluster.
 */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { type KubeObject, objectKey } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
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
  /** Look again after so long, whether or not something changes. */
  readonly requeueAfterMs?: number
}

/** Brings one key's world in order. A throw asks for another look, later the more often it happens. */
export type Reconcile = (
  request: Request,
  context: ReconcileContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler that has nothing to say need not say it
) => Promise<ReconcileResult | void>

export interface Watch extends Source {
  /** Whom a change of this object concerns: keys of the controller's own kind. The object itself unless said. */
  readonly map?: (object: KubeObject) => readonly string[]
  /** Nobody waits for a look at it: when the controller starts, it comes when no other key waits for a worker. */
  readonly isLowPriority?: (object: KubeObject) => boolean
  /** The controller wrote this very version itself, and knows what it would find. */
  readonly isOwnWrite?: (object: KubeObject) => boolean
}

export interface Controller {
  readonly name: string
  readonly watches: readonly Watch[]
  readonly reconcile: Reconcile
  /** How many keys are looked at at the same time. */
  readonly workers?: number
  readonly retry?: BackoffPolicy
}

/** What one look came to. */
export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'requeue-after'; readonly ms: number }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'interrupted' }

/** Told what happens, for metrics. */
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
  /** Asks for a look from outside: a timer, a file, another system. */
  readonly enqueue: (key: string) => void
  /** Nothing queued, nothing worked on. */
  readonly idle: () => boolean
  /** For how long each key that is worked on now has been. */
  readonly processingMs: () => readonly number[]
  /** Works until the signal fires, then until the last look has ended. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** After so long of looks that never wait for anything, the rest of the program has its turn. */
const TURN_MS = 10

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

  const look = async (key: string, stop: AbortSignal): Promise<Outcome> => {
    const control = new AbortController()
    // Every request of the look listens to it: many of them are no leak.
    setMaxListeners(0, control.signal)
    const onStop = (): void => control.abort(stop.reason)
    if (stop.aborted) return { kind: 'interrupted' }
    stop.addEventListener('abort', onStop)
    try {
      const said = await reconcile(parseObjectKey(key), {
        signal: control.signal,
        clock,
        log: withFields(log, { key, reconcileId: randomUUID() }),
      })
      const ms = said?.requeueAfterMs
      return ms === undefined ? { kind: 'success' } : { kind: 'requeue-after', ms }
    } catch (error) {
      // What a stop broke off is no failure of the key: whoever runs next looks at everything again.
      if (stop.aborted) return { kind: 'interrupted' }
      return { kind: 'error', error }
    } finally {
      stop.removeEventListener('abort', onStop)
    }
  }

  const decide = (key: string, outcome: Outcome): void => {
    switch (outcome.kind) {
      case 'success':
        queue.forget(key)
        return
      case 'requeue-after':
        queue.forget(key)
        queue.addAfter(key, outcome.ms)
        return
      case 'error':
        log({ level: 'error', message: 'reconcile failed', key, ...tellOf(outcome.error) })
        queue.addRateLimited(key)
        return
      case 'interrupted':
        return
    }
  }

  const attend = async (key: string, stop: AbortSignal): Promise<void> => {
    active += 1
    observer.active?.(active)
    const began = clock.elapsed()
    const outcome = await look(key, stop)
    decide(key, outcome)
    active -= 1
    observer.active?.(active)
    observer.reconciled?.(outcome.kind, clock.elapsed() - began)
    queue.done(key)
  }

  let breathed = clock.elapsed()
  let breath: Promise<void> | undefined
  const nextTurn = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        breath = undefined
        breathed = clock.elapsed()
        resolve()
      })
    })
  /**
   * Looks that find nothing to do would otherwise run in one breath: no event, no request and no lease in between. All
   * workers share it: one breath for each would be as many turns of theirs before anybody else's.
   */
  const breathe = async (): Promise<void> => {
    if (clock.elapsed() - breathed < TURN_MS) return
    breath ??= nextTurn()
    await breath
  }

  const work = async (stop: AbortSignal): Promise<void> => {
    for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
      await attend(key, stop)
      await breathe()
    }
  }

  let started = false
  const enqueueAll = (watch: Watch, object: KubeObject): void => {
    try {
      const add = !started && watch.isLowPriority?.(object) ? queue.addLowPriority : queue.add
      for (const key of watch.map ? watch.map(object) : [objectKey(object.metadata)]) add(key)
    } catch (error) {
      // A map that throws must not stop the cache that tells of the change, nor its other listeners.
      const fields = { kind: watch.kind.kind, key: objectKey(object.metadata), reason: formatError(error) }
      log({ level: 'error', message: 'a map from object to keys failed', ...fields })
    }
  }

  const listen = (watch: Watch, cache: CacheReader): (() => void) =>
    cache.subscribe((change: Change) => {
      if (change.kind !== 'deleted' && watch.isOwnWrite?.(change.object)) return
      // Whom it concerned before matters as much as whom it concerns now.
      if (change.kind === 'modified') enqueueAll(watch, change.previous)
      enqueueAll(watch, change.object)
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
        await untilSynced(
          caches.map(({ cache }) => cache),
          signal,
        )
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

/** What the log says of an error: where it came from only when it is a defect, not a finding. */
function tellOf(error: unknown): { readonly reason: string; readonly stack?: string } {
  const stack = error instanceof Error && !(error instanceof Failure) ? error.stack : undefined
  return { reason: formatError(error), ...(stack !== undefined && { stack }) }
}

/** Resolves when every cache is whole, or the signal has fired. */
async function untilSynced(caches: readonly CacheReader[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  let giveUp = (): void => {}
  const stopped = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  signal.addEventListener('abort', giveUp)
  await Promise.race([Promise.all(caches.map((cache) => cache.waitForSync())), stopped])
  signal.removeEventListener('abort', giveUp)
}

/** Names the object to reconcile; it never says what changed. */
export interface Request {
  readonly namespace?: string
  readonly name: string
}

export function parseObjectKey(key: string): Request {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
