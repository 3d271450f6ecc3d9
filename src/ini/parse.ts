/**
 * Parses a configuration file exactly as oslo.config does.
 *
 * Pure. Reports what oslo.config would reject; must not judge what is unwise (`check.ts`). The result is a list, not a
 * map, because multi-valued options are written by repeating them.
 */
import { splitLines, trim, trimEnd, trimStart } from './whitespace.ts'

export interface Assignment {
  /** As written: `[LIBVIRT]` is `LIBVIRT` here. */
  readonly section: string
  readonly key: string
  /** Continuation lines are joined with a newline; the n-th is n lines below `line`. */
  readonly value: string
  /** Counts from 1. */
  readonly line: number
}

export interface SectionHeader {
  readonly name: string
  readonly line: number
}

export type SyntaxErrorKind =
  | 'no-section'
  | 'no-separator'
  | 'empty-key'
  | 'unclosed-section'
  | 'empty-section'
  | 'stray-continuation'

export interface IniSyntaxError {
  readonly kind: SyntaxErrorKind
  /** The line with the error. */
  readonly line: number
  /** The line that oslo.config's message names: it notices a missing section only after the value. */
  readonly noticed: number
  readonly text: string
}

export interface IniFile {
  readonly assignments: readonly Assignment[]
  readonly sections: readonly SectionHeader[]
  /** oslo.config stops at the first one; the others would appear after fixing it. */
  readonly errors: readonly IniSyntaxError[]
}

export function parseIni(text: string): IniFile {
  const reader = new Reader()
  splitLines(text).forEach((line, index) => reader.take(trimEnd(line), index + 1))
  return reader.finish()
}

interface OpenAssignment {
  readonly key: string
  readonly values: string[]
  readonly line: number
}

/** The state between two lines: the section and the assignment that may continue. */
class Reader {
  readonly #assignments: Assignment[] = []
  readonly #sections: SectionHeader[] = []
  readonly #errors: IniSyntaxError[] = []
  #section: string | undefined
  #open: OpenAssignment | undefined
  #current = 0
  #inStrayBlock = false

  take(line: string, number: number): void {
    this.#current = number
    if (line === '') return this.#flush()
    if (/^[ \t]/.test(line)) return this.#continue(line)
    this.#inStrayBlock = false
    this.#flush()
    this.#begin(line)
  }

  finish(): IniFile {
    this.#flush()
    return { assignments: this.#assignments, sections: this.#sections, errors: this.#errors }
  }

  #continue(line: string): void {
    if (this.#open) {
      this.#open.values.push(trimStart(line))
      return
    }
    // One indented block is one error. Its lines are parsed as if they were not indented, to find other errors.
    if (!this.#inStrayBlock) this.#addError('stray-continuation', line)
    this.#inStrayBlock = true
    this.#begin(trimStart(line))
    if (this.#open) this.#flush()
  }

  #begin(line: string): void {
    if (line.startsWith('[')) this.#beginSection(line)
    else if (!line.startsWith('#') && !line.startsWith(';')) this.#beginAssignment(line)
  }

  #beginSection(line: string): void {
    if (!line.endsWith(']')) return this.#addError('unclosed-section', line)
    if (line.length <= 2) return this.#addError('empty-section', line)
    this.#section = line.slice(1, -1)
    this.#sections.push({ name: this.#section, line: this.#current })
  }

  #beginAssignment(line: string): void {
    const separator = line.search(/[:=]/)
    if (separator < 0) return this.#addError('no-separator', line)
    const key = trim(line.slice(0, separator))
    if (key === '') return this.#addError('empty-key', line)
    this.#open = { key, values: [unquote(trim(line.slice(separator + 1)))], line: this.#current }
  }

  #flush(): void {
    if (!this.#open) return
    const { key, values, line } = this.#open
    this.#open = undefined
    if (this.#section !== undefined) {
      this.#assignments.push({ section: this.#section, key, value: values.join('\n'), line })
    } else if (!this.#errors.some((error) => error.kind === 'no-section')) {
      this.#errors.push({ kind: 'no-section', line, noticed: this.#current, text: key })
    }
  }

  #addError(kind: SyntaxErrorKind, text: string): void {
    this.#errors.push({ kind, line: this.#current, noticed: this.#current, text })
  }
}

/** One pair of equal quotes around a value is not part of it. For oslo.config a single quote is such a pair. */
function unquote(value: string): string {
  const quoted = /^["']/.test(value) && value.at(0) === value.at(-1)
  return quoted ? value.slice(1, -1) : value
}

/** Section names are not case sensitive, except DEFAULT: no service reads `[default]`. */
export function normalizeSection(name: string): string {
  return name === 'DEFAULT' ? name : name.toLowerCase()
}
