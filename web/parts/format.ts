/** Formats times, durations and numbers. Pure. */

/** `14:03:07`, in the time zone of the reader as every time of the page. */
export function formatClock(text: string | number): string {
  return new Date(text).toLocaleTimeString('en-GB')
}

/** `14:03:07`, with the date when it is not today. */
export function formatTime(text: string | number, now = Date.now()): string {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return String(text)
  const clock = formatClock(text)
  // Sweden writes dates as ISO 8601 does.
  return time.toDateString() === new Date(now).toDateString() ? clock : `${time.toLocaleDateString('sv-SE')} ${clock}`
}

/** `4.2 s`, `3 min 05 s`, `1 h 12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

export function formatPercent(fraction: number): string {
  if (fraction > 0 && fraction < 0.01) return '<1 %'
  return `${Math.floor(fraction * 100)} %`
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
