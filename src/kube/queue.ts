/**
 * Queues keys to reconcile: each key once, never processed twice at the same time, first in first out. Low-priority
 * keys are processed when no other key waits.
 *
 * Must not know what a key means.
 */

import type { Clock } from '../clock/clock.ts'
import { type BackoffPolicy, backoffMs } from './retry.ts'

export interface WorkQueue {
  /** Queues a key. Added again before it is processed, it is processed once; while it is processed, once more. */
  readonly add: (key: string) => void
  /** Queues a key behind all others. A later `add` of the key gives it normal priority. */
  readonly addLowPriority: (key: string) => void
  /** Queues a key later. Of several delays for one key the earliest counts. */
  readonly addAfter: (key: string, ms: number) => void
  /** Queues a key with backoff, longer after each call since `forget`. */
  readonly addRateLimited: (key: string) => void
  /** Resets the backoff of a key. */
  readonly forget: (key: string) => void
  /** How often the key was retried since `forget`. */
  readonly retries: (key: string) => number
  /** Resolves to the next key; undefined when the queue was stopped. The worker must call `done`. */
  readonly next: () => Promise<string | undefined>
  readonly done: (key: string) => void
  /** Wakes all workers and drops all keys: the next start lists everything anyway. */
  readonly stop: () => void
  /** Keys waiting for a worker. */
  readonly length: () => number
  /** No key is queued or processed. Delayed keys do not count. */
  readonly idle: () => boolean
  /** For each key in work, how long it has taken so far. */
  readonly processingMs: () => readonly number[]
}

/** Callbacks for metrics. Times are in milliseconds. */
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

interface Position {
  readonly key: string
}

const defaultRetry: BackoffPolicy = { initialMs: 5, maxMs: 1_000_000 }

export function createQueue({ clock, retry = defaultRetry, observer = {} }: QueueOptions): WorkQueue {
  const ready = createFifo<string>()
  /** Low-priority keys by their position; a position that its key has left was promoted. */
  const lowPriority = new Map<string, Position>()
  const positions = createFifo<Position>()
  /** Keys to process, with the time since when: ready, low priority, or added while processed. */
  const queuedSince = new Map<string, number>()
  const processing = new Map<string, number>()
  const delayed = new Map<string, { readonly dueAt: number; readonly cancel: () => void }>()
  const failures = new Map<string, number>()
  const waitingWorkers = createFifo<() => void>()
  let stopped = false

  const length = (): number => ready.length() + lowPriority.size

  const takeLowPriority = (): string | undefined => {
    for (let position = positions.shift(); position; position = positions.shift()) {
      if (lowPriority.get(position.key) !== position) continue
      lowPriority.delete(position.key)
      return position.key
    }
    return undefined
  }

  const take = (): string | undefined => {
    const key = ready.shift() ?? takeLowPriority()
    if (key === undefined) return undefined
    const now = clock.elapsed()
    const since = queuedSince.get(key) ?? now
    queuedSince.delete(key)
    processing.set(key, now)
    observer.taken?.(length(), now - since)
    return key
  }

  const makeReady = (key: string): void => {
    ready.push(key)
    waitingWorkers.shift()?.()
  }

  const markQueued = (key: string): void => {
    queuedSince.set(key, clock.elapsed())
    observer.added?.(length() + 1)
  }

  const add = (key: string): void => {
    if (stopped) return
    // A worker was woken when the key was first added: it is only moved.
    if (lowPriority.delete(key)) ready.push(key)
    if (queuedSince.has(key)) return
    markQueued(key)
    if (!processing.has(key)) makeReady(key)
  }

  const addLowPriority = (key: string): void => {
    if (processing.has(key)) return add(key)
    if (stopped || queuedSince.has(key)) return
    markQueued(key)
    const position = { key }
    lowPriority.set(key, position)
    positions.push(position)
    waitingWorkers.shift()?.()
  }

  const addAfter = (key: string, ms: number): void => {
    if (stopped) return
    if (!(ms > 0)) return add(key)
    const dueAt = clock.elapsed() + ms
    const earlier = delayed.get(key)
    if (earlier && earlier.dueAt <= dueAt) return
    earlier?.cancel()
    const cancel = clock.after(ms, () => {
      delayed.delete(key)
      add(key)
    })
    delayed.set(key, { dueAt, cancel })
  }

  return {
    add,
    addLowPriority,
    addAfter,
    addRateLimited: (key) => {
      if (stopped) return
      const retries = failures.get(key) ?? 0
      failures.set(key, retries + 1)
      observer.retried?.()
      addAfter(key, backoffMs(retry, retries))
    },
    forget: (key) => {
      failures.delete(key)
    },
    retries: (key) => failures.get(key) ?? 0,
    next: async () => {
      while (!stopped) {
        const key = take()
        if (key !== undefined) return key
        // A worker is woken, not handed the key: a burst of adds for one key in one tick stays one reconcile.
        await new Promise<void>((wake) => waitingWorkers.push(wake))
      }
      return undefined
    },
    done: (key) => {
      const startedAt = processing.get(key)
      if (startedAt === undefined) return
      processing.delete(key)
      observer.finished?.(clock.elapsed() - startedAt)
      if (queuedSince.has(key) && !stopped) makeReady(key)
    },
    stop: () => {
      stopped = true
      for (const { cancel } of delayed.values()) cancel()
      delayed.clear()
      queuedSince.clear()
      failures.clear()
      lowPriority.clear()
      while (ready.shift() !== undefined);
      while (positions.shift());
      for (let wake = waitingWorkers.shift(); wake; wake = waitingWorkers.shift()) wake()
    },
    length,
    idle: () => queuedSince.size === 0 && processing.size === 0,
    processingMs: () => [...processing.values()].map((startedAt) => clock.elapsed() - startedAt),
  }
}

export interface Fifo<T> {
  readonly push: (item: T) => void
  readonly shift: () => T | undefined
  readonly length: () => number
}

/** A smaller gap at the front is not worth closing. */
const MIN_GAP = 64

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
      if (head > MIN_GAP && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    length: () => items.length - head,
  }
}
