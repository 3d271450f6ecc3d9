/** Time and random numbers as a dependency, so that tests control both. */

export interface Clock {
  /** Milliseconds since the epoch by the wall clock, which may jump. For timestamps. */
  readonly now: () => number
  /** Monotonic milliseconds. For durations and deadlines. */
  readonly elapsed: () => number
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Calls `run` once after this time; the result cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  /** In [0, 1): spreads the retries of many clients. */
  readonly random: () => number
}

/** Node fires a timer with a longer delay at once, which would turn a long pause into a busy loop. */
const longestTimerMs = 2 ** 31 - 1

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, Math.min(Math.max(0, ms), longestTimerMs))
  return () => clearTimeout(timer)
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => sleepWith(after, ms, signal),
  after,
  random: () => Math.random(),
}

/** A sleep based on a timer, for every clock that has one. */
export function sleepWith(timer: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = (): void => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = timer(ms, wake)
    signal?.addEventListener('abort', wake)
  })
}

/** A random delay between half of `ms` and `ms`, so that clients that failed together do not retry together. */
export function withJitter(ms: number, clock: Pick<Clock, 'random'>): number {
  return ms * (0.5 + clock.random() / 2)
}

/** Resolves when the signal fires. Only for a signal that does: the listener stays until then. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
