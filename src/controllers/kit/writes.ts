/**
 * Writes of controllers: skips what is stored already, writes on the version that was read, and remembers own writes
 * until the watch reports them.
 *
 * Knows no kind.
 */
import { createHash } from 'node:crypto'
import { type KubeObject, type ObjectMeta, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { objectInTheWay } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type ApiErrorKind, isApiError } from '../../kube/api-error.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { KubeClient, ObjectRef } from '../../kube/client.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { decideOwnership } from './ownership.ts'

const CONFLICT_DELAY_MS = 100

/** Turns a lost race into a requeue: another writer was faster, and the watch delivers what it wrote. */
export function requeueOnConflict(
  reconcile: Reconcile,
  kinds: readonly ApiErrorKind[] = ['conflict', 'already-exists'],
): Reconcile {
  return async (request, context) => {
    try {
      return await reconcile(request, context)
    } catch (error) {
      if (!isApiError(error, ...kinds)) throw error
      return { requeueAfterMs: CONFLICT_DELAY_MS * (1 + context.clock.random()) }
    }
  }
}

/** The written object, or undefined when the write failed with one of these kinds. */
export async function ignoreApiErrors<T>(write: Promise<T>, ...kinds: readonly ApiErrorKind[]): Promise<T | undefined> {
  try {
    return await write
  } catch (error) {
    if (!isApiError(error, ...kinds)) throw error
    return undefined
  }
}

/** For writes to an object that may be deleted meanwhile: then nothing is left to do. */
export async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  await ignoreApiErrors(write, 'not-found')
}

/** The versions that this controller wrote: a watch event of one of them needs no reconcile. */
export interface OwnWrites {
  /** Adds an object as the API server returned it. */
  readonly add: (written: KubeObject) => void
  readonly has: (object: KubeObject) => boolean
}

/** More than can be in flight; a forgotten one costs a reconcile that changes nothing. */
const MAX_REMEMBERED = 10_000

export function createOwnWrites(): OwnWrites {
  const versions = new Set<string>()
  const versionKey = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`
  return {
    add: (written) => addBounded(versions, versionKey(written)),
    has: (object) => versions.has(versionKey(object)),
  }
}

function addBounded(set: Set<string>, value: string): void {
  set.add(value)
  const [oldest] = set.size > MAX_REMEMBERED ? set : []
  if (oldest !== undefined) set.delete(oldest)
}

/**
 * A cache together with the objects that were created and that the watch has not reported yet.
 *
 * Without them, a reconcile that runs before the watch event would create the object again and be refused. The watch
 * takes precedence: an object whose deletion it has reported is not pending.
 */
export interface PendingCreates<T extends KubeObject> {
  readonly get: (key: string) => T | undefined
  readonly add: (created: T) => void
}

export function trackPendingCreates<T extends KubeObject>(cache: CacheReader<T>): PendingCreates<T> {
  const pending = new Map<string, T>()
  const deletedUids = new Set<string>()
  cache.subscribe((change) => {
    pending.delete(objectKey(change.object.metadata))
    if (change.kind === 'deleted') addBounded(deletedUids, change.object.metadata.uid ?? '')
  })
  return {
    get: (key) => cache.get(key) ?? pending.get(key),
    add: (created) => {
      const key = objectKey(created.metadata)
      if (!cache.get(key) && !deletedUids.has(created.metadata.uid ?? '')) pending.set(key, created)
    },
  }
}

export interface WriterDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'apply' | 'delete'>
  readonly fieldManager: string
  /** Given when the controller ignores watch events of its own writes. */
  readonly ownWrites?: OwnWrites
}

type NotedCache<T extends KubeObject> = Pick<SharedCache<T>, 'note'>

/** Every write returns the object as it is stored afterwards. */
export interface Writer {
  readonly create: <T extends KubeObject>(object: T, signal: AbortSignal) => Promise<T>
  /** Updates on the version of `next`, and notes the result in the cache. */
  readonly update: <T extends KubeObject>(cache: NotedCache<T>, next: T, signal: AbortSignal) => Promise<T>
  readonly updateStatus: <T extends KubeObject>(
    cache: NotedCache<T>,
    object: T,
    status: object,
    signal: AbortSignal,
  ) => Promise<T>
  readonly updateMetadata: <T extends KubeObject>(
    cache: NotedCache<T>,
    object: T,
    change: Partial<ObjectMeta>,
    signal: AbortSignal,
  ) => Promise<T>
  /**
   * Creates the object, or replaces one field of it, its owners and its labels when they differ. Labels that only the
   * live object has are kept. Cheaper than a server-side apply, for objects that change often. Fails with
   * `objectInTheWay` where the live object has another controller than the desired one.
   */
  readonly replaceField: <T extends KubeObject>(
    cache: NotedCache<T>,
    live: T | undefined,
    desired: T,
    field: 'data' | 'spec',
    signal: AbortSignal,
  ) => Promise<T>
  /**
   * Applies with force: the controller owns these fields, whichever manager set them before. Fails with `objectInTheWay`
   * where the live object has another controller than the desired one.
   */
  readonly applyIfChanged: (
    live: KubeObject | undefined,
    desired: KubeObject,
    signal: AbortSignal,
  ) => Promise<KubeObject>
  /** Deletes this object and not a later one with the same name. */
  readonly delete: (object: KubeObject, signal: AbortSignal) => Promise<void>
}

export function createWriter({ client, fieldManager, ownWrites }: WriterDeps): Writer {
  const recordOwn = <T extends KubeObject>(written: KubeObject): T => {
    ownWrites?.add(written)
    return written as T
  }
  const create: Writer['create'] = async (object, signal) =>
    recordOwn(await client.create(object, { fieldManager, signal }))
  const write = async <T extends KubeObject>(
    cache: NotedCache<T>,
    next: T,
    signal: AbortSignal,
    subresource?: 'status',
  ): Promise<T> => {
    const options = { fieldManager, signal, ...(subresource && { subresource }) }
    const written = recordOwn<T>(await client.update(next, options))
    cache.note(written, next.metadata.resourceVersion ?? '')
    return written
  }
  const deleteObject: Writer['delete'] = async (object, signal) => {
    const { uid } = object.metadata
    await client.delete(objectReference(object), { signal, ...(uid && { preconditions: { uid } }) })
  }
  /** The live object if it may be overwritten. What a deleted owner left under its name is deleted. */
  const takeOwned = async <T extends KubeObject>(
    live: T | undefined,
    desired: KubeObject,
    signal: AbortSignal,
  ): Promise<T | undefined> => {
    if (!live) return undefined
    const claim = decideOwnership(live, desired)
    if (claim.kind === 'foreign') throw failure(objectInTheWay, claim.facts)
    if (claim.kind === 'owned') return live
    await deleteObject({ ...live, apiVersion: desired.apiVersion, kind: desired.kind }, signal)
    return undefined
  }
  /** A cache that is limited by a label does not hold every object that may be in the way. */
  const createOwned = async <T extends KubeObject>(desired: T, signal: AbortSignal): Promise<T> => {
    try {
      return await create(desired, signal)
    } catch (error) {
      if (!isApiError(error, 'already-exists')) throw error
      await takeOwned(await client.get(objectReference(desired), { signal }), desired, signal)
      throw error
    }
  }
  return {
    create,
    update: write,
    updateStatus: async (cache, object, status, signal) =>
      sameJson(object['status'] ?? {}, status) ? object : write(cache, { ...object, status }, signal, 'status'),
    updateMetadata: async (cache, object, change, signal) => {
      const metadata = { ...object.metadata, ...change }
      return sameJson(object.metadata, metadata) ? object : write(cache, { ...object, metadata }, signal)
    },
    replaceField: async (cache, found, desired, field, signal) => {
      const live = await takeOwned(found, desired, signal)
      if (!live) return createOwned(desired, signal)
      const { labels, ownerReferences } = desired.metadata
      const isSame =
        sameJson(live[field] ?? {}, desired[field] ?? {}) &&
        jsonContains(live.metadata.labels, labels ?? {}) &&
        (ownerReferences ?? []).every(({ uid }) => live.metadata.ownerReferences?.some((owner) => owner.uid === uid))
      if (isSame) return live
      const metadata = {
        ...live.metadata,
        ...(labels && { labels: { ...live.metadata.labels, ...labels } }),
        ...(ownerReferences && { ownerReferences }),
      }
      return write(cache, { ...live, metadata, [field]: desired[field] }, signal)
    },
    applyIfChanged: async (found, desired, signal) => {
      const marked = withDesiredHash(desired)
      const live = await takeOwned(found ?? (await client.get(objectReference(desired), { signal })), desired, signal)
      if (live && jsonContains(live, marked)) return live
      // With the UID the API server refuses to write to a later object with the same name.
      const uid = live?.metadata.uid
      const object = uid ? { ...marked, metadata: { ...marked.metadata, uid } } : marked
      return recordOwn(await client.apply(object, { fieldManager, force: true, signal }))
    },
    delete: deleteObject,
  }
}

function objectReference({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

/** The hash of the desired object: a field that a later version leaves out shows by it alone. */
const DESIRED_HASH_ANNOTATION = 'stackloom.dev/wish'

function withDesiredHash(desired: KubeObject): KubeObject {
  const annotations = { ...desired.metadata.annotations, [DESIRED_HASH_ANNOTATION]: shortHash(JSON.stringify(desired)) }
  return { ...desired, metadata: { ...desired.metadata, annotations } }
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Whether the live value has everything that the desired one has; what the API server adds does not matter. */
function jsonContains(live: unknown, desired: unknown): boolean {
  if (Array.isArray(desired)) {
    const list: unknown = live ?? []
    return (
      Array.isArray(list) &&
      list.length === desired.length &&
      desired.every((item, index) => jsonContains(list[index], item))
    )
  }
  if (typeof desired === 'object' && desired !== null) {
    return Object.entries(desired).every(
      ([key, value]) => value === undefined || jsonContains((live as Record<string, unknown> | null)?.[key], value),
    )
  }
  return live === desired
}
