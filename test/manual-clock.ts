/**
 * A clock that stands still until a test advances it. Timers fire in order of time, then of creation.
 */
import { type Clock, sleepWith } from '../src/clock/clock.ts'

export interface ManualClock extends Clock {
  /** Advances the time and fires timers that are due. */
  readonly advance: (ms: number) => void
  /** Advances the time step by step and lets promises settle in between. */
  readonly settle: (ms: number) => Promise<void>
  /** Advances the time without firing timers, as after a pause of the whole program. */
  readonly advanceQuietly: (ms: number) => void
  /** Moves the wall clock only, as when the machine's clock is set. */
  readonly jumpWall: (ms: number) => void
  /** The remaining time of each timer, soonest first. */
  readonly waiting: () => readonly number[]
}

export function manualClock(start = 1_700_000_000_000): ManualClock {
  let time = 0
  let wall = start
  let made = 0
  const timers = new Map<number, { readonly at: number; readonly run: () => void }>()

  const soonest = (limit: number): number | undefined => {
    let best: number | undefined
    for (const [id, { at }] of timers) {
      if (at <= limit && (best === undefined || at < (timers.get(best)?.at ?? 0))) best = id
    }
    return best
  }
  const finish = (limit: number): void => {
    wall += limit - time
    time = limit
  }
  const fireNext = (limit: number): boolean => {
    const id = soonest(limit)
    const timer = id === undefined ? undefined : timers.get(id)
    if (id === undefined || !timer) return false
    timers.delete(id)
    finish(Math.max(time, timer.at))
    timer.run()
    return true
  }
  const after: Clock['after'] = (ms, run) => {
    made += 1
    const id = made
    timers.set(id, { at: time + Math.max(0, ms), run })
    return () => timers.delete(id)
  }

  return {
    now: () => wall,
    elapsed: () => time,
    sleep: (ms, signal) => sleepWith(after, ms, signal),
    after,
    random: () => 1 - Number.EPSILON,
    advance: (ms) => {
      const limit = time + ms
      while (fireNext(limit));
      finish(limit)
    },
    settle: async (ms) => {
      const limit = time + ms
      await settled()
      while (fireNext(limit)) await settled()
      finish(limit)
    },
    advanceQuietly: (ms) => finish(time + ms),
    jumpWall: (ms) => {
      wall += ms
    },
    waiting: () => [...timers.values()].map(({ at }) => at - time).sort((a, b) => a - b),
  }
}

/** Lets every promise settle that does not wait for time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
