/**
 * Reads the content of Secrets and ConfigMaps when it is needed, by a watch of their metadata.
 *
 * The watch reports that something changed; a read gets the content, at least as new as the reported version. What
 * was read is kept within a limit, so that large objects of other namespaces cost nothing.
 */
import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import type { KubeReader } from '../../kube/client.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { trackPendingCreates } from './writes.ts'

export interface Contents<T extends KubeObject = KubeObject> extends Pick<SharedCache<T>, 'note'> {
  /** The object if its current content is known without a request. */
  readonly find: (key: string) => Found<T>
  readonly read: (key: string, signal: AbortSignal) => Promise<T | undefined>
  /** An object that was created and that the watch has not reported yet. */
  readonly addCreated: (created: T) => void
}

export type Found<T> =
  | { readonly kind: 'known'; readonly object: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unread' }

export interface ContentsOptions {
  readonly kind: GroupVersionKind
  readonly client: Pick<KubeReader, 'get'>
  /** Of a source with `metadataOnly`. */
  readonly metadata: SharedCache
  /** Characters of JSON that are kept. */
  readonly limit?: number
}

/** Inventories and configurations of some thousands of nodes. */
const DEFAULT_LIMIT = 32 * 1024 * 1024

interface Kept<T> {
  readonly object: T
  readonly size: number
}

export function createContents<T extends KubeObject>(options: ContentsOptions): Contents<T> {
  const { kind, client, limit = DEFAULT_LIMIT } = options
  const metadata = options.metadata as unknown as SharedCache<T>
  /** The least recently used one comes first. */
  const kept = new Map<string, Kept<T>>()
  const reads = new Map<string, Promise<T | undefined>>()
  const created = trackPendingCreates(metadata)
  let total = 0

  const forget = (key: string): void => {
    total -= kept.get(key)?.size ?? 0
    kept.delete(key)
  }
  const keep = (object: T): void => {
    const key = objectKey(object.metadata)
    forget(key)
    const size = JSON.stringify(object).length
    if (size > limit) return
    kept.set(key, { object, size })
    total += size
    for (const oldest of kept.keys()) {
      if (total <= limit) break
      forget(oldest)
    }
  }
  metadata.subscribe((change) => {
    if (change.kind === 'deleted') forget(objectKey(change.object.metadata))
  })

  const find = (key: string): Found<T> => {
    const current = metadata.get(key)
    if (!current) {
      const pending = created.get(key)
      return pending ? { kind: 'known', object: pending } : { kind: 'absent' }
    }
    const entry = kept.get(key)
    if (!entry || !isSameVersion(entry.object, current)) return { kind: 'unread' }
    kept.delete(key)
    kept.set(key, entry)
    return { kind: 'known', object: entry.object }
  }

  const request = async (key: string, signal: AbortSignal): Promise<T | undefined> => {
    const slash = key.indexOf('/')
    const ref = { ...kind, namespace: key.slice(0, slash), name: key.slice(slash + 1) }
    const object = (await client.get(ref, { signal })) as T | undefined
    // The watch may have reported its deletion meanwhile: then nothing would forget it.
    if (object && metadata.get(key)) keep(object)
    return object
  }

  return {
    find,
    read: async (key, signal) => {
      const found = find(key)
      if (found.kind !== 'unread') return found.kind === 'known' ? found.object : undefined
      // Callers at the same version share a request; one that another caller aborted is repeated.
      const id = `${key} ${metadata.get(key)?.metadata.resourceVersion}`
      const running = reads.get(id)
      if (running) {
        try {
          return await running
        } catch {
          return request(key, signal)
        }
      }
      const read = request(key, signal).finally(() => reads.delete(id))
      reads.set(id, read)
      return read
    },
    addCreated: (object) => {
      keep(object)
      created.add(object)
    },
    note: (written, basedOn) => {
      keep(written)
      return metadata.note(written, basedOn)
    },
  }
}

function isSameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}

/** The object with its content, or undefined when it does not exist. */
export type FindContent = <T extends KubeObject>(contents: Contents<T>, key: string) => T | undefined

/**
 * Calls a function that has no effects. Where it asked for content that is not read yet, the content is read and the
 * function is called again.
 */
export async function withContents<R>(decide: (find: FindContent) => R, signal: AbortSignal): Promise<R> {
  const known = new Map<unknown, Map<string, KubeObject | undefined>>()
  for (;;) {
    const reads: (() => Promise<unknown>)[] = []
    const find: FindContent = <T extends KubeObject>(contents: Contents<T>, key: string) => {
      const objects = known.get(contents) ?? new Map<string, KubeObject | undefined>()
      known.set(contents, objects)
      if (objects.has(key)) return objects.get(key) as T | undefined
      const found = contents.find(key)
      if (found.kind === 'unread') reads.push(async () => objects.set(key, await contents.read(key, signal)))
      return found.kind === 'known' ? found.object : undefined
    }
    const result = decide(find)
    if (reads.length === 0) return result
    await Promise.all(reads.map((read) => read()))
  }
}
