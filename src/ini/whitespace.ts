/**
 * Trims and splits text as Python does, because oslo.config is Python: JavaScript's `trim` also removes a byte order
 * mark and keeps the old separators (U+001C to U+001F, U+0085), and both change the meaning of a file.
 */

const SPACE = '[\\t\\n\\v\\f\\r \\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const LEADING = new RegExp(`^${SPACE}+`)

export function trimStart(text: string): string {
  return text.replace(LEADING, '')
}

/** Walks from the end: a pattern anchored there takes quadratic time on many inner spaces. */
export function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && isSpace(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

export function trim(text: string): string {
  return trimStart(trimEnd(text))
}

/** Lines without their terminators: LF, CRLF and a single CR. */
export function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function isSpace(character: string): boolean {
  return LEADING.test(character)
}
