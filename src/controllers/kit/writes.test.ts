import { describe, expect, it } from 'vitest'
import { manualClock } from '../../../test/manual-clock.ts'
import { type MemoryCluster, memoryCluster } from '../../../test/memory-cluster.ts'
import type { KubeObject } from '../../api/object.ts'
import { createCache } from '../../kube/cache.ts'
import {
  createOwnWrites,
  createWriter,
  ignoreNotFound,
  requeueOnConflict,
  trackPendingCreates,
  type Writer,
} from './writes.ts'

const version = (uid: string, resourceVersion: string, name = 'a'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', uid, resourceVersion },
})
const configMap = (data: Readonly<Record<string, string>>, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'ns', ...metadata },
  data,
})
const { signal } = new AbortController()

describe('requeueOnConflict', () => {
  const context = { signal, clock: manualClock(), log: () => {} }
  const conflicting = async (cluster: MemoryCluster): Promise<void> => {
    await cluster.client.create(configMap({}))
    await cluster.client.create(configMap({}))
  }

  it('requeues after a conflict and lets other errors through', async () => {
    const cluster = memoryCluster()
    const reconcile = requeueOnConflict(() => conflicting(cluster))
    expect(await reconcile({ name: 'a' }, context)).toMatchObject({ requeueAfterMs: expect.any(Number) })
    const failing = requeueOnConflict(async () => {
      throw new Error('broken')
    })
    await expect(failing({ name: 'a' }, context)).rejects.toThrow('broken')
  })

  it('requeues only for the given kinds', async () => {
    const cluster = memoryCluster()
    const reconcile = requeueOnConflict(() => conflicting(cluster), ['not-found'])
    await expect(reconcile({ name: 'a' }, context)).rejects.toThrow()
  })
})

it('ignoreNotFound ignores a write to an object that is gone', async () => {
  const { client } = memoryCluster()
  await ignoreNotFound(client.update({ ...configMap({}), metadata: { name: 'gone', namespace: 'ns' } }))
})

describe('createOwnWrites', () => {
  it('has exactly the versions that were added, however often they are asked for', () => {
    const ownWrites = createOwnWrites()
    ownWrites.add(version('one', '7'))
    expect(ownWrites.has(version('one', '7'))).toBe(true)
    expect(ownWrites.has(version('one', '7'))).toBe(true)
  })

  it('has neither a later version nor the same version of another object', () => {
    const ownWrites = createOwnWrites()
    ownWrites.add(version('one', '7'))
    expect(ownWrites.has(version('one', '8'))).toBe(false)
    expect(ownWrites.has(version('two', '7'))).toBe(false)
  })

  it('forgets the oldest versions, so that events that never arrive do not fill the memory', () => {
    const ownWrites = createOwnWrites()
    for (let n = 0; n <= 10_000; n += 1) ownWrites.add(version('one', String(n)))
    expect(ownWrites.has(version('one', '0'))).toBe(false)
    expect(ownWrites.has(version('one', '10000'))).toBe(true)
  })
})

describe('trackPendingCreates', () => {
  it('returns a created object until the watch reports it', () => {
    const cache = createCache()
    const pending = trackPendingCreates(cache)
    pending.add(version('u', '1'))
    expect(pending.get('ns/a')?.metadata.resourceVersion).toBe('1')
    cache.set(version('u', '2'))
    cache.delete(version('u', '3'))
    expect(pending.get('ns/a')).toBeUndefined()
  })

  it('does not return an object whose deletion was reported before the create returned', () => {
    const cache = createCache()
    const pending = trackPendingCreates(cache)
    cache.set(version('u', '1'))
    cache.delete(version('u', '2'))
    pending.add(version('u', '1'))
    expect(pending.get('ns/a')).toBeUndefined()
  })
})

describe('createWriter', () => {
  const setUp = (): {
    readonly cluster: MemoryCluster
    readonly writer: Writer
    readonly writes: () => readonly string[]
    readonly ownWrites: ReturnType<typeof createOwnWrites>
    readonly cache: ReturnType<typeof createCache>
  } => {
    const cluster = memoryCluster()
    const ownWrites = createOwnWrites()
    const writer = createWriter({ client: cluster.client, fieldManager: 'test', ownWrites })
    const writes = (): readonly string[] =>
      cluster.requests.filter((request) => /^(create|update|apply|delete) /.test(request))
    return { cluster, writer, writes, ownWrites, cache: createCache() }
  }

  it('writes a status once, notes it in the cache and remembers it as an own write', async () => {
    const { writer, writes, ownWrites, cache, cluster } = setUp()
    const object = await cluster.client.create(configMap({}))
    cache.set(object)
    const written = await writer.updateStatus(cache, object, { phase: 'Ready' }, signal)
    expect(ownWrites.has(written)).toBe(true)
    expect(cache.get('ns/a')?.metadata.resourceVersion).toBe(written.metadata.resourceVersion)
    const before = writes().length
    expect(await writer.updateStatus(cache, written, { phase: 'Ready' }, signal)).toBe(written)
    expect(writes()).toHaveLength(before)
  })

  it('writes metadata only when it changes', async () => {
    const { writer, writes, cache } = setUp()
    const object = await writer.create(configMap({}), signal)
    const marked = await writer.updateMetadata(cache, object, { finalizers: ['test/f'] }, signal)
    expect(marked.metadata.finalizers).toEqual(['test/f'])
    expect(await writer.updateMetadata(cache, marked, { finalizers: ['test/f'] }, signal)).toBe(marked)
    expect(writes()).toHaveLength(2)
  })

  it('creates or replaces one field and keeps labels that only the live object has', async () => {
    const { writer, writes, cache } = setUp()
    const created = await writer.replaceField(
      cache,
      undefined,
      configMap({ a: '1' }, { labels: { x: '1' } }),
      'data',
      signal,
    )
    expect(await writer.replaceField(cache, created, configMap({ a: '1' }), 'data', signal)).toBe(created)
    const replaced = await writer.replaceField(
      cache,
      created,
      configMap({ b: '2' }, { labels: { y: '2' } }),
      'data',
      signal,
    )
    expect(replaced).toMatchObject({ data: { b: '2' }, metadata: { labels: { x: '1', y: '2' } } })
    expect(writes()).toHaveLength(2)
  })

  it('applies again when a field is left out, and not when the server only added fields', async () => {
    const { writer, writes } = setUp()
    const live = await writer.applyIfChanged(undefined, configMap({ a: '1', b: '2' }), signal)
    expect(await writer.applyIfChanged({ ...live, status: {} }, configMap({ a: '1', b: '2' }), signal)).toMatchObject(
      live,
    )
    const before = writes().length
    await writer.applyIfChanged(live, configMap({ a: '1' }), signal)
    expect(writes().length).toBe(before + 1)
  })

  it('deletes the object that it was given and not a later one with the same name', async () => {
    const { writer, cluster } = setUp()
    const first = await writer.create(configMap({}), signal)
    await writer.delete(first, signal)
    await writer.create(configMap({}), signal)
    await expect(writer.delete(first, signal)).rejects.toThrow()
    expect(cluster.objects('ConfigMap')).toHaveLength(1)
  })
})
