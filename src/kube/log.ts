/**
 * What the runtime tells those who operate it: one entry, with fields, to whoever was given.
 */

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}

export type Log = (entry: LogEntry) => void

export const silentLog: Log = () => {}

/** The same log with these fields in every entry. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  return (entry) => log({ ...fields, ...entry })
}
