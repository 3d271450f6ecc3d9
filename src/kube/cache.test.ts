import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { type Change, createCache, createIdentityTransform } from './cache.ts'

function pool(name: string, version: string, network = 'internalapi', namespace = 'metallb-system'): KubeObject {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace, resourceVersion: version, labels: { network } },
    spec: { addresses: [] },
  }
}

const networks = (object: KubeObject): readonly string[] => [object.metadata.labels?.['network'] ?? '']
const names = (objects: readonly KubeObject[]): readonly string[] => objects.map((object) => object.metadata.name)
const formatChange = (change: Change): string => `${change.kind} ${change.object.metadata.name}`

describe('the cache', () => {
  it('finds objects by key, by namespace and by declared index', () => {
    const cache = createCache({ indexes: { network: networks } })
    cache.replace([pool('a', '1'), pool('b', '2', 'storage'), pool('c', '3', 'storage', 'elsewhere')])
    expect(cache.get('metallb-system/a')?.metadata.resourceVersion).toBe('1')
    expect(names(cache.list('metallb-system'))).toEqual(['a', 'b'])
    expect(names(cache.byIndex('network', 'storage'))).toEqual(['b', 'c'])
    expect(cache.byIndex('network', 'tenant')).toEqual([])
  })

  it('holds every object, also one for which an index fails', () => {
    const failures: string[] = []
    const cache = createCache({
      indexes: {
        network: (object) => {
          if (object.metadata.name === 'bad') throw new Error('no spec')
          return networks(object)
        },
      },
      onIndexFailure: ({ metadata }, error) => failures.push(`${metadata.name}: ${(error as Error).message}`),
    })
    cache.replace([pool('bad', '1', 'storage'), pool('b', '2', 'storage')])
    expect(names(cache.list())).toEqual(['bad', 'b'])
    expect(names(cache.byIndex('network', 'storage'))).toEqual(['b'])
    cache.delete(pool('bad', '3', 'storage'))
    expect(names(cache.list())).toEqual(['b'])
    expect(new Set(failures)).toEqual(new Set(['bad: no spec']))
  })

  it('moves an object to its new value in an index, and out of it', () => {
    const cache = createCache({ indexes: { network: networks } })
    cache.set(pool('a', '1', 'storage'))
    cache.set(pool('a', '2', 'tenant'))
    expect(cache.byIndex('network', 'storage')).toEqual([])
    expect(names(cache.byIndex('network', 'tenant'))).toEqual(['a'])
    cache.delete(pool('a', '3'))
    expect(cache.byIndex('network', 'tenant')).toEqual([])
    expect(cache.list('metallb-system')).toEqual([])
  })

  it('fills an index that is declared late, and rejects a second function for one name', () => {
    const cache = createCache()
    cache.set(pool('a', '1', 'storage'))
    expect(() => cache.byIndex('network', 'storage')).toThrow('the index network is not declared')
    cache.declareIndex('network', networks)
    cache.declareIndex('network', networks)
    expect(names(cache.byIndex('network', 'storage'))).toEqual(['a'])
    expect(() => cache.declareIndex('network', () => [])).toThrow('declared twice')
  })

  it('stores the transformed object, whether it comes from a list or a watch', () => {
    const written = (name: string, version: string): KubeObject => ({ ...pool(name, version), status: {} })
    const cache = createCache({
      transform: ({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject => ({
        apiVersion,
        kind,
        metadata,
        spec,
      }),
    })
    cache.replace([written('listed', '1')])
    cache.set(written('watched', '2'))
    cache.set(written('noted', '3'))
    expect(cache.note(written('noted', '4'), '3')).toBe(true)
    expect(cache.list()).toEqual([pool('listed', '1'), pool('watched', '2'), pool('noted', '4')])
  })

  it('retains the given part of an object, of which listeners have received everything', () => {
    const cache = createCache({ retain: createIdentityTransform(undefined) })
    const received: unknown[] = []
    cache.subscribe(({ kind, object }) => received.push([kind, object['spec']]))
    const full = (version: string): KubeObject => ({ ...pool('a', version), spec: { version } })
    cache.replace([full('1')])
    cache.set(full('2'))
    cache.set(full('2'))
    expect(received).toEqual([
      ['added', { version: '1' }],
      ['modified', { version: '2' }],
    ])
    expect(cache.get('metallb-system/a')?.metadata.resourceVersion).toBe('2')
    expect(cache.list().map(({ spec }) => spec)).toEqual([undefined])
  })

  it('notifies listeners of every change with the previous object, and of nothing else', () => {
    const cache = createCache()
    cache.set(pool('early', '1'))
    const changes: Change[] = []
    const end = cache.subscribe((change) => changes.push(change))
    cache.set(pool('a', '2'))
    cache.set(pool('a', '2'))
    cache.set(pool('a', '3'))
    cache.delete(pool('a', '4'))
    cache.delete(pool('a', '4'))
    end()
    cache.set(pool('unheard', '5'))
    expect(changes.map(formatChange)).toEqual(['added early', 'added a', 'modified a', 'deleted a'])
    expect(changes[2]).toMatchObject({ previous: { metadata: { resourceVersion: '2' } } })
    // The delete event carries the last state, which may be newer than any that was seen.
    expect(changes[3]).toMatchObject({ object: { metadata: { resourceVersion: '4' } } })
  })

  it('treats a list as complete: missing objects are deleted, unchanged ones are not reported', () => {
    const cache = createCache()
    cache.replace([pool('kept', '1'), pool('changed', '2'), pool('gone', '3')])
    const changes: string[] = []
    cache.subscribe((change) => changes.push(formatChange(change)))
    changes.length = 0
    cache.replace([pool('kept', '1'), pool('changed', '9'), pool('new', '10')])
    expect(changes).toEqual(['deleted gone', 'modified changed', 'added new'])
  })

  it('has synced after the first complete list, even an empty one, not after a single object', async () => {
    const cache = createCache()
    cache.set(pool('a', '1'))
    expect(cache.hasSynced()).toBe(false)
    cache.replace([])
    await cache.waitForSync()
    expect(cache.hasSynced()).toBe(true)
  })

  it('makes modifying a cached object fail, when requested', () => {
    const cache = createCache({ freeze: true })
    cache.set(pool('a', '1'))
    const spec = cache.get('metallb-system/a')?.['spec'] as { addresses: string[] }
    expect(() => spec.addresses.push('10.0.0.1-10.0.0.2')).toThrow(TypeError)
  })

  it('notes an own write based on the cached version, and reports it once', () => {
    const cache = createCache()
    cache.set(pool('a', '1'))
    const changes: string[] = []
    cache.subscribe((change) => changes.push(formatChange(change)))
    expect(cache.note(pool('a', '2'), '1')).toBe(true)
    cache.set(pool('a', '2'))
    expect(changes).toEqual(['added a', 'modified a'])
  })

  it('does not note a write when the watch was faster, nor one to a deleted object', () => {
    const cache = createCache()
    cache.set(pool('a', '3'))
    expect(cache.note(pool('a', '2'), '1')).toBe(false)
    expect(cache.note(pool('never', '2'), '1')).toBe(false)
    expect(cache.get('metallb-system/a')?.metadata.resourceVersion).toBe('3')
  })

  it('ends at the state of the server however own writes and watch events interleave', () => {
    // The versions of one object, in order; some of the writes are ours. Their responses arrive at any time.
    const step = fc.record({ ours: fc.boolean(), delay: fc.nat({ max: 6 }) })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (writes) => {
        const cache = createCache()
        cache.set(pool('a', 'v0'))
        const actions = writes.flatMap(({ ours, delay }, at) => {
          const written = pool('a', `v${at + 1}`)
          const event = { when: at * 2 + 3, run: () => cache.set(written) }
          const answer = { when: at * 2 + delay, run: () => cache.note(written, `v${at}`) }
          return ours ? [event, answer] : [event]
        })
        for (const { run } of actions.sort((a, b) => a.when - b.when)) run()
        expect(cache.get('metallb-system/a')?.metadata.resourceVersion).toBe(`v${writes.length}`)
      }),
    )
  })
})

describe('a cache of several namespaces', () => {
  it('replaces the objects of one namespace, and is complete when its writer says so', () => {
    const cache = createCache()
    const object = (namespace: string, name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name },
    })
    cache.replaceNamespace('a', [object('a', 'x'), object('a', 'y')])
    cache.replaceNamespace('b', [object('b', 'x')])
    expect(cache.hasSynced()).toBe(false)
    cache.replaceNamespace('a', [object('a', 'y')])
    cache.markSynced()
    expect(cache.hasSynced()).toBe(true)
    expect(cache.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(['a/y', 'b/x'])
  })
})
