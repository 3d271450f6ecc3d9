/**
 * Records events (events.k8s.io/v1) about objects, for `kubectl describe`.
 *
 * Recording never waits and never fails: it counts. A separate worker writes at a bounded rate and combines repeated
 * events into a series; when there are too many series, the oldest is dropped.
 */
import type { KubeObject } from '../api/object.ts'
import { formatMicroTime } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import { isApiError } from './api-error.ts'
import type { KubeWriter } from './client.ts'
import { type Log, silentLog } from './log.ts'
import { createQueue } from './queue.ts'

export interface EventRecord {
  readonly regarding: KubeObject
  readonly related?: KubeObject
  readonly type: 'Normal' | 'Warning'
  /** Why, in CamelCase: `PoolExhausted`. */
  readonly reason: string
  /** The action, in CamelCase: `Allocate`. */
  readonly action: string
  /** For people. The API allows 1 KiB; the rest is truncated. */
  readonly note: string
}

export interface EventSettings {
  /** A series ends when nothing was added to it for this long. */
  readonly seriesTimeoutMs: number
  /** The minimum time between two writes of one series. */
  readonly seriesIntervalMs: number
  /** Writes per second: sustained and burst. */
  readonly perSecond: number
  readonly burst: number
  /** Maximum number of series in memory. */
  readonly maxSeries: number
  /** Attempts to write one event. */
  readonly attempts: number
  readonly retry: { readonly initialMs: number; readonly maxMs: number }
  /** At the stop, the last events (a burst at most) must be written within this time. */
  readonly flushMs: number
}

const defaultEventSettings: EventSettings = {
  seriesTimeoutMs: 360_000,
  seriesIntervalMs: 10_000,
  perSecond: 10,
  burst: 50,
  maxSeries: 1_000,
  attempts: 6,
  retry: { initialMs: 500, maxMs: 30_000 },
  flushMs: 2_000,
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeWriter, 'create' | 'patch'>
  /** The reporting controller: `stackloom.io/ipam`. */
  readonly controller: string
  /** The reporting instance: the pod's name. */
  readonly instance: string
  readonly clock: Clock
  readonly log?: Log
  readonly settings?: Partial<EventSettings>
}

export interface EventRecorder {
  readonly record: (event: EventRecord) => void
  /** Events that were dropped unwritten. */
  readonly dropped: () => number
  /** Writes until the signal fires, then flushes. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

interface Series {
  readonly event: EventRecord
  readonly firstSeen: number
  /** Undefined until the API server has it. */
  ref:
    | {
        readonly apiVersion: string
        readonly kind: string
        readonly namespace: string
        readonly name: string
      }
    | undefined
  count: number
  written: number
  last: number
}

const eventKind = { apiVersion: 'events.k8s.io/v1', kind: 'Event' }

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log = silentLog } = options
  const settings: EventSettings = { ...defaultEventSettings, ...options.settings }
  const series = new Map<string, Series>()
  const queue = createQueue({ clock, retry: settings.retry })
  const limiter = createRateLimiter(clock, settings)
  let dropped = 0
  let created = 0

  const forget = (key: string): void => {
    const existing = series.get(key)
    if (existing) dropped += existing.count - existing.written
    series.delete(key)
    queue.forget(key)
  }

  const record = (recorded: EventRecord): void => {
    const event = withoutContents(recorded)
    const key = seriesKey(event)
    const now = clock.now()
    const existing = series.get(key)
    if (existing && now - existing.last < settings.seriesTimeoutMs) {
      existing.count += 1
      existing.last = now
      queue.addAfter(key, existing.ref ? settings.seriesIntervalMs : 0)
      return
    }
    if (existing) forget(key)
    const [oldest] = series.size >= settings.maxSeries ? series.keys() : []
    if (oldest !== undefined) forget(oldest)
    series.set(key, { event, firstSeen: now, ref: undefined, count: 1, written: 0, last: now })
    queue.add(key)
  }

  const write = async (series: Series, signal: AbortSignal): Promise<void> => {
    const { count } = series
    const state = { count, lastObservedTime: formatMicroTime(series.last) }
    try {
      if (series.ref) await client.patch(series.ref, { series: state }, { type: 'merge', signal })
      else {
        created += 1
        const event = buildEvent(series, options, created)
        await client.create(count > 1 ? { ...event, series: state } : event, { signal })
        const { name, namespace = '' } = event.metadata
        series.ref = { ...eventKind, name, namespace }
      }
      series.written = count
    } catch (error) {
      if (!isApiError(error, 'not-found') || !series.ref) throw error
      // The API server keeps events for an hour; a longer series starts again.
      series.ref = undefined
      await write(series, signal)
    }
  }

  const writeIfDue = async (key: string, signal: AbortSignal): Promise<void> => {
    const entry = series.get(key)
    if (!entry) return
    const expiresIn = entry.last + settings.seriesTimeoutMs - clock.now()
    if (entry.count === entry.written) {
      if (expiresIn <= 0) forget(key)
      else queue.addAfter(key, expiresIn)
      return
    }
    await limiter.take(signal)
    if (signal.aborted) return
    try {
      await write(entry, signal)
      queue.forget(key)
      queue.addAfter(key, entry.count > entry.written ? settings.seriesIntervalMs : Math.max(1, expiresIn))
    } catch (error) {
      if (signal.aborted) return
      // A namespace that is being deleted accepts no events, and a rejected event will be rejected again.
      const permanent = isApiError(error, 'terminating', 'invalid', 'forbidden', 'not-found')
      if (!permanent && queue.retries(key) < settings.attempts - 1) return queue.addRateLimited(key)
      forget(key)
      log({ level: 'warn', message: 'an event could not be written', reason: formatError(error) })
    }
  }

  const flush = async (): Promise<void> => {
    const control = new AbortController()
    const cancel = clock.after(settings.flushMs, () => control.abort(new Error('the flush took too long')))
    const unwritten = [...series].filter(([, entry]) => entry.count > entry.written)
    for (const [key, entry] of unwritten.slice(-settings.burst)) {
      if (control.signal.aborted) break
      await write(entry, control.signal).catch(() => forget(key))
    }
    cancel()
  }

  return {
    record,
    dropped: () => dropped,
    run: async (signal) => {
      const stop = (): void => queue.stop()
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
        await writeIfDue(key, signal)
        queue.done(key)
      }
      signal.removeEventListener('abort', stop)
      await flush()
    },
  }
}

function buildEvent({ event, firstSeen }: Series, options: EventRecorderOptions, created: number): KubeObject {
  const { regarding, related, type, reason, action, note } = event
  const { name, namespace = 'default' } = regarding.metadata
  // Time and count make the name unique in this instance; the hash makes it unique among instances.
  const suffix = `${firstSeen.toString(16)}${created.toString(16).padStart(4, '0')}${hash(options.instance)}`
  return {
    ...eventKind,
    metadata: { name: `${name.slice(0, 220)}.${suffix}`, namespace },
    eventTime: formatMicroTime(firstSeen),
    reportingController: options.controller,
    reportingInstance: options.instance.slice(0, 128),
    type,
    reason: reason.slice(0, 128),
    action: action.slice(0, 128),
    note,
    regarding: referenceTo(regarding),
    ...(related && { related: referenceTo(related) }),
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): object {
  return { apiVersion, kind, ...metadata }
}

/** A series is kept for minutes, and its objects may be large and deleted by then: only what is written is kept. */
function withoutContents({ regarding, related, note, ...event }: EventRecord): EventRecord {
  const identity = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
    const { name, namespace, uid, resourceVersion } = metadata
    const defined = Object.entries({ namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined)
    return { apiVersion, kind, metadata: { name, ...Object.fromEntries(defined) } }
  }
  return {
    ...event,
    note: truncate(note, 1024),
    regarding: identity(regarding),
    ...(related && { related: identity(related) }),
  }
}

/** Events with the same key belong to one series. */
function seriesKey({ regarding, related, type, reason, action, note }: EventRecord): string {
  const objects = [regarding, related].map(
    (object) => object && [object.kind, object.metadata.uid, object.metadata.namespace, object.metadata.name],
  )
  return JSON.stringify([...objects, type, reason, action, note])
}

function hash(text: string): string {
  let value = 5381
  for (const char of text) value = ((value * 33) ^ (char.codePointAt(0) ?? 0)) >>> 0
  return value.toString(16)
}

/** At most this many bytes, truncated between characters. */
function truncate(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  // A character that was split decodes as a replacement character.
  return `${bytes
    .subarray(0, maxBytes - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`
}

interface RateLimiter {
  /** Waits until a write is allowed. */
  readonly take: (signal: AbortSignal) => Promise<void>
}

function createRateLimiter(clock: Clock, { perSecond, burst }: EventSettings): RateLimiter {
  let tokens = burst
  let refilledAt = clock.elapsed()
  return {
    take: async (signal) => {
      const now = clock.elapsed()
      tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond)
      refilledAt = now
      tokens -= 1
      if (tokens < 0) await clock.sleep((-tokens / perSecond) * 1000, signal)
    },
  }
}
