/** Notes of the sandbox for people: one moving line on a terminal, a line now and then elsewhere. */
import type { Note, Say } from '../../sandbox/notes.ts'
import type { Io } from '../io.ts'
import { formatFinding } from '../output/findings.ts'

export interface Narrator {
  readonly say: Say
  /** Clears the moving line. */
  readonly end: () => void
}

/** A log file does not want a line per package. */
const QUIET_MS = 10_000

export function narrator(io: Io, now: () => number = Date.now): Narrator {
  const moving = io.colour.stderr
  let shown = false
  let last: { readonly text: string; readonly at: number } | undefined
  const clear = (): void => {
    if (shown) io.stderr('\r\u001b[K')
    shown = false
  }
  const progress = (note: Extract<Note, { kind: 'progress' }>): void => {
    const count =
      note.done === undefined ? '' : ` ${note.done}${note.total === undefined ? '' : `/${note.total}`}`
    if (moving) {
      io.stderr(`\r\u001b[K${`${note.text}${count}`.slice(0, io.columns - 1)}`)
      shown = true
      return
    }
    if (last && last.text === note.text && now() - last.at < QUIET_MS) return
    last = { text: note.text, at: now() }
    io.stderr(`${note.text}${count}\n`)
  }
  const say: Say = (note) => {
    if (note.kind === 'progress') return progress(note)
    clear()
    io.stderr(note.kind === 'finding' ? formatFinding(note.finding, io.colour.stderr) : `${note.text}\n`)
  }
  return { say, end: clear }
}
