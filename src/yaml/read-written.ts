/**
 * Reads YAML that `writeYaml` wrote, in half the time of a YAML parser and without loading one. Pure.
 *
 * Knows only the forms that are written, and takes each part only in exactly that form: any other text is left unread,
 * never misread.
 */
import { isBare, quoted } from './write.ts'

/** A part that is not as `writeYaml` writes it. */
const OTHER: unique symbol = Symbol('other')

/**
 * Undefined for a text that `writeYaml` did not write, and for values that no lock has: fractions, texts of several lines,
 * lists in lists.
 */
export function readWritten(text: string): unknown {
  const lines = text.split('\n')
  if (lines.pop() !== '') return undefined
  const reader = new Reader(lines)
  const value = reader.readBlock(0)
  return value === OTHER || !reader.isAtEnd() ? undefined : value
}

/** Deeper than any lock, and far from a stack overflow. */
const MAX_INDENT = 200

class Reader {
  readonly #lines: string[]
  #next = 0

  constructor(lines: string[]) {
    this.#lines = lines
  }

  isAtEnd(): boolean {
    return this.#next === this.#lines.length
  }

  readBlock(indent: number): unknown {
    if (indent > MAX_INDENT) return OTHER
    return this.#startsItem(indent) ? this.#readSequence(indent) : this.#readMapping(indent)
  }

  #startsItem(indent: number): boolean {
    const line = this.#lines[this.#next]
    return line !== undefined && indentOf(line) === indent && line.startsWith('- ', indent)
  }

  #readMapping(indent: number): unknown {
    const record: Record<string, unknown> = {}
    const first = this.#next
    for (
      let line = this.#lines[first];
      line !== undefined && indentOf(line) === indent;
      line = this.#lines[this.#next]
    ) {
      if (line.startsWith('- ', indent)) break
      const end = keyEnd(line, indent)
      const key = end < 0 ? OTHER : readScalar(line.slice(indent, end))
      if (typeof key !== 'string' || key === '__proto__' || Object.hasOwn(record, key)) return OTHER
      this.#next += 1
      const isNested = end + 1 === line.length
      const value = isNested ? this.readBlock(this.#startsItem(indent) ? indent : indent + 2) : readValue(line, end + 1)
      if (value === OTHER) return OTHER
      record[key] = value
    }
    return this.#next === first ? OTHER : record
  }

  #readSequence(indent: number): unknown {
    const items: unknown[] = []
    while (this.#startsItem(indent)) {
      const line = this.#lines[this.#next] as string
      let item: unknown
      if (keyEnd(line, indent + 2) < 0) {
        item = readValue(line, indent + 1)
        this.#next += 1
      } else {
        this.#lines[this.#next] = `${' '.repeat(indent + 2)}${line.slice(indent + 2)}`
        item = this.#readMapping(indent + 2)
      }
      if (item === OTHER) return OTHER
      items.push(item)
    }
    return items
  }
}

function indentOf(line: string): number {
  let indent = 0
  while (line.charCodeAt(indent) === 32) indent += 1
  return indent
}

const QUOTED = /"(?:[^"\\]|\\.)*"/y

/** The colon after the key that starts here; -1 where a value starts. */
function keyEnd(line: string, start: number): number {
  if (line[start] === '"') {
    QUOTED.lastIndex = start
    return QUOTED.test(line) && line[QUOTED.lastIndex] === ':' ? QUOTED.lastIndex : -1
  }
  const end = line.indexOf(': ', start)
  if (end >= 0) return end
  return line.endsWith(':') ? line.length - 1 : -1
}

/** The value after the space at this place. */
function readValue(line: string, space: number): unknown {
  return line[space] === ' ' ? readScalar(line.slice(space + 1)) : OTHER
}

function readScalar(text: string): unknown {
  if (isBare(text)) return text
  if (text.startsWith('"')) return readQuoted(text)
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text)
  switch (text) {
    case '[]':
      return []
    case '{}':
      return {}
    case 'true':
      return true
    case 'false':
      return false
    case 'null':
      return null
    default:
      return OTHER
  }
}

function readQuoted(text: string): unknown {
  try {
    const value = JSON.parse(text) as string
    return quoted(value) === text && !isBare(value) ? value : OTHER
  } catch {
    return OTHER
  }
}
