/**
 * Measures JSON before it is parsed, because a few bytes per value make a small text slow to parse and brackets nest for
 * free; and counts the values of one part of it afterwards.
 *
 * Pure and linear. Does not check the syntax.
 */

export interface JsonComplexity {
  readonly values: number
  readonly depth: number
  /** Different keys, counted up to a limit: JavaScript learns each of them, which takes ten times as long as a value. */
  readonly keys: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Counts commas, colons and brackets outside of strings: an upper bound for values and keys together. */
export function measureJson(bytes: Buffer, maxKeys: number): JsonComplexity {
  let values = 1
  let depth = 0
  let deepest = 0
  let textStart = 0
  let textEnd = 0
  const keys = new Set<string>()
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    if (byte === QUOTE) {
      textStart = index + 1
      index = findStringEnd(bytes, textStart)
      textEnd = index
    } else if (byte === COLON) {
      values += 1
      if (keys.size < maxKeys) keys.add(bytes.toString('latin1', textStart, textEnd))
    } else if (byte === COMMA) values += 1
    else if (OPENING.has(byte)) {
      values += 1
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (CLOSING.has(byte)) depth -= 1
  }
  return { values, depth: deepest, keys: keys.size }
}

function findStringEnd(bytes: Buffer, start: number): number {
  let index = start
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1
  return index
}

/** Counts keys and values of a parsed value, up to the limit. */
export function countValues(value: unknown, limit: number): number {
  const open: unknown[] = [value]
  let values = 0
  while (open.length > 0 && values < limit) {
    const next = open.pop()
    values += 1
    if (typeof next !== 'object' || next === null) continue
    const children = Object.values(next)
    if (!Array.isArray(next)) values += children.length
    for (const child of children) open.push(child)
  }
  return Math.min(values, limit)
}
