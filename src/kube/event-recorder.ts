/**
 * Events (events.k8s.io/v1): what a controller has to say about an object, for `kubectl describe`.
 *
 * Recording never waits and never fails: it counts. A worker of its own writes what was counted, the same thing again
 * as a series, at a bounded rate; whoever says too much loses the oldest.
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
  /** Why, as one CamelCase word: `PoolExhausted`. */
  readonly reason: string
  /** What was being done, as one CamelCase word: `Allocate`. */
  readonly action: string
  /** For a person. The API takes a kilobyte; more is cut. */
  readonly note: string
}

export interface EventSettings {
  /** A series ends when nothing was added to it for so long. */
  readonly seriesTimeoutMs: number
  /** The least time between two writes of one series. */
  readonly seriesIntervalMs: number
  /** Writes per second in the long run, and at once. */
  readonly perSecond: number
  readonly burst: number
  /** Series that are kept in mind at most. */
  readonly maxSeries: number
  /** How often the write of one event is tried. */
  readonly attempts: number
  readonly retry: { readonly firstMs: number; readonly maxMs: number }
  /** So long the last events, a burst at most, may take to be written when the program stops. */
  readonly flushMs: number
}

const defaultEventSettings: EventSettings = {
  seriesTimeoutMs: 360_000,
  seriesIntervalMs: 10_000,
  perSecond: 10,
  burst: 50,
  maxSeries: 1_000,
  attempts: 6,
  retry: { firstMs: 500, maxMs: 30_000 },
  flushMs: 2_000,
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeWriter, 'create' | 'patch'>
  /** Who speaks: `stackloom.io/ipam`. */
  readonly controller: string
  /** Which one of them: the pod's name. */
  readonly instance: string
  readonly clock: Clock
  readonly log?: Log
  readonly settings?: Partial<EventSettings>
}

export interface EventRecorder {
  readonly record: (happening: EventRecord) => void
  /** Happenings that nobody will read of. */
  readonly dropped: () => number
  /** Writes until the signal fires, then what is left, for a little while. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

interface Series {
  readonly happening: EventRecord
  readonly began: number
  /** Undefined until the API server holds it. */
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
  const budget = createBudget(clock, settings)
  let dropped = 0
  let made = 0

  const forget = (key: string): void => {
    const known = series.get(key)
    if (known) dropped += known.count - known.written
    series.delete(key)
    queue.forget(key)
  }

  const record = (happening: EventRecord): void => {
    const key = keyOfSeries(happening)
    const now = clock.now()
    const known = series.get(key)
    if (known && now - known.last < settings.seriesTimeoutMs) {
      known.count += 1
      known.last = now
      queue.addAfter(key, known.ref ? settings.seriesIntervalMs : 0)
      return
    }
    if (known) forget(key)
    const [oldest] = series.size >= settings.maxSeries ? series.keys() : []
    if (oldest !== undefined) forget(oldest)
    series.set(key, { happening, began: now, ref: undefined, count: 1, written: 0, last: now })
    queue.add(key)
  }

  const write = async (series: Series, signal: AbortSignal): Promise<void> => {
    const { count } = series
    const state = { count, lastObservedTime: formatMicroTime(series.last) }
    try {
      if (series.ref) await client.patch(series.ref, { series: state }, { type: 'merge', signal })
      else {
        made += 1
        const event = eventOf(series, options, made)
        await client.create(count > 1 ? { ...event, series: state } : event, { signal })
        const { name, namespace = '' } = event.metadata
        series.ref = { ...eventKind, name, namespace }
      }
      series.written = count
    } catch (error) {
      if (!isApiError(error, 'not-found') || !series.ref) throw error
      // The API server keeps events for an hour; a series that goes on longer begins anew.
      series.ref = undefined
      await write(series, signal)
    }
  }

  const look = async (key: string, signal: AbortSignal): Promise<void> => {
    const one = series.get(key)
    if (!one) return
    const quietIn = one.last + settings.seriesTimeoutMs - clock.now()
    if (one.count === one.written) {
      if (quietIn <= 0) forget(key)
      else queue.addAfter(key, quietIn)
      return
    }
    await budget.take(signal)
    if (signal.aborted) return
    try {
      await write(one, signal)
      queue.forget(key)
      queue.addAfter(key, one.count > one.written ? settings.seriesIntervalMs : Math.max(1, quietIn))
    } catch (error) {
      if (signal.aborted) return
      // A namespace that is being deleted takes no more events, and a refused one will be refused again.
      const hopeless = isApiError(error, 'terminating', 'invalid', 'forbidden', 'not-found')
      if (!hopeless && queue.retries(key) < settings.attempts - 1) return queue.addRateLimited(key)
      forget(key)
      log({ level: 'warn', message: 'an event could not be written', reason: formatError(error) })
    }
  }

  const flush = async (): Promise<void> => {
    const control = new AbortController()
    const cancel = clock.after(settings.flushMs, () => control.abort(new Error('the time is over')))
    const unwritten = [...series].filter(([, one]) => one.count > one.written)
    for (const [key, one] of unwritten.slice(-settings.burst)) {
      if (control.signal.aborted) break
      await write(one, control.signal).catch(() => forget(key))
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
        await look(key, signal)
        queue.done(key)
      }
      signal.removeEventListener('abort', stop)
      await flush()
    },
  }
}

function eventOf({ happening, began }: Series, options: EventRecorderOptions, made: number): KubeObject {
  const { regarding, related, type, reason, action, note } = happening
  const { name, namespace = 'default' } = regarding.metadata
  // Time and count make the name unlike any other of this instance; the instance makes it unlike others'.
  const suffix = `${began.toString(16)}${made.toString(16).padStart(4, '0')}${hash(options.instance)}`
  return {
    ...eventKind,
    metadata: { name: `${name.slice(0, 220)}.${suffix}`, namespace },
    eventTime: formatMicroTime(began),
    reportingController: options.controller,
    reportingInstance: options.instance.slice(0, 128),
    type,
    reason: reason.slice(0, 128),
    action: action.slice(0, 128),
    note: cut(note, 1024),
    regarding: referenceTo(regarding),
    ...(related && { related: referenceTo(related) }),
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): object {
  const { name, namespace, uid, resourceVersion } = metadata
  const known = Object.entries({ namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined)
  return { apiVersion, kind, name, ...Object.fromEntries(known) }
}

/** Two happenings with the same key are the same thing again. */
function keyOfSeries({ regarding, related, type, reason, action, note }: EventRecord): string {
  const who = [regarding, related].map(
    (one) => one && [one.kind, one.metadata.uid, one.metadata.namespace, one.metadata.name],
  )
  return JSON.stringify([...who, type, reason, action, note])
}

function hash(text: string): string {
  let value = 5381
  for (const char of text) value = ((value * 33) ^ (char.codePointAt(0) ?? 0)) >>> 0
  return value.toString(16)
}

/** At most so many bytes, cut between characters. */
function cut(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  // A character that was cut in two reads as a replacement mark.
  return `${bytes
    .subarray(0, most - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`
}

interface Budget {
  /** Waits until a write is allowed. */
  readonly take: (signal: AbortSignal) => Promise<void>
}

function createBudget(clock: Clock, { perSecond, burst }: EventSettings): Budget {
  let left = burst
  let at = clock.elapsed()
  return {
    take: async (signal) => {
      const now = clock.elapsed()
      left = Math.min(burst, left + ((now - at) / 1000) * perSecond)
      at = now
      left -= 1
      if (left < 0) await clock.sleep((-left / perSecond) * 1000, signal)
    },
  }
}
