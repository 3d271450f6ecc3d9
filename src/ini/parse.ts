/**
 * Reads a configuration file the way oslo.config does, trap for trap.
 *
 * Pure. Says what the file means and where oslo.config would refuse it; whether that is wise is `check.ts`'s
 * business. The result is a list, not a map: a repeated option is how multi-valued options are written.
 */
import { splitLines, trim, trimEnd, trimStart } from './whitespace.ts'

export interface Assignment {
  /** As written: `[LIBVIRT]` is `LIBVIRT` here. */
  readonly section: string
  readonly key: string
  /** Continuation lines are joined with a newline; the n-th stands n lines below `line`. */
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
  /** Where the mistake is. */
  readonly line: number
  /** The line that oslo.config's own message names: it sees a missing section only after the value ended. */
  readonly noticed: number
  readonly text: string
}

export interface IniFile {
  readonly assignments: readonly Assignment[]
  readonly sections: readonly SectionHeader[]
  /** The first is where oslo.config stops; the rest is what a person would meet after mending it. */
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

/** The state between two lines: the section, and the assignment that may still go on. */
class Reader {
  readonly #assignments: Assignment[] = []
  readonly #sections: SectionHeader[] = []
  readonly #errors: IniSyntaxError[] = []
  #section: string | undefined
  #open: OpenAssignment | undefined
  #current = 0
  #astray = false

  take(line: string, number: number): void {
    this.#current = number
    if (line === '') return this.#flush()
    if (/^[ \t]/.test(line)) return this.#continue(line)
    this.#astray = false
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
    // One indented block is one mistake. Its lines are read as if they stood at the margin, to find the others.
    if (!this.#astray) this.#refuse('stray-continuation', line)
    this.#astray = true
    this.#begin(trimStart(line))
    if (this.#open) this.#flush()
  }

  #begin(line: string): void {
    if (line.startsWith('[')) this.#beginSection(line)
    else if (!line.startsWith('#') && !line.startsWith(';')) this.#beginAssignment(line)
  }

  #beginSection(line: string): void {
    if (!line.endsWith(']')) return this.#refuse('unclosed-section', line)
    if (line.length <= 2) return this.#refuse('empty-section', line)
    this.#section = line.slice(1, -1)
    this.#sections.push({ name: this.#section, line: this.#current })
  }

  #beginAssignment(line: string): void {
    const at = line.search(/[:=]/)
    if (at < 0) return this.#refuse('no-separator', line)
    const key = trim(line.slice(0, at))
    if (key === '') return this.#refuse('empty-key', line)
    this.#open = { key, values: [unquote(trim(line.slice(at + 1)))], line: this.#current }
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

  #refuse(kind: SyntaxErrorKind, text: string): void {
    this.#errors.push({ kind, line: this.#current, noticed: this.#current, text })
  }
}

/** One pair of equal quotes around a value is not part of it. A lone quote is such a pair to oslo.config. */
function unquote(value: string): string {
  const quoted = /^["']/.test(value) && value.at(0) === value.at(-1)
  return quoted ? value.slice(1, -1) : value
}

/** Sections are compared without case, but for DEFAULT: `[default]` is a section that nobody reads. */
export function normalizeSection(name: string): string {
  return name === 'DEFAULT' ? name : name.toLowerCase()
}
