/** Looking up names that people chose: a host may be called "constructor". */

export function getOwn<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

/** A record without the names that every object has. */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}
