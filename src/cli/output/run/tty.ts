/** Prints a run as a live tree on a terminal: redrawn in place, with findings above it, removed at the end. */
import { applyEvent, createRunView } from '../../../run/run-view.ts'
import type { Terminal } from '../../io.ts'
import { formatFinding } from '../findings.ts'
import { visibleWidth } from '../table.ts'
import type { Printer } from './printer.ts'
import { drawTree } from './tree.ts'

export interface TtyOptions {
  readonly colour: boolean
  readonly now?: () => number
  /** Calls `tick` repeatedly until the returned function is called. */
  readonly every?: (ms: number, tick: () => void) => () => void
  readonly frameMs?: number
}

const systemEvery: NonNullable<TtyOptions['every']> = (ms, tick) => {
  const timer = setInterval(tick, ms)
  timer.unref()
  return () => clearInterval(timer)
}

export function ttyPrinter(terminal: Terminal, options: TtyOptions): Printer {
  const { colour, now = Date.now, every = systemEvery, frameMs = 100 } = options
  const view = createRunView()
  const region = createLiveRegion(terminal)
  let open = false
  let cleanUp: readonly (() => void)[] = []

  const drawFrame = (): void => {
    // One row stays free for the cursor, so that drawing never scrolls the screen.
    const rows = Math.max(1, terminal.rows() - 1)
    region.draw(drawTree(view, { columns: terminal.columns(), rows, now: now(), colour }))
  }
  const close = (): void => {
    if (!open) return
    open = false
    for (const undo of cleanUp) undo()
    region.close()
  }
  const begin = (): void => {
    open = true
    const onResize = (): void => {
      region.erase()
      drawFrame()
    }
    cleanUp = [every(frameMs, drawFrame), terminal.onResize(onResize), terminal.onExit(close)]
    drawFrame()
  }
  return {
    sink: (event) => {
      applyEvent(view, event)
      if (event.kind === 'run-started') begin()
      else if (event.kind === 'run-finished') close()
      else if (event.kind === 'finding') region.writeAbove(formatFinding(event.finding, colour))
    },
    close,
  }
}

const ESC = '\u001b['
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`

/** The last lines of a terminal. Only changed lines are written, in one write, so nothing flickers. */
interface LiveRegion {
  readonly draw: (lines: readonly string[]) => void
  /** Writes text above the region, where it scrolls away with earlier output. */
  readonly writeAbove: (text: string) => void
  /** Removes the region: after a resize the terminal has moved its lines. */
  readonly erase: () => void
  /** Removes the region and shows the cursor again. */
  readonly close: () => void
}

function createLiveRegion(terminal: Terminal): LiveRegion {
  // The cursor rests at the start of the line below the region.
  let drawn: readonly string[] = []
  let cursorHidden = false

  const eraseCode = (): string => {
    // Lines are never wider than the terminal was; after it shrank, one line may take several rows.
    const columns = Math.max(1, terminal.columns())
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0)
    return rows > 0 ? `${moveUp(rows)}\r${CLEAR_BELOW}` : ''
  }
  const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('')

  return {
    draw: (lines) => {
      const text = drawn.length === 0 ? joinLines(lines) : redrawCode(drawn, lines)
      const hide = cursorHidden ? '' : HIDE_CURSOR
      cursorHidden = true
      drawn = lines
      if (hide + text) terminal.write(hide + text)
    },
    writeAbove: (text) => {
      const lines = text.replace(/\n$/, '').replaceAll('\n', '\r\n')
      terminal.write(`${eraseCode()}${lines}\r\n${joinLines(drawn)}`)
    },
    erase: () => {
      const code = eraseCode()
      drawn = []
      if (code) terminal.write(code)
    },
    close: () => {
      terminal.write(`${eraseCode()}${cursorHidden ? SHOW_CURSOR : ''}`)
      drawn = []
      cursorHidden = false
    },
  }
}

/** Moves up to the first line that differs, then down again, writing changed lines only. */
function redrawCode(before: readonly string[], after: readonly string[]): string {
  const firstChange = after.findIndex((line, index) => line !== before[index])
  if (firstChange < 0 && before.length === after.length) return ''
  const start = firstChange < 0 ? after.length : firstChange
  let text = `${moveUp(before.length - start)}\r`
  for (let index = start; index < after.length; index += 1) {
    const line = after[index] ?? ''
    text += index < before.length && line === before[index] ? '\r\n' : `${line}${CLEAR_LINE}\r\n`
  }
  return after.length < before.length ? `${text}${CLEAR_BELOW}` : text
}

function moveUp(rows: number): string {
  return rows > 0 ? `${ESC}${rows}A` : ''
}
