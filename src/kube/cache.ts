/**
 * Caches the objects of a source as last received, by key and by declared indexes.
 *
 * A reflector writes it, controllers read it. Listeners receive every change and nothing else.
 */

import type { GroupVersionKind } from '../api/object.ts'
import { type KubeObject, objectKey } from '../api/object.ts'

export type Change<T extends KubeObject = KubeObject> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'modified'; readonly object: T; readonly previous: T }
  | { readonly kind: 'deleted'; readonly object: T }

/** The values under which an object is indexed: names of pools, owners, addresses. */
export type IndexFunction<T extends KubeObject = KubeObject> = (object: T) => readonly string[]

export interface CacheReader<T extends KubeObject = KubeObject> {
  readonly get: (key: string) => T | undefined
  readonly list: (namespace?: string) => readonly T[]
  /** The objects that a declared index has under this value. */
  readonly byIndex: (index: string, value: string) => readonly T[]
  readonly size: () => number
  /** Whether the first list is complete; before that, absence means nothing. */
  readonly hasSynced: () => boolean
  /** Resolves when the first list is complete. */
  readonly waitForSync: () => Promise<void>
  /** Calls the listener for every present object, then for every change, synchronously. The result unsubscribes. */
  readonly subscribe: (listener: (change: Change<T>) => void) => () => void
}

export interface Cache<T extends KubeObject = KubeObject> extends CacheReader<T> {
  readonly declareIndex: (name: string, valuesOf: IndexFunction<T>) => void
  /** The part of an object to store. */
  readonly transform: (object: T) => T
  readonly set: (object: T) => void
  readonly delete: (object: T) => void
  /** Replaces everything: an object that is not in the list is deleted. */
  readonly replace: (objects: readonly T[]) => void
  /** The same for one namespace; the caller marks the first complete list. */
  readonly replaceNamespace: (namespace: string, objects: readonly T[]) => void
  readonly markSynced: () => void
  /**
   * Stores our own write before the watch delivers it. It is accepted only if the cache still holds the exact version
   * on which the write was based: versions can only be compared for equality, and any other version may be newer than
   * ours. For the same reason a create cannot be noted: its delete may have been seen already.
   */
  readonly note: (written: T, basedOn: string) => boolean
}

export interface CacheOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** The part of an object to store, everything by default. Name, namespace and version must stay. */
  readonly transform?: (object: T) => T
  /** The part that stays stored when the listeners have received an object, everything by default. */
  readonly retain?: (object: T) => T
  /**
   * Reports an index function that failed for an object, which is then not in the index: one object must not stop the
   * others of its kind. Without it the error is thrown.
   */
  readonly onIndexFailure?: (object: T, error: unknown) => void
  /** Deep-freezes every object, so that a reader that modifies one fails at once. For tests: it costs time. */
  readonly freeze?: boolean
}

interface Index<T extends KubeObject> {
  readonly declared: IndexFunction<T>
  readonly valuesOf: IndexFunction<T>
  readonly keys: Map<string, Set<string>>
}

export function createCache<T extends KubeObject = KubeObject>(options: CacheOptions<T> = {}): Cache<T> {
  const objects = new Map<string, T>()
  const indexes = new Map<string, Index<T>>()
  const listeners = new Set<(change: Change<T>) => void>()
  let synced = false
  let markSynced = (): void => {}
  const firstSync = new Promise<void>((resolve) => {
    markSynced = () => {
      synced = true
      resolve()
    }
  })

  const tolerant =
    (valuesOf: IndexFunction<T>): IndexFunction<T> =>
    (object) => {
      try {
        return valuesOf(object)
      } catch (error) {
        if (!options.onIndexFailure) throw error
        options.onIndexFailure(object, error)
        return []
      }
    }
  const declareIndex = (name: string, valuesOf: IndexFunction<T>): void => {
    const known = indexes.get(name)
    if (known?.declared === valuesOf) return
    if (known) throw new Error(`the index ${name} is declared twice, with different functions`)
    const index: Index<T> = { declared: valuesOf, valuesOf: tolerant(valuesOf), keys: new Map() }
    indexes.set(name, index)
    for (const [key, object] of objects) refile(index, key, undefined, object)
  }
  const namespaceOf: IndexFunction<T> = ({ metadata }) => [metadata.namespace ?? '']
  const byNamespace: Index<T> = { declared: namespaceOf, valuesOf: namespaceOf, keys: new Map() }
  for (const [name, valuesOf] of Object.entries(options.indexes ?? {})) declareIndex(name, valuesOf)

  const objectsFor = (keys: ReadonlySet<string> | undefined): readonly T[] =>
    [...(keys ?? [])].flatMap((key) => objects.get(key) ?? [])

  const store = (key: string, previous: T | undefined, object: T | undefined): void => {
    refile(byNamespace, key, previous, object)
    for (const index of indexes.values()) refile(index, key, previous, object)
    if (object) objects.set(key, object)
    else objects.delete(key)
  }

  const notify = (change: Change<T>): void => {
    for (const listener of listeners) listener(change)
  }

  const { transform = (received: T): T => received, retain = (object: T): T => object, freeze = false } = options

  const set = (received: T): void => {
    const key = objectKey(received.metadata)
    const previous = objects.get(key)
    if (previous && sameVersion(previous, received)) return
    const kept = transform(received)
    const object = freeze ? deepFreeze(kept) : kept
    store(key, previous, retain(object))
    notify(previous ? { kind: 'modified', object, previous } : { kind: 'added', object })
  }

  const remove = (key: string, last: T): void => {
    const previous = objects.get(key)
    if (!previous) return
    store(key, previous, undefined)
    notify({ kind: 'deleted', object: last })
  }

  const replaceAmong = (present: readonly (readonly [string, T])[], list: readonly T[]): void => {
    const kept = new Set(list.map((object) => objectKey(object.metadata)))
    for (const [key, object] of present) if (!kept.has(key)) remove(key, object)
    for (const object of list) set(object)
  }

  return {
    get: (key) => objects.get(key),
    list: (namespace) =>
      namespace === undefined ? [...objects.values()] : objectsFor(byNamespace.keys.get(namespace)),
    byIndex: (name, value) => {
      const index = indexes.get(name)
      if (!index) throw new Error(`the index ${name} is not declared`)
      return objectsFor(index.keys.get(value))
    },
    size: () => objects.size,
    hasSynced: () => synced,
    waitForSync: () => firstSync,
    subscribe: (listener) => {
      listeners.add(listener)
      for (const object of objects.values()) listener({ kind: 'added', object })
      return () => listeners.delete(listener)
    },
    declareIndex,
    transform,
    set,
    delete: (object) => remove(objectKey(object.metadata), object),
    replace: (list) => {
      replaceAmong([...objects], list)
      markSynced()
    },
    replaceNamespace: (namespace, list) => {
      const present = objectsFor(byNamespace.keys.get(namespace))
      replaceAmong(
        present.map((object) => [objectKey(object.metadata), object]),
        list,
      )
    },
    markSynced: () => markSynced(),
    note: (written, basedOn) => {
      const cached = objects.get(objectKey(written.metadata))
      if (cached?.metadata.resourceVersion !== basedOn) return false
      set(written)
      return true
    },
  }
}

/** Moves a key from the index values of the old object to those of the new one. */
function refile<T extends KubeObject>(index: Index<T>, key: string, previous?: T, object?: T): void {
  const after = object ? index.valuesOf(object) : []
  // Most objects are indexed for the first time, as in a list: then no set is needed.
  const kept = previous && new Set(after)
  for (const value of previous ? index.valuesOf(previous) : []) {
    if (kept?.has(value)) continue
    const keys = index.keys.get(value)
    keys?.delete(key)
    if (keys?.size === 0) index.keys.delete(value)
  }
  for (const value of after) {
    const keys = index.keys.get(value)
    if (keys) keys.add(key)
    else index.keys.set(value, new Set([key]))
  }
}

function sameVersion(a: KubeObject, b: KubeObject): boolean {
  const version = a.metadata.resourceVersion
  return version !== undefined && version === b.metadata.resourceVersion
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

export interface Source {
  readonly kind: GroupVersionKind
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Only names, versions and owners are received and cached, for kinds whose content is large or secret. */
  readonly metadataOnly?: boolean
}

/** Equal for equal sources; other members of the value do not matter. */
export function sourceKey({ kind, namespace, labelSelector, fieldSelector, metadataOnly }: Source): string {
  return JSON.stringify([kind.apiVersion, kind.kind, namespace, labelSelector, fieldSelector, metadataOnly])
}

/** An author of objects can add any number of owners; ours are among the first. */
const MAX_OWNERS = 8

/**
 * Reduces an object to what identifies it, and the given label. Other labels and annotations are left out: together they
 * may be as large as the content.
 */
export function createIdentityTransform(label: string | undefined): (object: KubeObject) => KubeObject {
  return ({ apiVersion, kind, metadata }) => {
    const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences } = metadata
    const optional = { namespace, uid, resourceVersion, deletionTimestamp }
    const given = Object.entries(optional).filter(([, value]) => value !== undefined)
    const owners = ownerReferences && { ownerReferences: ownerReferences.slice(0, MAX_OWNERS) }
    const value = label === undefined ? undefined : metadata.labels?.[label]
    const labels = label !== undefined && value !== undefined && { labels: { [label]: value } }
    return { apiVersion, kind, metadata: { name, ...Object.fromEntries(given), ...owners, ...labels } }
  }
}
