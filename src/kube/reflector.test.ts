import { describe, expect, it } from 'vitest'
import { type ManualClock, manualClock, settled } from '../../test/manual-clock.ts'
import type { KubeObject } from '../api/object.ts'
import { finding } from '../errors/finding.ts'
import { ApiError } from './api-error.ts'
import { type Cache, createCache } from './cache.ts'
import type { KubeReader, ListOptions, WatchEvent, WatchOptions } from './client.ts'
import { serverFailing, serverTooSlow, versionExpired } from './findings/api-server.ts'
import { createReflector, defaultReflectorTiming, type Reflector, type ReflectorTiming } from './reflector.ts'

const kind = { apiVersion: 'v1', kind: 'ConfigMap' }

function object(name: string, version: string): KubeObject {
  return { ...kind, metadata: { name, namespace: 'openstack', resourceVersion: version } }
}

const expired = (): ApiError =>
  new ApiError({ kind: 'expired', finding: finding(versionExpired, { reason: 'too old' }), status: 410 })
const failing = (retryAfterMs?: number): ApiError => {
  const facts = { server: 'test', status: 503, reason: 'not yet' }
  return new ApiError({ kind: 'failing', finding: finding(serverFailing, facts), status: 503, retryAfterMs })
}

const silent = (): ApiError =>
  new ApiError({
    kind: 'timeout',
    finding: finding(serverTooSlow, { server: 'test', reason: 'nothing came' }),
  })

/** What the server does with each request, in order; later requests hang. */
type ListStep = readonly KubeObject[] | Error
type WatchStep = readonly (WatchEvent | Error | 'hang' | { readonly waitMs: number })[]

interface Harness {
  readonly clock: ManualClock
  readonly cache: Cache
  readonly reflector: Reflector
  readonly requests: string[]
  readonly times: number[]
  readonly watchOptions: WatchOptions[]
  readonly listOptions: ListOptions[]
  readonly stop: () => Promise<void>
}

function startReflector(
  lists: readonly ListStep[],
  watches: readonly WatchStep[],
  timing: ReflectorTiming = defaultReflectorTiming,
): Harness {
  const clock = manualClock()
  const cache = createCache({ freeze: true })
  const requests: string[] = []
  const times: number[] = []
  const watchOptions: WatchOptions[] = []
  const listOptions: ListOptions[] = []
  let listed = 0
  let watched = 0
  const hang = (signal?: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('stopped'))))
  const client: Pick<KubeReader, 'list' | 'watch'> = {
    list: async (_, options) => {
      const step = lists[listed]
      listed += 1
      requests.push('list')
      times.push(clock.elapsed())
      listOptions.push(options ?? {})
      if (!step) return hang(options?.signal)
      if (step instanceof Error) throw step
      return { items: step, resourceVersion: `list${listed}` }
    },
    watch: async function* (_, options) {
      const steps = watches[watched] ?? ['hang']
      watched += 1
      requests.push(`watch ${options.resourceVersion}`)
      times.push(clock.elapsed())
      watchOptions.push(options)
      for (const step of steps) {
        if (step === 'hang') await hang(options.signal)
        else if (step instanceof Error) throw step
        else if ('waitMs' in step) await clock.sleep(step.waitMs, options.signal)
        else yield step
      }
    },
  }
  const reflector = createReflector({ client, source: { kind }, cache, clock, timing })
  const control = new AbortController()
  const running = reflector.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await running
  }
  return { clock, cache, reflector, requests, times, watchOptions, listOptions, stop }
}

const names = (cache: Cache): readonly string[] => cache.list().map((object) => object.metadata.name)

describe('a reflector', () => {
  it('lists, then watches from the version of the list', async () => {
    const harness = startReflector(
      [[object('a', 'x1'), object('b', 'x2')]],
      [
        [
          { kind: 'added', object: object('c', 'x3') },
          { kind: 'modified', object: object('a', 'x4') },
          { kind: 'deleted', object: object('b', 'x5') },
          'hang',
        ],
      ],
    )
    await settled()
    expect(harness.requests).toEqual(['list', 'watch list1'])
    expect(names(harness.cache)).toEqual(['a', 'c'])
    expect(harness.cache.get('openstack/a')?.metadata.resourceVersion).toBe('x4')
    expect(harness.cache.hasSynced()).toBe(true)
    await harness.stop()
  })

  it('requests pages, a random watch lifetime within the limits, and an idle timeout', async () => {
    const harness = startReflector([[]], [])
    await settled()
    expect(harness.listOptions[0]?.limit).toBe(500)
    const { timeoutSeconds = 0, idleMs } = harness.watchOptions[0] ?? {}
    expect(timeoutSeconds).toBeGreaterThanOrEqual(290)
    expect(timeoutSeconds).toBeLessThanOrEqual(580)
    expect(idleMs).toBe(120_000)
    await harness.stop()
  })

  it('resumes from the last event or bookmark, and treats versions as opaque', async () => {
    const harness = startReflector(
      [[]],
      [
        [{ kind: 'added', object: object('a', 'zz-not-a-number') }],
        [{ kind: 'bookmark', resourceVersion: 'bookmark7' }],
        ['hang'],
      ],
    )
    await harness.clock.settle(2_000)
    expect(harness.requests).toEqual(['list', 'watch list1', 'watch zz-not-a-number', 'watch bookmark7'])
    await harness.stop()
  })

  it('resumes at once when a long watch was closed', async () => {
    const harness = startReflector([[]], [[{ waitMs: 300_000 }], ['hang']])
    await harness.clock.settle(300_000)
    expect(harness.times).toEqual([0, 0, 300_000])
    await harness.stop()
  })

  it('retries less and less often while watches are closed at once', async () => {
    const harness = startReflector(
      [[]],
      Array.from({ length: 20 }, () => []),
    )
    await harness.clock.settle(120_000)
    const pauses = harness.times.slice(1).map((time, index) => Math.round(time - (harness.times[index] ?? 0)))
    expect(pauses).toEqual([0, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
    await harness.stop()
  })

  it('resets the backoff after an event', async () => {
    const news: WatchStep = [{ kind: 'added', object: object('a', 'x1') }, failing()]
    const harness = startReflector([[]], [[failing()], [failing()], news, ['hang']])
    await harness.clock.settle(10_000)
    expect(harness.times.map(Math.round)).toEqual([0, 0, 800, 2_400, 3_200])
    await harness.stop()
  })

  it('keeps trying when the first list fails, and has synced only after a complete one', async () => {
    const harness = startReflector([failing(), failing(), [object('a', 'x1')]], [])
    await settled()
    expect(harness.cache.hasSynced()).toBe(false)
    expect(harness.reflector.status()).toMatchObject({ failingSince: 0 })
    await harness.clock.settle(10_000)
    expect(harness.cache.hasSynced()).toBe(true)
    expect(harness.reflector.status().failingSince).toBeUndefined()
    expect(harness.times.map(Math.round)).toEqual([0, 800, 2_400, 2_400])
    await harness.stop()
  })

  it('waits as long as the server requests', async () => {
    const harness = startReflector([failing(7_000), []], [])
    await harness.clock.settle(20_000)
    expect(harness.times).toEqual([0, 7_000, 7_000])
    await harness.stop()
  })

  it('lists again when its version has expired, and reports the objects that were deleted meanwhile', async () => {
    const harness = startReflector(
      [
        [object('a', 'x1'), object('gone', 'x2')],
        [object('a', 'x1'), object('new', 'x9')],
      ],
      [[expired()], ['hang']],
    )
    const changes: string[] = []
    harness.cache.subscribe((change) => changes.push(`${change.kind} ${change.object.metadata.name}`))
    await harness.clock.settle(2_000)
    expect(harness.requests).toEqual(['list', 'watch list1', 'list', 'watch list2'])
    expect(changes).toEqual(['added a', 'added gone', 'deleted gone', 'added new'])
    await harness.stop()
  })

  it('lists again when a list expires between two pages', async () => {
    const harness = startReflector([expired(), []], [])
    await harness.clock.settle(2_000)
    expect(harness.requests).toEqual(['list', 'list', 'watch list2'])
    await harness.stop()
  })

  it('slows down for a server that expires every version at once', async () => {
    const harness = startReflector(
      Array.from({ length: 50 }, () => []),
      Array.from({ length: 50 }, () => [expired()]),
    )
    await harness.clock.settle(60_000)
    expect(harness.requests.length).toBeLessThanOrEqual(16)
    await harness.stop()
  })

  it('lists again after several watches without an event: it may be another server', async () => {
    const harness = startReflector(
      [[], []],
      Array.from({ length: 6 }, (_, at) => (at < 5 ? [failing()] : ['hang'])),
    )
    await harness.clock.settle(60_000)
    expect(harness.requests.filter((request) => request === 'list')).toHaveLength(2)
    expect(harness.requests.at(-1)).toBe('watch list2')
    await harness.stop()
  })

  it('reports since when it fails and why, until the server responds again', async () => {
    const harness = startReflector(
      [[]],
      [[{ waitMs: 1_000 }, failing()], [failing()], [{ kind: 'bookmark', resourceVersion: 'b' }, 'hang']],
    )
    await harness.clock.settle(1_500)
    expect(harness.reflector.status()).toMatchObject({ failingSince: 1_000, lastEventAt: 0 })
    expect(harness.reflector.status().reason).toContain('not yet')
    await harness.clock.settle(10_000)
    expect(harness.reflector.status().failingSince).toBeUndefined()
    await harness.stop()
  })

  it('stops within a pause, a list or a watch', async () => {
    for (const [lists, watches] of [
      [[failing()], []],
      [[], []],
      [[[]], []],
    ] as const) {
      const harness = startReflector(lists, watches)
      await settled()
      await harness.stop()
      expect(harness.clock.waiting()).toEqual([])
    }
  })

  it('does not treat silence as a failure: a kind without events gets no bookmarks', async () => {
    const harness = startReflector([[]], [[{ waitMs: 120_000 }, silent()]])
    await harness.clock.settle(125_000)
    expect(harness.requests).toEqual(['list', 'watch list1', 'watch list1'])
    expect(harness.reflector.status().failingSince).toBeUndefined()
    await harness.stop()
  })
})
