/**
 * Finds placeholders in a file: words such as CHANGEME, _replaced_ or <address> where a value belongs. Pure.
 *
 * A text that merely contains such a word is a value: configuration files have `<None>` in comments.
 */
import type { ValuePath } from '../yaml/locate.ts'

const WORD = String.raw`(?:\w*CHANGE_?ME\w*|_[a-z]+_|<[a-z][\w .-]*>)`
/** Also with the rest of an address, or two of them as a range: `_replaced_/24`, `_replaced_-_replaced_`. */
const PLACEHOLDER = new RegExp(`^${WORD}(?:[-/.:]+(?:${WORD}|\\d+))*$`, 'i')

export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text.trim())
}

export function findPlaceholders(value: unknown, path: ValuePath = []): readonly ValuePath[] {
  if (typeof value === 'string') return isPlaceholder(value) ? [path] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    findPlaceholders(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}
