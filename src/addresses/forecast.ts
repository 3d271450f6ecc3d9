/** Forecasts when addresses run out by how many holders were created in the last weeks. Pure. */

const WEEK = 7 * 86_400_000
/** Longer than a rollout of new hosts, short enough to notice one. */
const WEEKS = 4

export interface Forecast {
  /** Holders that were created per week and still exist. */
  readonly perWeek: number
  /** Until nothing is free; absent without growth. */
  readonly weeksLeft?: number
}

export function forecast(free: number, created: readonly number[], now: number): Forecast {
  const recent = created.filter((time) => time > now - WEEKS * WEEK && time <= now).length
  if (recent === 0) return { perWeek: 0 }
  const perWeek = recent / WEEKS
  return { perWeek, weeksLeft: Math.floor(free / perWeek) }
}
