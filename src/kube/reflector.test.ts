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

/** What the server does with each request, in order; a request past the end hangs. */
type ListStep = readonly KubeObject[] | Error
type WatchStep = readonly (WatchEvent | Error | 'hang' | { readonly waitMs: number })[]

interface Stage {
  readonly clock: ManualClock
  readonly cache: Cache
  readonly reflector: Reflector
  readonly asked: string[]
  readonly times: number[]
  readonly watchOptions: WatchOptions[]
  readonly listOptions: ListOptions[]
  readonly stop: () => Promise<void>
}

function reflect(
  lists: readonly ListStep[],
  watches: readonly WatchStep[],
  timing: ReflectorTiming = defaultReflectorTiming,
): Stage {
  const clock = manualClock()
  const cache = createCache({ freeze: true })
  const asked: string[] = []
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
      asked.push('list')
      times.push(clock.elapsed())
      listOptions.push(options ?? {})
      if (!step) return hang(options?.signal)
      if (step instanceof Error) throw step
      return { items: step, resourceVersion: `list${listed}` }
    },
    watch: async function* (_, options) {
      const steps = watches[watched] ?? ['hang']
      watched += 1
      asked.push(`watch ${options.resourceVersion}`)
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
  return { clock, cache, reflector, asked, times, watchOptions, listOptions, stop }
}

const names = (cache: Cache): readonly string[] => cache.list().map((one) => one.metadata.name)

describe('a reflector', () => {
  it('lists, then watches from the version of the list', async () => {
    const stage = reflect(
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
    expect(stage.asked).toEqual(['list', 'watch list1'])
    expect(names(stage.cache)).toEqual(['a', 'c'])
    expect(stage.cache.get('openstack/a')?.metadata.resourceVersion).toBe('x4')
    expect(stage.cache.hasSynced()).toBe(true)
    await stage.stop()
  })

  it('requests pages, a random watch lifetime within the limits, and an idle timeout', async () => {
    const stage = reflect([[]], [])
    await settled()
    expect(stage.listOptions[0]?.limit).toBe(500)
    const { timeoutSeconds = 0, idleMs } = stage.watchOptions[0] ?? {}
    expect(timeoutSeconds).toBeGreaterThanOrEqual(290)
    expect(timeoutSeconds).toBeLessThanOrEqual(580)
    expect(idleMs).toBe(120_000)
    await stage.stop()
  })

  it('resumes from the last event or bookmark, and treats versions as opaque', async () => {
    const stage = reflect(
      [[]],
      [
        [{ kind: 'added', object: object('a', 'zz-not-a-number') }],
        [{ kind: 'bookmark', resourceVersion: 'bookmark7' }],
        ['hang'],
      ],
    )
    await stage.clock.settle(2_000)
    expect(stage.asked).toEqual(['list', 'watch list1', 'watch zz-not-a-number', 'watch bookmark7'])
    await stage.stop()
  })

  it('resumes at once when a long watch was closed', async () => {
    const stage = reflect([[]], [[{ waitMs: 300_000 }], ['hang']])
    await stage.clock.settle(300_000)
    expect(stage.times).toEqual([0, 0, 300_000])
    await stage.stop()
  })

  it('retries less and less often while watches are closed at once', async () => {
    const stage = reflect(
      [[]],
      Array.from({ length: 20 }, () => []),
    )
    await stage.clock.settle(120_000)
    const pauses = stage.times.slice(1).map((time, at) => Math.round(time - (stage.times[at] ?? 0)))
    expect(pauses).toEqual([0, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
    await stage.stop()
  })

  it('resets the backoff after an event', async () => {
    const news: WatchStep = [{ kind: 'added', object: object('a', 'x1') }, failing()]
    const stage = reflect([[]], [[failing()], [failing()], news, ['hang']])
    await stage.clock.settle(10_000)
    expect(stage.times.map(Math.round)).toEqual([0, 0, 800, 2_400, 3_200])
    await stage.stop()
  })

  it('keeps trying when the first list fails, and has synced only after a complete one', async () => {
    const stage = reflect([failing(), failing(), [object('a', 'x1')]], [])
    await settled()
    expect(stage.cache.hasSynced()).toBe(false)
    expect(stage.reflector.status()).toMatchObject({ failingSince: 0 })
    await stage.clock.settle(10_000)
    expect(stage.cache.hasSynced()).toBe(true)
    expect(stage.reflector.status().failingSince).toBeUndefined()
    expect(stage.times.map(Math.round)).toEqual([0, 800, 2_400, 2_400])
    await stage.stop()
  })

  it('waits as long as the server requests', async () => {
    const stage = reflect([failing(7_000), []], [])
    await stage.clock.settle(20_000)
    expect(stage.times).toEqual([0, 7_000, 7_000])
    await stage.stop()
  })

  it('lists again when its version has expired, and reports the objects that were deleted meanwhile', async () => {
    const stage = reflect(
      [
        [object('a', 'x1'), object('gone', 'x2')],
        [object('a', 'x1'), object('new', 'x9')],
      ],
      [[expired()], ['hang']],
    )
    const told: string[] = []
    stage.cache.subscribe((change) => told.push(`${change.kind} ${change.object.metadata.name}`))
    await stage.clock.settle(2_000)
    expect(stage.asked).toEqual(['list', 'watch list1', 'list', 'watch list2'])
    expect(told).toEqual(['added a', 'added gone', 'deleted gone', 'added new'])
    await stage.stop()
  })

  it('lists again when a list expires between two pages', async () => {
    const stage = reflect([expired(), []], [])
    await stage.clock.settle(2_000)
    expect(stage.asked).toEqual(['list', 'list', 'watch list2'])
    await stage.stop()
  })

  it('slows down for a server that expires every version at once', async () => {
    const stage = reflect(
      Array.from({ length: 50 }, () => []),
      Array.from({ length: 50 }, () => [expired()]),
    )
    await stage.clock.settle(60_000)
    expect(stage.asked.length).toBeLessThanOrEqual(16)
    await stage.stop()
  })

  it('lists again after several watches without an event: it may be another server', async () => {
    const stage = reflect(
      [[], []],
      Array.from({ length: 6 }, (_, at) => (at < 5 ? [failing()] : ['hang'])),
    )
    await stage.clock.settle(60_000)
    expect(stage.asked.filter((one) => one === 'list')).toHaveLength(2)
    expect(stage.asked.at(-1)).toBe('watch list2')
    await stage.stop()
  })

  it('reports since when it fails and why, until the server responds again', async () => {
    const stage = reflect(
      [[]],
      [[{ waitMs: 1_000 }, failing()], [failing()], [{ kind: 'bookmark', resourceVersion: 'b' }, 'hang']],
    )
    await stage.clock.settle(1_500)
    expect(stage.reflector.status()).toMatchObject({ failingSince: 1_000, lastEventAt: 0 })
    expect(stage.reflector.status().reason).toContain('not yet')
    await stage.clock.settle(10_000)
    expect(stage.reflector.status().failingSince).toBeUndefined()
    await stage.stop()
  })

  it('stops within a pause, a list or a watch', async () => {
    for (const [lists, watches] of [
      [[failing()], []],
      [[], []],
      [[[]], []],
    ] as const) {
      const stage = reflect(lists, watches)
      await settled()
      await stage.stop()
      expect(stage.clock.waiting()).toEqual([])
    }
  })

  it('does not treat silence as a failure: a kind without events gets no bookmarks', async () => {
    const stage = reflect([[]], [[{ waitMs: 120_000 }, silent()]])
    await stage.clock.settle(125_000)
    expect(stage.asked).toEqual(['list', 'watch list1', 'watch list1'])
    expect(stage.reflector.status().failingSince).toBeUndefined()
    await stage.stop()
  })
})
