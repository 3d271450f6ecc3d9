/** Formats durations and objects, and keeps text on one line. */
import type { EventObject } from '../../run/events.ts'
import { visibleWidth } from './table.ts'

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
const BLANK = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\s]+/g

/** Removes line ends and escape codes: text from a cluster or a program may contain them. */
export function oneLine(text: string): string {
  return text.replace(ESCAPE_CODE, '').replace(BLANK, ' ').trim()
}

// oxlint-disable-next-line no-control-regex -- control characters are made visible
const CONTROL = /\x1b\[[0-9;]*m|\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Makes control characters visible as `\\u001b`, which is the same text in JSON and YAML. Data of a cluster could otherwise
 * write to the clipboard, move the cursor, or show its words in another order. Colours stay where the stream has them.
 */
export function escapeControls(text: string, colour: boolean): string {
  return text.replace(CONTROL, (found) => {
    if (found === '\r\n' || (colour && found.length > 1)) return found
    return Array.from(found).map(escapeControl).join('')
  })
}

function escapeControl(character: string): string {
  // oxlint-disable-next-line no-control-regex -- the rest of a colour code is printable
  if (!/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(character)) return character
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Marks every line after the first, so that data cannot look like a line of ours. */
export function quoteLines(text: string): string {
  return escapeControls(text, false).replaceAll(/\r?\n/g, '\n    | ')
}

/** Below this width a wrapped text is harder to read than one that the terminal breaks. */
const NARROW = 20

/**
 * Wraps at spaces; lines after the first begin with the indent, which counts. A word that is longer than the width gets its
 * own line. Colour codes take no space.
 */
export function wrapText(text: string, width: number, indent = ''): readonly string[] {
  // A terminal without a size has 0 columns.
  if (!Number.isFinite(width) || width < NARROW) return [text]
  const [, margin = '', rest = ''] = /^( *)(.*)$/s.exec(text) ?? []
  const [first = '', ...words] = rest.split(' ')
  const lines: string[] = []
  let line = margin + first
  for (const word of words) {
    if (visibleWidth(line) + 1 + visibleWidth(word) > width) {
      lines.push(line)
      line = indent + word
    } else line = `${line} ${word}`
  }
  return [...lines, line]
}

export function truncate(text: string, width: number): string {
  if (text.length <= width) return text
  return width <= 0 ? '' : `${text.slice(0, width - 1)}…`
}

export function formatObject({ kind, namespace, name }: EventObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
