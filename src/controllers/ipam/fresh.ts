/**
 * Objects that we have just created and that the watch has not told of yet.
 *
 * Without this, a second look that comes before the watch would create them again and be refused. What the watch has
 * told, even that an object is gone already, counts more than what we remember.
 */
import { type KubeObject, keyOf } from '../../api/object.ts'
import type { CacheReader } from '../../kube/cache.ts'

export interface Fresh<T extends KubeObject> {
  readonly get: (key: string) => T | undefined
  readonly created: (object: T) => void
}

/** Deaths that are remembered: as many as can happen between a create and its answer. */
const REMEMBERED = 10_000

export function freshlyCreated<T extends KubeObject>(cache: CacheReader<T>): Fresh<T> {
  const made = new Map<string, T>()
  const dead = new Set<string>()
  cache.subscribe((change) => {
    made.delete(keyOf(change.object.metadata))
    if (change.kind !== 'deleted') return
    dead.add(change.object.metadata.uid ?? '')
    const [oldest] = dead.size > REMEMBERED ? dead : []
    if (oldest !== undefined) dead.delete(oldest)
  })
  return {
    get: (key) => cache.get(key) ?? made.get(key),
    created: (object) => {
      const key = keyOf(object.metadata)
      if (!cache.get(key) && !dead.has(object.metadata.uid ?? '')) made.set(key, object)
    },
  }
}
