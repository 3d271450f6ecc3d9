/** Prints sandbox notices: one updated line on a terminal, occasional lines elsewhere. */
import type { Notice, Notify } from '../../sandbox/sandbox-context.ts'
import type { Io } from '../io.ts'
import { formatFinding } from '../output/findings.ts'

export interface ProgressPrinter {
  readonly notify: Notify
  /** Clears the updated line. */
  readonly end: () => void
}

/** Repeats of one text are limited when the output is not a terminal. */
const REPEAT_MS = 10_000

export function progressPrinter(io: Io, now: () => number = Date.now): ProgressPrinter {
  const moving = io.colour.stderr
  let shown = false
  let last: { readonly text: string; readonly at: number } | undefined
  const clear = (): void => {
    if (shown) io.stderr('\r\u001b[K')
    shown = false
  }
  const progress = (note: Extract<Notice, { kind: 'progress' }>): void => {
    const count = note.done === undefined ? '' : ` ${note.done}${note.total === undefined ? '' : `/${note.total}`}`
    if (moving) {
      io.stderr(`\r\u001b[K${`${note.text}${count}`.slice(0, io.columns - 1)}`)
      shown = true
      return
    }
    if (last && last.text === note.text && now() - last.at < REPEAT_MS) return
    last = { text: note.text, at: now() }
    io.stderr(`${note.text}${count}\n`)
  }
  const say: Notify = (note) => {
    if (note.kind === 'progress') return progress(note)
    clear()
    io.stderr(note.kind === 'finding' ? formatFinding(note.finding, io.colour.stderr) : `${note.text}\n`)
  }
  return { notify: say, end: clear }
}
