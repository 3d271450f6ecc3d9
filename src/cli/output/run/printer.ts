/** Prints the events of a run: as a live tree, as lines or as JSON lines. */
import type { EventSink } from '../../../run/events.ts'
import type { Io } from '../../io.ts'
import type { EventFormat } from '../format.ts'
import { linesPrinter } from './lines.ts'
import { ttyPrinter } from './tty.ts'

export interface Printer {
  readonly sink: EventSink
  /** Called after the last event to restore the terminal. May be called twice. */
  readonly close: () => void
}

/** A live tree on a terminal, lines elsewhere. */
export function choosePrinter(format: EventFormat, io: Io): Printer {
  if (format === 'jsonl') return jsonlPrinter(io.stderr)
  if (format === 'auto' && io.terminal) return ttyPrinter(io.terminal, { colour: io.colour.stderr })
  return linesPrinter(io.stderr, { colour: io.colour.stderr })
}

/** Prints every event unchanged, one JSON object per line. */
export function jsonlPrinter(write: (text: string) => void): Printer {
  return { sink: (event) => write(`${JSON.stringify(event)}\n`), close: () => undefined }
}
