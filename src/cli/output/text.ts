/** Formats durations and objects, and keeps text on one line. */
import type { EventObject } from '../../run/events.ts'

/** `0.4s`, `12s`, `3m04s`, `1h02m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${twoDigits(seconds % 60)}s`
  return `${Math.floor(minutes / 60)}h${twoDigits(minutes % 60)}m`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

// oxlint-disable-next-line no-control-regex -- escape codes begin with one
const ESCAPE_CODE = /\u001b\[[0-9;?]*[A-Za-z]/g
// oxlint-disable-next-line no-control-regex -- control characters are removed
const BLANK = /[\u0000-\u001f\u007f-\u009f\s]+/g

/** Removes line ends and escape codes: text from a cluster or a program may contain them. */
export function oneLine(text: string): string {
  return text.replace(ESCAPE_CODE, '').replace(BLANK, ' ').trim()
}

export function truncate(text: string, width: number): string {
  if (text.length <= width) return text
  return width <= 0 ? '' : `${text.slice(0, width - 1)}…`
}

export function formatObject({ kind, namespace, name }: EventObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
