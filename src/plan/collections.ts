/** Things by a key, in the order of their first appearance. */

export function groupBy<K, T>(things: Iterable<T>, keyOf: (thing: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const thing of things) {
    const key = keyOf(thing)
    const group = groups.get(key)
    if (group) group.push(thing)
    else groups.set(key, [thing])
  }
  return groups
}

// FOLDED src/plan/own.ts
/** Looking up names that people chose: a host may be called "constructor". */
export function getOwn<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

/** A record without the names that every object has. */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}
