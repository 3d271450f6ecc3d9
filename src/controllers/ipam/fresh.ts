/**
 * Objects that we have just created and that the watch has not told of yet.
 *
 * Without this, a second look that comes before the watch would create them again and be refused. What the watch has
 * told, even that an object is gone already, counts more than what we remember.
 */
import { type KubeObject, objectKey } from '../../api/object.ts'
import type { CacheReader } from '../../kube/cache.ts'

export interface PendingCreates<T extends KubeObject> {
  readonly get: (key: string) => T | undefined
  readonly add: (object: T) => void
}

/** Deaths that are remembered: as many as can happen between a create and its answer. */
const MAX_REMEMBERED_DELETES = 10_000

export function trackPendingCreates<T extends KubeObject>(cache: CacheReader<T>): PendingCreates<T> {
  const made = new Map<string, T>()
  const dead = new Set<string>()
  cache.subscribe((change) => {
    made.delete(objectKey(change.object.metadata))
    if (change.kind !== 'deleted') return
    dead.add(change.object.metadata.uid ?? '')
    const [oldest] = dead.size > MAX_REMEMBERED_DELETES ? dead : []
    if (oldest !== undefined) dead.delete(oldest)
  })
  return {
    get: (key) => cache.get(key) ?? made.get(key),
    add: (object) => {
      const key = objectKey(object.metadata)
      if (!cache.get(key) && !dead.has(object.metadata.uid ?? '')) made.set(key, object)
    },
  }
}
