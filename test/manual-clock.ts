/**
 * A clock that stands still until a test moves it. Timers fire in the order of their time, then of their making.
 */
import { type Clock, sleepWith } from '../src/clock/clock.ts'

export interface ManualClock extends Clock {
  /** Moves time, and runs what falls due on the way. */
  readonly advance: (ms: number) => void
  /** Moves time and lets every promise that hangs on it settle, step by step. */
  readonly settle: (ms: number) => Promise<void>
  /** Moves time, and runs nothing: the program stood still, and what fell due waits for its turn. */
  readonly advanceQuietly: (ms: number) => void
  /** Moves the wall alone: somebody set the machine's clock. */
  readonly jumpWall: (ms: number) => void
  /** How long until each waiting timer, soonest first. */
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

/** Lets every promise that can settle without time do so. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
