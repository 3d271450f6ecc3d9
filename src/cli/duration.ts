/** Parses durations in Go's notation, as kubectl does: `90s`, `1h30m`, `500ms`. */
import { InvalidArgumentError, Option } from 'commander'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g

/** Returns milliseconds, or undefined for text that is no duration. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(PART)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
}

/** Parses the value of an option; in milliseconds. */
export function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('Write a duration such as 90s, 30m or 1h30m.')
  return ms
}

/** `--timeout` of commands that wait; the value is in milliseconds. */
export function timeoutOption(): Option {
  return new Option(
    '--timeout <duration>',
    'stop safely after this time, such as 90m; the same command resumes',
  ).argParser((text) => {
    const ms = readDuration(text)
    if (ms <= 0) throw new InvalidArgumentError('Write a duration above zero, such as 90s, 30m or 1h30m.')
    return ms
  })
}
