/** A live tree on a terminal: redrawn in place a few times a second, findings above it, gone at the end. */

import { applyEvent, createRunView } from '../../../run/run-view.ts'
import type { Terminal } from '../../terminal.ts'
import { formatFinding } from '../findings.ts'
import { liveRegion } from './live-region.ts'
import type { Printer } from './printer.ts'
import { drawTree } from './tree.ts'

export interface TtyOptions {
  readonly colour: boolean
  readonly now?: () => number
  /** Calls back again and again until the returned function is called. */
  readonly every?: (ms: number, tick: () => void) => () => void
  readonly frameMs?: number
}

const systemEvery: NonNullable<TtyOptions['every']> = (ms, tick) => {
  const timer = setInterval(tick, ms)
  timer.unref()
  return () => clearInterval(timer)
}

export function ttyPrinter(terminal: Terminal, settings: TtyOptions): Printer {
  const { colour, now = Date.now, every = systemEvery, frameMs = 100 } = settings
  const view = createRunView()
  const region = liveRegion(terminal)
  let open = false
  let cleanUp: readonly (() => void)[] = []

  const frame = (): void => {
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
    const resized = (): void => {
      region.resized()
      frame()
    }
    cleanUp = [every(frameMs, frame), terminal.onResize(resized), terminal.onExit(close)]
    frame()
  }
  return {
    sink: (event) => {
      applyEvent(view, event)
      if (event.kind === 'run-started') begin()
      else if (event.kind === 'run-finished') close()
      else if (event.kind === 'finding') region.above(formatFinding(event.finding, colour))
    },
    close,
  }
}
