/** A printer turns the stream of a run's events into what somebody reads: one interface, three hands. */
import type { EventSink } from '../../../run/events.ts'
import type { Io } from '../../io.ts'
import type { EventFormat } from './events-option.ts'
import { jsonlPrinter } from './jsonl.ts'
import { linesPrinter } from './lines.ts'
import { ttyPrinter } from './tty.ts'

export interface Printer {
  readonly sink: EventSink
  /** After the last event: gives back what was taken from the terminal. May be called twice. */
  readonly close: () => void
}

/** A live tree for a person at a terminal, lines for everybody else. */
export function choosePrinter(format: EventFormat, io: Io): Printer {
  if (format === 'jsonl') return jsonlPrinter(io.stderr)
  if (format === 'auto' && io.terminal) return ttyPrinter(io.terminal, { colour: io.colour.stderr })
  return linesPrinter(io.stderr, { colour: io.colour.stderr })
}
