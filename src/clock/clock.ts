/** Time and chance, passed in: a test neither waits nor wonders. */

export interface Clock {
  /** Milliseconds since the epoch, by the wall, which may jump. For what other programs and people read. */
  readonly now: () => number
  /** Milliseconds that only ever grow. For durations and deadlines. */
  readonly elapsed: () => number
  /** Ends early, without a throw, when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Runs once after so long; the answer takes it back. */
  readonly after: (ms: number, run: () => void) => () => void
  /** In [0, 1): spreads retries of many clients. */
  readonly random: () => number
}

/** A timer with a longer delay than this fires at once, which would turn a long rest into a hot loop. */
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

/** A sleep made of a timer, for every clock that has one. */
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

/** A delay somewhere between half of `ms` and all of it: many clients that failed together come back apart. */
export function withJitter(ms: number, clock: Pick<Clock, 'random'>): number {
  return ms * (0.5 + clock.random() / 2)
}

/** Resolves when the signal fires. For a signal that does: the listener stays until then. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
