/** Repeats work on request, never twice at once, and not sooner than a multiple of what it costs. */
import type { Clock } from '../clock/clock.ts'

interface RefresherSettings {
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

function createRefresher({ clock, signal, minMs, costFactor, work }: RefresherSettings): Refresher {
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

export interface RefresherOptions {
  readonly minMs: number
  readonly costFactor: number
  readonly work: () => void | Promise<void>
}

/** One refresher per name. Work that fails is reported, and done again at the next request. */
export function createRefreshers<N extends string>(
  clock: Clock,
  signal: AbortSignal,
  onError: (name: string, thrown: unknown) => void,
  options: Readonly<Record<N, RefresherOptions>>,
): Readonly<Record<N, Refresher>> {
  const entries = Object.entries<RefresherOptions>(options).map(([name, { work, ...timing }]) => {
    const quiet = async (): Promise<void> => {
      try {
        await work()
      } catch (thrown) {
        // The next change tries again; what failed is visible as a lost connection or as a note.
        onError(name, thrown)
      }
    }
    return [name, createRefresher({ clock, signal, ...timing, work: quiet })] as const
  })
  return Object.fromEntries(entries) as Readonly<Record<N, Refresher>>
}
