/**
 * The last lines of a terminal, redrawn in place: only lines that changed are written, in one write, so nothing
 * flickers. Text for the scroll-back goes above.
 */
import type { Terminal } from '../../terminal.ts'
import { visibleWidth } from '../table.ts'

const ESC = '\u001b['
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`

export interface LiveRegion {
  readonly draw: (lines: readonly string[]) => void
  /** Writes text above the region, where it scrolls away with everything before. */
  readonly above: (text: string) => void
  /** Forgets what it knows of the screen: the terminal has moved the lines itself. */
  readonly resized: () => void
  /** Removes the region and gives the cursor back. */
  readonly close: () => void
}

export function liveRegion(terminal: Terminal): LiveRegion {
  // The cursor rests at the start of the line below the region.
  let drawn: readonly string[] = []
  let hidden = false

  const erase = (): string => {
    // Lines are never wider than the terminal was; after it shrank, one line may take several rows.
    const columns = Math.max(1, terminal.columns())
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0)
    return rows > 0 ? `${up(rows)}\r${CLEAR_BELOW}` : ''
  }
  const fresh = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('')

  return {
    draw: (lines) => {
      const text = drawn.length === 0 ? fresh(lines) : changes(drawn, lines)
      const hide = hidden ? '' : HIDE_CURSOR
      hidden = true
      drawn = lines
      if (hide + text) terminal.write(hide + text)
    },
    above: (text) => {
      const lines = text.replace(/\n$/, '').replaceAll('\n', '\r\n')
      terminal.write(`${erase()}${lines}\r\n${fresh(drawn)}`)
    },
    resized: () => {
      const gone = erase()
      drawn = []
      if (gone) terminal.write(gone)
    },
    close: () => {
      terminal.write(`${erase()}${hidden ? SHOW_CURSOR : ''}`)
      drawn = []
      hidden = false
    },
  }
}

/** From the old lines to the new ones: up to the first change, then down again, touching changed lines only. */
function changes(before: readonly string[], after: readonly string[]): string {
  const first = after.findIndex((line, at) => line !== before[at])
  if (first < 0 && before.length === after.length) return ''
  const from = first < 0 ? after.length : first
  let text = `${up(before.length - from)}\r`
  for (let at = from; at < after.length; at += 1) {
    const line = after[at] ?? ''
    text += at < before.length && line === before[at] ? '\r\n' : `${line}${CLEAR_LINE}\r\n`
  }
  return after.length < before.length ? `${text}${CLEAR_BELOW}` : text
}

function up(rows: number): string {
  return rows > 0 ? `${ESC}${rows}A` : ''
}
