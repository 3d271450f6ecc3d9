/**
 * The work queue: which keys need a look, each once, none twice at a time, in the order of their asking.
 * Those for whom nobody waits come when no other does.
 *
 * It knows keys only. What a key means, and what a look at it does, is the controller's business.
 */

import type { Clock } from '../clock/clock.ts'
import { type BackoffPolicy, backoffMs } from './retry.ts'

export interface WorkQueue {
  /** Asks for a look at a key. Asked again before the look begins, it is one look; during it, one more after. */
  readonly add: (key: string) => void
  /** The same, but only when no other key waits. A plain `add` of the key puts it among those. */
  readonly addLowPriority: (key: string) => void
  /** The same, later. Of several wishes for one key the earliest is kept. */
  readonly addAfter: (key: string, ms: number) => void
  /** The same, later the more often it was asked since `forget`. */
  readonly addRateLimited: (key: string) => void
  /** The key did well: its next retry starts from the shortest delay. */
  readonly forget: (key: string) => void
  /** How often the key was retried since `forget`. */
  readonly retries: (key: string) => number
  /** The next key, as soon as there is one; undefined when the queue was stopped. The taker must say `done`. */
  readonly next: () => Promise<string | undefined>
  readonly done: (key: string) => void
  /** Ends all waiting, and drops what is queued: whoever starts next lists everything anyway. */
  readonly stop: () => void
  /** Keys that wait for a worker. */
  readonly length: () => number
  /** Neither queued nor worked on. Keys that wait for their time do not count. */
  readonly idle: () => boolean
  /** For how long each key that is worked on now has been. */
  readonly processingMs: () => readonly number[]
}

/** Told what happens, for metrics. Times are in milliseconds. */
export interface QueueObserver {
  readonly added?: (depth: number) => void
  readonly taken?: (depth: number, waitedMs: number) => void
  readonly finished?: (workedMs: number) => void
  readonly retried?: () => void
}

export interface QueueOptions {
  readonly clock: Clock
  readonly retry?: BackoffPolicy
  readonly observer?: QueueObserver
}

interface Place {
  readonly key: string
}

const defaultRetry: BackoffPolicy = { firstMs: 5, maxMs: 1_000_000 }

export function createQueue({ clock, retry = defaultRetry, observer = {} }: QueueOptions): WorkQueue {
  const ready = createFifo<string>()
  /** Patient keys by their place in the order; a place that its key has left was promoted. */
  const patient = new Map<string, Place>()
  const places = createFifo<Place>()
  /** Keys that need a look, with the time since when: ready, patient, or asked for while worked on. */
  const wanted = new Map<string, number>()
  const working = new Map<string, number>()
  const delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>()
  const failures = new Map<string, number>()
  const takers = createFifo<() => void>()
  let stopped = false

  const length = (): number => ready.length() + patient.size

  const nextPatient = (): string | undefined => {
    for (let place = places.shift(); place; place = places.shift()) {
      if (patient.get(place.key) !== place) continue
      patient.delete(place.key)
      return place.key
    }
    return undefined
  }

  const take = (): string | undefined => {
    const key = ready.shift() ?? nextPatient()
    if (key === undefined) return undefined
    const now = clock.elapsed()
    const since = wanted.get(key) ?? now
    wanted.delete(key)
    working.set(key, now)
    observer.taken?.(length(), now - since)
    return key
  }

  const makeReady = (key: string): void => {
    ready.push(key)
    takers.shift()?.()
  }

  const want = (key: string): void => {
    wanted.set(key, clock.elapsed())
    observer.added?.(length() + 1)
  }

  const add = (key: string): void => {
    if (stopped) return
    // Whoever slept was woken when it came: it is only moved.
    if (patient.delete(key)) ready.push(key)
    if (wanted.has(key)) return
    want(key)
    if (!working.has(key)) makeReady(key)
  }

  const addPatient = (key: string): void => {
    if (working.has(key)) return add(key)
    if (stopped || wanted.has(key)) return
    want(key)
    const place = { key }
    patient.set(key, place)
    places.push(place)
    takers.shift()?.()
  }

  const addAfter = (key: string, ms: number): void => {
    if (stopped) return
    if (!(ms > 0)) return add(key)
    const at = clock.elapsed() + ms
    const earlier = delayed.get(key)
    if (earlier && earlier.at <= at) return
    earlier?.cancel()
    const cancel = clock.after(ms, () => {
      delayed.delete(key)
      add(key)
    })
    delayed.set(key, { at, cancel })
  }

  return {
    add,
    addLowPriority: addPatient,
    addAfter,
    addRateLimited: (key) => {
      if (stopped) return
      const before = failures.get(key) ?? 0
      failures.set(key, before + 1)
      observer.retried?.()
      addAfter(key, backoffMs(retry, before))
    },
    forget: (key) => {
      failures.delete(key)
    },
    retries: (key) => failures.get(key) ?? 0,
    next: async () => {
      while (!stopped) {
        const key = take()
        if (key !== undefined) return key
        // A taker is woken, not handed the key: a burst of wishes for one key in one breath stays one look.
        await new Promise<void>((wake) => takers.push(wake))
      }
      return undefined
    },
    done: (key) => {
      const since = working.get(key)
      if (since === undefined) return
      working.delete(key)
      observer.finished?.(clock.elapsed() - since)
      if (wanted.has(key) && !stopped) makeReady(key)
    },
    stop: () => {
      stopped = true
      for (const { cancel } of delayed.values()) cancel()
      delayed.clear()
      wanted.clear()
      failures.clear()
      patient.clear()
      while (ready.shift() !== undefined);
      while (places.shift());
      for (let wake = takers.shift(); wake; wake = takers.shift()) wake()
    },
    length,
    idle: () => wanted.size === 0 && working.size === 0,
    processingMs: () => [...working.values()].map((since) => clock.elapsed() - since),
  }
}

export interface Fifo<T> {
  readonly push: (item: T) => void
  readonly shift: () => T | undefined
  readonly length: () => number
}

/** Below this the gap at the front is not worth closing. */
const smallGap = 64

export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    push: (item) => {
      items.push(item)
    },
    shift: () => {
      if (head === items.length) return undefined
      const item = items[head]
      items[head] = undefined
      head += 1
      // Closing the gap when it is half of the array costs each item at most one move.
      if (head > smallGap && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    length: () => items.length - head,
  }
}
