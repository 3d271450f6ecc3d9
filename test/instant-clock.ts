/** A clock whose sleeps take no time: they are recorded, and the time advances by them. */
import { type Clock, systemClock } from '../src/clock/clock.ts'

export interface InstantClock extends Clock {
  readonly pauses: readonly number[]
}

export function instantClock(): InstantClock {
  const pauses: number[] = []
  let slept = 0
  return {
    ...systemClock,
    now: () => Date.now() + slept,
    elapsed: () => performance.now() + slept,
    sleep: async (ms) => {
      pauses.push(ms)
      slept += ms
      await Promise.resolve()
    },
    random: () => 0,
    pauses,
  }
}
