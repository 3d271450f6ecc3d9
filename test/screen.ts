/**
 * A small terminal for tests: applies the output of a program to a screen of cells, with reflow.
 *
 * Supports the escape codes that our printers use, and throws for any other, so that none is silently ignored.
 */
import type { Terminal } from '../src/cli/io.ts'

interface Row {
  text: string
  /** The row continues because the line was too long. */
  wrapped: boolean
}

export interface Screen extends Terminal {
  readonly resize: (columns: number, rows: number) => void
  /** The visible rows, without empty rows at the end. */
  readonly shown: () => readonly string[]
  readonly scrolledAway: () => readonly string[]
  readonly cursorVisible: () => boolean
  /** Bytes written so far. */
  readonly written: () => number
  readonly leave: () => void
}

export function screen(columns = 80, rows = 24): Screen {
  let size = { columns, rows }
  let lines: Row[] = [{ text: '', wrapped: false }]
  let cursor = { row: 0, column: 0 }
  let visible = true
  let written = 0
  const resized = new Set<() => void>()
  const exits = new Set<() => void>()

  const top = (): number => Math.max(0, lines.length - size.rows)
  const at = (row: number): Row => {
    while (lines.length <= row) lines.push({ text: '', wrapped: false })
    return lines[row] as Row
  }
  const put = (char: string): void => {
    if (cursor.column === size.columns) {
      at(cursor.row).wrapped = true
      cursor = { row: cursor.row + 1, column: 0 }
    }
    const row = at(cursor.row)
    const before = row.text.padEnd(cursor.column).slice(0, cursor.column)
    row.text = before + char + row.text.slice(cursor.column + 1)
    cursor = { ...cursor, column: cursor.column + 1 }
  }
  const escape = (code: string, parameter: string): void => {
    const many = Number(parameter || 1)
    if (code === 'm') return
    if (code === 'A') cursor = { ...cursor, row: Math.max(top(), cursor.row - many) }
    else if (code === 'K') {
      const row = at(cursor.row)
      row.text = row.text.slice(0, cursor.column)
      row.wrapped = false
    } else if (code === 'J') {
      at(cursor.row).text = at(cursor.row).text.slice(0, cursor.column)
      lines = lines.slice(0, cursor.row + 1)
    } else if (parameter === '?25' && (code === 'l' || code === 'h')) visible = code === 'h'
    else throw new Error(`the screen does not know ESC[${parameter}${code}`)
  }
  const write = (text: string): void => {
    written += text.length
    // oxlint-disable-next-line no-control-regex -- this is the terminal's side of escape codes
    for (const [token, parameter, code] of text.matchAll(/\u001b\[([0-9;?]*)([A-Za-z])|[\s\S]/gu)) {
      if (code !== undefined) escape(code, parameter ?? '')
      else if (token === '\r') cursor = { ...cursor, column: 0 }
      else if (token === '\n') {
        cursor = { ...cursor, row: cursor.row + 1 }
        at(cursor.row)
      } else put(token)
    }
  }
  const reflow = (): void => {
    const below = lines.length - cursor.row
    const whole: string[] = []
    let open = false
    for (const row of lines) {
      if (open) whole[whole.length - 1] += row.text
      else whole.push(row.text)
      open = row.wrapped
    }
    lines = whole.flatMap((line) => {
      const pieces = line.match(new RegExp(`.{1,${size.columns}}`, 'gu')) ?? ['']
      return pieces.map((text, piece) => ({ text, wrapped: piece < pieces.length - 1 }))
    })
    cursor = { row: lines.length - below, column: Math.min(cursor.column, size.columns) }
  }
  return {
    write,
    columns: () => size.columns,
    rows: () => size.rows,
    onResize: (changed) => {
      resized.add(changed)
      return () => resized.delete(changed)
    },
    onExit: (restore) => {
      exits.add(restore)
      return () => exits.delete(restore)
    },
    resize: (newColumns, newRows) => {
      size = { columns: newColumns, rows: newRows }
      reflow()
      for (const changed of resized) changed()
    },
    shown: () => trimEnd(lines.slice(top()).map((row) => row.text.trimEnd())),
    scrolledAway: () => lines.slice(0, top()).map((row) => row.text.trimEnd()),
    cursorVisible: () => visible,
    written: () => written,
    leave: () => {
      for (const restore of exits) restore()
    },
  }
}

function trimEnd(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== '')
  return lines.slice(0, last + 1)
}
