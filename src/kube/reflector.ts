/**
 * Keeps a cache equal to the objects on the API server, whatever happens to the connection.
 *
 * Lists, then watches from the version of the list, and never gives up. Must not know the readers of the cache.
 */
import type { KubeObject } from '../api/object.ts'
import { type Clock, withJitter } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import { isApiError } from './api-error.ts'
import type { Cache, Source } from './cache.ts'
import type { KubeReader, WatchEvent } from './client.ts'
import { type Log, silentLog, withFields } from './log.ts'
import { type BackoffPolicy, backoffMs } from './retry.ts'

export interface ReflectorTiming {
  /** The minimum time between the starts of two attempts; it doubles while attempts fail. */
  readonly backoff: BackoffPolicy
  /** A watch that is silent for this long is treated as dead. Bookmarks come about once a minute. */
  readonly idleMs: number
  /** The lifetime of one watch on the server; random, so that not all watches end together. */
  readonly watchSeconds: { readonly min: number; readonly max: number }
  /** A watch that lived this long was successful, even without an event. */
  readonly stableMs: number
  /** After this many attempts without an event it lists again: the server may not know the version. */
  readonly maxEmptyWatches: number
}

export const defaultReflectorTiming: ReflectorTiming = {
  backoff: { initialMs: 800, maxMs: 30_000 },
  idleMs: 120_000,
  watchSeconds: { min: 290, max: 580 },
  stableMs: 10_000,
  maxEmptyWatches: 5,
}

/** Callbacks for metrics. */
export interface ReflectorObserver {
  readonly listed?: (items: number) => void
  readonly watched?: () => void
  readonly event?: (kind: WatchEvent['kind']) => void
  readonly failed?: () => void
}

export interface ReflectorOptions<T extends KubeObject = KubeObject> {
  readonly client: Pick<KubeReader, 'list' | 'watch'>
  readonly source: Source
  readonly cache: Cache<T>
  readonly clock: Clock
  readonly timing?: ReflectorTiming
  readonly pageSize?: number
  readonly log?: Log
  readonly observer?: ReflectorObserver
}

export interface ReflectorStatus {
  /** By the clock's `elapsed`: since when every attempt failed; undefined when the last one succeeded. */
  readonly failingSince: number | undefined
  readonly reason: string | undefined
  /** By the clock's `elapsed`: when the server last sent something. */
  readonly lastEventAt: number | undefined
}

export interface Reflector {
  readonly source: Source
  readonly status: () => ReflectorStatus
  /** Runs until the signal fires. No server error ends it earlier. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** How one attempt, a list or a watch, ended. */
type Ending =
  | { readonly kind: 'listed'; readonly version: string }
  | { readonly kind: 'closed'; readonly version: string; readonly received: boolean }
  | { readonly kind: 'expired'; readonly received: boolean; readonly error: unknown }
  | { readonly kind: 'broken'; readonly version?: string; readonly received: boolean; readonly error: unknown }

export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { client, source, cache, clock, timing = defaultReflectorTiming, observer = {}, pageSize = 500 } = options
  const { kind, ...scope } = source
  const log = withFields(options.log ?? silentLog, { reflector: kind.kind })
  let status: ReflectorStatus = { failingSince: undefined, reason: undefined, lastEventAt: undefined }

  const markAlive = (): void => {
    status = { failingSince: undefined, reason: undefined, lastEventAt: clock.elapsed() }
  }

  const markFailed = (error: unknown): void => {
    const reason = formatError(error)
    observer.failed?.()
    log({ level: 'warn', message: 'cannot list or watch the cluster for now', reason })
    status = { ...status, failingSince: status.failingSince ?? clock.elapsed(), reason }
  }

  const list = async (signal: AbortSignal): Promise<Ending> => {
    try {
      const transform = (item: KubeObject): KubeObject => cache.transform(item as T)
      const { items, resourceVersion } = await client.list(kind, { ...scope, limit: pageSize, transform, signal })
      // A response that arrives after the stop is dropped.
      if (!signal.aborted) cache.replace(items as readonly T[])
      markAlive()
      observer.listed?.(items.length)
      return { kind: 'listed', version: resourceVersion }
    } catch (error) {
      return { kind: isApiError(error, 'expired') ? 'expired' : 'broken', received: false, error }
    }
  }

  const watch = async (from: string, signal: AbortSignal): Promise<Ending> => {
    const { min, max } = timing.watchSeconds
    const timeoutSeconds = Math.ceil(min + clock.random() * (max - min))
    let version = from
    let anyEvent = false
    try {
      observer.watched?.()
      const watchOptions = { ...scope, resourceVersion: from, timeoutSeconds, idleMs: timing.idleMs, signal }
      for await (const event of client.watch(kind, watchOptions)) {
        if (signal.aborted) break
        version = applyEvent(event, version)
        anyEvent = true
        markAlive()
        observer.event?.(event.kind)
      }
      return { kind: 'closed', version, received: anyEvent }
    } catch (error) {
      if (isApiError(error, 'expired')) return { kind: 'expired', received: anyEvent, error }
      return { kind: 'broken', version, received: anyEvent, error }
    }
  }

  /** Applies an event to the cache and returns the version from which to resume. */
  const applyEvent = (event: WatchEvent, before: string): string => {
    if (event.kind === 'bookmark') return event.resourceVersion
    if (event.kind === 'deleted') cache.delete(event.object as T)
    else cache.set(event.object as T)
    return event.object.metadata.resourceVersion ?? before
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    let version: string | undefined
    let failures = 0
    let emptyWatches = 0
    while (!signal.aborted) {
      const startedAt = clock.elapsed()
      const ending = version === undefined ? await list(signal) : await watch(version, signal)
      if (signal.aborted) return

      // Only the watch shows whether a list helped: a server that expires versions at once is asked less and less often.
      if (ending.kind === 'listed') {
        version = ending.version
        emptyWatches = 0
        continue
      }
      if (ending.received) failures = emptyWatches = 0
      switch (ending.kind) {
        case 'closed':
          version = ending.version
          if (clock.elapsed() - startedAt >= timing.stableMs) failures = emptyWatches = 0
          break
        case 'expired':
          version = undefined
          log({ level: 'info', message: 'the version has expired: listing again' })
          break
        case 'broken':
          // A kind without any object gets no bookmarks either, so silence is not a failure. Whether the server is alive
          // shows in the list that follows too many empty watches.
          if (!isApiError(ending.error, 'timeout')) markFailed(ending.error)
          if (!ending.received) emptyWatches += 1
          version = emptyWatches < timing.maxEmptyWatches ? (ending.version ?? version) : undefined
          break
      }
      await pause(startedAt, failures, ending, signal)
      failures += 1
    }
  }

  /** Waits until enough time has passed since the attempt started: a long watch is resumed at once. */
  const pause = async (startedAt: number, failures: number, ending: Ending, signal: AbortSignal): Promise<void> => {
    const backoff = withJitter(backoffMs(timing.backoff, failures), clock)
    const retryAfter = 'error' in ending && isApiError(ending.error) ? (ending.error.retryAfterMs ?? 0) : 0
    const remainingMs = Math.max(startedAt + backoff - clock.elapsed(), retryAfter)
    if (remainingMs > 0) await clock.sleep(remainingMs, signal)
  }

  return { source, status: () => status, run }
}
