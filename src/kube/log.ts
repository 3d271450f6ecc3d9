/** Structured log entries of the runtime; the program decides where they go. */
export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}

export type Log = (entry: LogEntry) => void

export const silentLog: Log = () => {}

/** Adds fields to every entry. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  return (entry) => log({ ...fields, ...entry })
}
