/**
 * The reflector: keeps a cache equal to what the API server holds, whatever happens to the connection.
 *
 * It lists, then watches from where the list was taken, and never gives up. Who reads the cache is not its business.
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
  /** The least time between the beginnings of two attempts; it doubles while nothing comes of them. */
  readonly backoff: BackoffPolicy
  /** A watch that sends nothing for so long is taken for dead. Bookmarks come about once a minute. */
  readonly idleMs: number
  /** How long the server may keep one watch; drawn anew each time, so that not all end together. */
  readonly watchSeconds: { readonly least: number; readonly most: number }
  /** A watch that has lived so long was a good one, even if nothing happened. */
  readonly stableMs: number
  /** After so many attempts without a single event it lists again: the version may mean nothing to this server. */
  readonly maxEmptyWatches: number
}

export const defaultReflectorTiming: ReflectorTiming = {
  backoff: { firstMs: 800, maxMs: 30_000 },
  idleMs: 120_000,
  watchSeconds: { least: 290, most: 580 },
  stableMs: 10_000,
  maxEmptyWatches: 5,
}

/** Told what happens, for metrics. */
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
  /** By the clock's `elapsed`: since when nothing has worked; undefined when the last thing did. */
  readonly failingSince: number | undefined
  readonly reason: string | undefined
  /** By the clock's `elapsed`: when the server was last heard of. */
  readonly lastEventAt: number | undefined
}

export interface Reflector {
  readonly source: Source
  readonly status: () => ReflectorStatus
  /** Reflects until the signal fires. Nothing that a server does ends it earlier. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** How one attempt, a list or a watch, came to its end. */
type Ending =
  | { readonly kind: 'listed'; readonly version: string }
  | { readonly kind: 'closed'; readonly version: string; readonly heard: boolean }
  | { readonly kind: 'expired'; readonly heard: boolean; readonly error: unknown }
  | { readonly kind: 'broken'; readonly version?: string; readonly heard: boolean; readonly error: unknown }

export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { client, source, cache, clock, timing = defaultReflectorTiming, observer = {}, pageSize = 500 } = options
  const { kind, ...scope } = source
  const log = withFields(options.log ?? silentLog, { reflector: kind.kind })
  let status: ReflectorStatus = { failingSince: undefined, reason: undefined, lastEventAt: undefined }

  const heard = (): void => {
    status = { failingSince: undefined, reason: undefined, lastEventAt: clock.elapsed() }
  }

  const failed = (error: unknown): void => {
    const reason = formatError(error)
    observer.failed?.()
    log({ level: 'warn', message: 'the cluster cannot be followed for now', reason })
    status = { ...status, failingSince: status.failingSince ?? clock.elapsed(), reason }
  }

  const list = async (signal: AbortSignal): Promise<Ending> => {
    try {
      const keep = (item: KubeObject): KubeObject => cache.keep(item as T)
      const { items, resourceVersion } = await client.list(kind, { ...scope, limit: pageSize, keep, signal })
      // An answer that arrives after the stop belongs to nobody.
      if (!signal.aborted) cache.replace(items as readonly T[])
      heard()
      observer.listed?.(items.length)
      return { kind: 'listed', version: resourceVersion }
    } catch (error) {
      return { kind: isApiError(error, 'expired') ? 'expired' : 'broken', heard: false, error }
    }
  }

  const watch = async (from: string, signal: AbortSignal): Promise<Ending> => {
    const { least, most } = timing.watchSeconds
    const timeoutSeconds = Math.ceil(least + clock.random() * (most - least))
    let version = from
    let any = false
    try {
      observer.watched?.()
      const asked = { ...scope, resourceVersion: from, timeoutSeconds, idleMs: timing.idleMs, signal }
      for await (const event of client.watch(kind, asked)) {
        if (signal.aborted) break
        version = take(event, version)
        any = true
        heard()
        observer.event?.(event.kind)
      }
      return { kind: 'closed', version, heard: any }
    } catch (error) {
      if (isApiError(error, 'expired')) return { kind: 'expired', heard: any, error }
      return { kind: 'broken', version, heard: any, error }
    }
  }

  /** Brings an event into the cache, and answers with the version from which to go on. */
  const take = (event: WatchEvent, before: string): string => {
    if (event.kind === 'bookmark') return event.resourceVersion
    if (event.kind === 'deleted') cache.delete(event.object as T)
    else cache.set(event.object as T)
    return event.object.metadata.resourceVersion ?? before
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    let version: string | undefined
    let failures = 0
    let fruitless = 0
    while (!signal.aborted) {
      const began = clock.elapsed()
      const ending = version === undefined ? await list(signal) : await watch(version, signal)
      if (signal.aborted) return

      // Only the watch shows whether a list helped: a server that forgets at once is asked ever more slowly.
      if (ending.kind === 'listed') {
        version = ending.version
        fruitless = 0
        continue
      }
      if (ending.heard) failures = fruitless = 0
      switch (ending.kind) {
        case 'closed':
          version = ending.version
          if (clock.elapsed() - began >= timing.stableMs) failures = fruitless = 0
          break
        case 'expired':
          version = undefined
          log({ level: 'info', message: 'the server has forgotten our version: listing again' })
          break
        case 'broken':
          // A kind of which nothing was ever seen gets no bookmarks either: silence is no failure. Whether the
          // server still lives shows in the list that follows too many fruitless watches.
          if (!isApiError(ending.error, 'timeout')) failed(ending.error)
          if (!ending.heard) fruitless += 1
          version = fruitless < timing.maxEmptyWatches ? (ending.version ?? version) : undefined
          break
      }
      await rest(began, failures, ending, signal)
      failures += 1
    }
  }

  /** Waits until enough time has passed since the attempt began: one that lived long is followed at once. */
  const rest = async (began: number, failures: number, ending: Ending, signal: AbortSignal): Promise<void> => {
    const own = withJitter(backoffMs(timing.backoff, failures), clock)
    const asked = 'error' in ending && isApiError(ending.error) ? (ending.error.retryAfterMs ?? 0) : 0
    const left = Math.max(began + own - clock.elapsed(), asked)
    if (left > 0) await clock.sleep(left, signal)
  }

  return { source, status: () => status, run }
}
