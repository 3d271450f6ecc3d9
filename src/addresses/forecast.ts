/** Forecasts when addresses run out by how many holders were created in the last weeks. Pure. */

const DAY = 86_400_000
const WEEK = 7 * DAY
/** Longer than a rollout of new hosts, short enough to notice one. */
const WEEKS = 4

export interface Forecast {
  /** Holders that were created per week and still exist. */
  readonly perWeek: number
  /** Until nothing is free; absent without growth. */
  readonly weeksLeft?: number
}

/** What was created on the first day is the deployment, or a restore of it, and no growth. */
export function forecast(free: number, created: readonly number[], now: number): Forecast {
  const first = created.reduce((least, time) => Math.min(least, time), now)
  const since = Math.max(now - WEEKS * WEEK, first + DAY)
  const recent = created.filter((time) => time > since && time <= now).length
  if (recent === 0) return { perWeek: 0 }
  // Of a younger cloud, its life counts; one week at least, because a day says little.
  const perWeek = recent / Math.max(1, (now - since) / WEEK)
  return { perWeek, weeksLeft: Math.floor(free / perWeek) }
}
