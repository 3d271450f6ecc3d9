/**
 * A minimal cluster in memory for tests of the runtime: objects, versions, watches, finalizers; a patch merges, and an
 * apply removes fields that the same manager no longer sets. No schema, generations or conflicts between managers.
 *
 * Versions are not numbers, so that code that compares them fails. Real clusters are in `test/real/`.
 */
import { type GroupVersionKind, type KubeObject, objectKey } from '../src/api/object.ts'
import { finding, type Problem } from '../src/errors/finding.ts'
import { ApiError, type ApiErrorKind } from '../src/kube/api-error.ts'
import type { KubeClient, ObjectRef, WatchEvent } from '../src/kube/client.ts'
import { objectExists, objectMissing, staleWrite } from '../src/kube/findings/api-server.ts'
import { serverUnreachable } from '../src/kube/findings/connection.ts'

export interface MemoryCluster {
  readonly client: KubeClient
  /** Every request so far, as `verb Kind key`. */
  readonly requests: readonly string[]
  /** While false, every request fails as unreachable, and open watches break. */
  readonly reachable: (reachable: boolean) => void
  /** While true, requests hang until their signal fires. */
  readonly silent: (silent: boolean) => void
  readonly objects: (kind: string) => readonly KubeObject[]
}

export function memoryCluster(): MemoryCluster {
  const objects = new Map<string, KubeObject>()
  const history: { readonly id: string; readonly event: WatchEvent }[] = []
  const requests: string[] = []
  /** The last applied object by manager and object. */
  const appliedBy = new Map<string, object>()
  const wakers = new Set<() => void>()
  let version = 0
  let up = true
  let hang = false

  const idOf = ({ apiVersion, kind, namespace, name }: ObjectRef): string =>
    `${apiVersion}|${kind}|${objectKey({ name, ...(namespace && { namespace }) })}`
  const refOf = (object: KubeObject): ObjectRef => ({
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: object.metadata.name,
    ...(object.metadata.namespace && { namespace: object.metadata.namespace }),
  })
  const wake = (): void => {
    for (const waker of wakers) waker()
  }
  const broken = (): ApiError =>
    error('unreachable', serverUnreachable, { server: 'memory', reason: 'connection refused' })
  const arrive = async (
    verb: string,
    ref: { kind: string; name?: string; namespace?: string },
    signal?: AbortSignal,
  ) => {
    const key = ref.name ? ` ${objectKey({ name: ref.name, ...(ref.namespace && { namespace: ref.namespace }) })}` : ''
    requests.push(`${verb} ${ref.kind}${key}`)
    await new Promise((resolve) => setImmediate(resolve))
    if (hang) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(broken())))
    if (!up || signal?.aborted) throw broken()
  }
  const put = (object: KubeObject, kind: 'added' | 'modified' | 'deleted'): KubeObject => {
    version += 1
    const uid = object.metadata.uid ?? `uid-${version}`
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: `v${version}w` } }
    const id = idOf(refOf(object))
    if (kind === 'deleted') objects.delete(id)
    else objects.set(id, stored)
    history.push({ id, event: { kind, object: stored } })
    wake()
    return stored
  }
  const ofKind = ({ apiVersion, kind }: GroupVersionKind): readonly KubeObject[] =>
    [...objects].filter(([id]) => id.startsWith(`${apiVersion}|${kind}|`)).map(([, object]) => object)
  const findStored = (ref: ObjectRef): KubeObject => {
    const found = objects.get(idOf(ref))
    if (!found) throw error('not-found', objectMissing, { object: idOf(ref) })
    return found
  }

  const client: KubeClient = {
    get: async (ref, options) => {
      await arrive('get', ref, options?.signal)
      return objects.get(idOf(ref))
    },
    list: async (kind, options) => {
      // All objects of the kind, as in the watch below: namespaces and selectors are tested on real servers.
      await arrive('list', kind, options?.signal)
      return { items: ofKind(kind), resourceVersion: `v${version}w` }
    },
    watch: async function* (kind, { resourceVersion, signal }) {
      await arrive('watch', kind, signal)
      let at = Number(resourceVersion.slice(1, -1))
      while (!signal?.aborted) {
        if (!up) throw broken()
        const entry = history[at]
        if (!entry) {
          await new Promise<void>((resolve) => {
            const done = (): void => {
              wakers.delete(done)
              signal?.removeEventListener('abort', done)
              resolve()
            }
            wakers.add(done)
            signal?.addEventListener('abort', done)
          })
          continue
        }
        at += 1
        if (entry.id.startsWith(`${kind.apiVersion}|${kind.kind}|`)) yield entry.event
      }
    },
    versions: async () => [],
    resource: async (kind) => ({
      ...kind,
      plural: `${kind.kind.toLowerCase()}s`,
      namespaced: true,
      verbs: [],
    }),
    create: async (object, options) => {
      await arrive('create', refOf(object), options?.signal)
      if (objects.has(idOf(refOf(object)))) throw error('already-exists', objectExists, { object: 'it' })
      return put(object, 'added')
    },
    update: async (object, options) => {
      await arrive('update', refOf(object), options?.signal)
      const before = findStored(refOf(object))
      const { resourceVersion } = object.metadata
      if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) {
        throw error('conflict', staleWrite, { object: 'it', reason: 'changed' })
      }
      const left = object.metadata.finalizers ?? []
      const ends = before.metadata.deletionTimestamp !== undefined && left.length === 0
      return put(object, ends ? 'deleted' : 'modified')
    },
    apply: async (object, options) => {
      await arrive('apply', refOf(object), options.signal)
      const id = idOf(refOf(object))
      const before = objects.get(id)
      const mine = `${options.fieldManager} ${id} ${before?.metadata.uid}`
      const left = before && without(before, appliedBy.get(mine) ?? {}, object)
      const stored = put(merged(left ?? {}, object) as KubeObject, before ? 'modified' : 'added')
      appliedBy.set(`${options.fieldManager} ${id} ${stored.metadata.uid}`, object)
      return stored
    },
    patch: async (ref, patch, options) => {
      await arrive('patch', ref, options.signal)
      return put(merged(findStored(ref), patch as object) as KubeObject, 'modified')
    },
    delete: async (ref, options) => {
      await arrive('delete', ref, options?.signal)
      const before = objects.get(idOf(ref))
      if (!before) return false
      const { uid, resourceVersion } = options?.preconditions ?? {}
      if (
        (uid && uid !== before.metadata.uid) ||
        (resourceVersion && resourceVersion !== before.metadata.resourceVersion)
      ) {
        throw error('conflict', staleWrite, { object: 'it', reason: 'changed' })
      }
      if (!before.metadata.finalizers?.length) put(before, 'deleted')
      else if (before.metadata.deletionTimestamp === undefined)
        put({ ...before, metadata: { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'modified')
      return true
    },
  }

  return {
    client,
    requests,
    reachable: (reachable) => {
      up = reachable
      wake()
    },
    silent: (silent) => {
      hang = silent
    },
    objects: (kind) => [...objects.values()].filter((object) => object.kind === kind),
  }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** RFC 7386: objects are merged, null removes, everything else replaces. */
function merged(value: object, patch: object): object {
  const result: Record<string, unknown> = { ...value }
  for (const [key, wanted] of Object.entries(patch)) {
    if (wanted === null) delete result[key]
    else if (!isFields(wanted)) result[key] = wanted
    else result[key] = merged(isFields(result[key]) ? result[key] : {}, wanted)
  }
  return result
}

/** The value without fields that were applied before and are not any more. */
function without(value: object, was: object, now: object): object {
  const result: Record<string, unknown> = { ...value }
  for (const [key, old] of Object.entries(was)) {
    const [current, wanted] = [result[key], (now as Fields)[key]]
    if (isFields(old) && isFields(current)) result[key] = without(current, old, isFields(wanted) ? wanted : {})
    else if (wanted === undefined) delete result[key]
  }
  return result
}

function error<P>(kind: ApiErrorKind, problem: Problem<P>, facts: P): ApiError {
  return new ApiError({ kind, finding: finding(problem, facts) })
}
