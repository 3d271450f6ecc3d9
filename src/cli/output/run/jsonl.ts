/** Events as JSON lines, for programs: every event as it is, nothing added, nothing left out. */
import type { Printer } from './printer.ts'

export function jsonlPrinter(write: (text: string) => void): Printer {
  return { sink: (event) => write(`${JSON.stringify(event)}\n`), close: () => undefined }
}
