/** Repeats work on request, never twice at once, and not sooner than a multiple of what it costs. */
import type { Clock } from '../clock/clock.ts'

export interface RefresherOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The shortest time from the end of one run to the start of the next. */
  readonly minMs: number
  /** The pause is at least so many times the duration of the last run. */
  readonly costFactor: number
  readonly work: () => Promise<void>
}

export interface Refresher {
  /** Runs soon; requests during a run cause one more run. */
  readonly request: () => void
}

export function createRefresher({ clock, signal, minMs, costFactor, work }: RefresherOptions): Refresher {
  let isRequested = false
  let isRunning = false
  let earliest = Number.NEGATIVE_INFINITY
  const loop = async (): Promise<void> => {
    isRunning = true
    try {
      while (isRequested && !signal.aborted) {
        const wait = earliest - clock.elapsed()
        if (wait > 0) await clock.sleep(wait, signal)
        // Changes come in groups: those of the same moment are one run.
        else await Promise.resolve()
        isRequested = false
        const startedAt = clock.elapsed()
        await work()
        const now = clock.elapsed()
        earliest = now + Math.max(minMs, (now - startedAt) * costFactor)
      }
    } catch {
      // The stop ends the pause.
    } finally {
      isRunning = false
    }
  }
  return {
    request: () => {
      isRequested = true
      if (!isRunning && !signal.aborted) void loop()
    },
  }
}
