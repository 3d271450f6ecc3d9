import { describe, expect, it } from 'vitest'
import { type ManualClock, manualClock, settled } from '../../test/manual-clock.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { type Cache, createCache } from './cache.ts'
import type { Request } from './controller.ts'
import { type Controller, createController, type RunningController } from './controller.ts'
import type { LogEntry } from './log.ts'

const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
const retry = { initialMs: 10, maxMs: 80 }

function configMap(name: string, version: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return { ...kind, metadata: { name, namespace: 'openstack', resourceVersion: version, labels } }
}

interface Stage {
  readonly clock: ManualClock
  readonly cache: Cache
  readonly controller: RunningController
  readonly looks: string[]
  readonly outcomes: string[]
  readonly entries: LogEntry[]
  readonly stop: () => Promise<void>
}

async function started(
  reconcile: Controller['reconcile'],
  more: Partial<Controller> = {},
  objects: readonly KubeObject[] = [],
): Promise<Stage> {
  const clock = manualClock()
  const cache = createCache({ freeze: true })
  const looks: string[] = []
  const outcomes: string[] = []
  const entries: LogEntry[] = []
  const counted: Controller['reconcile'] = (request, context) => {
    looks.push(objectKey(request))
    return reconcile(request, context)
  }
  const controller = createController(
    { name: 'test', watches: [{ kind }], retry, reconcile: counted, ...more },
    {
      clock,
      getCache: () => cache,
      log: (entry) => entries.push(entry),
      observer: { reconciled: (outcome) => outcomes.push(outcome) },
    },
  )
  const control = new AbortController()
  const running = controller.run(control.signal)
  cache.replace(objects)
  await settled()
  const stop = async (): Promise<void> => {
    control.abort()
    await running
  }
  return { clock, cache, controller, looks, outcomes, entries, stop }
}

describe('a controller', () => {
  it('reconciles every present object, then every one that changes', async () => {
    const stage = await started(async () => {}, {}, [configMap('a', '1'), configMap('b', '1')])
    stage.cache.set(configMap('b', '2'))
    await settled()
    stage.cache.delete(configMap('a', '3'))
    await settled()
    expect(stage.looks).toEqual(['openstack/a', 'openstack/b', 'openstack/b', 'openstack/a'])
    await stage.stop()
  })

  it('does not reconcile its own writes, but does when the object is deleted', async () => {
    const isEcho = ({ metadata }: KubeObject): boolean => metadata.resourceVersion === '2'
    const stage = await started(async () => {}, { watches: [{ kind, isOwnWrite: isEcho }] }, [configMap('a', '1')])
    stage.cache.set(configMap('a', '2'))
    await settled()
    expect(stage.looks).toEqual(['openstack/a'])
    stage.cache.delete(configMap('a', '2'))
    await settled()
    expect(stage.looks).toEqual(['openstack/a', 'openstack/a'])
    await stage.stop()
  })

  it('processes low-priority keys last at the start, later in order of arrival', async () => {
    const canWait = ({ metadata }: KubeObject): boolean => metadata.labels?.['is'] === 'fine'
    const objects = [configMap('a', '1', { is: 'fine' }), configMap('b', '1'), configMap('c', '1', { is: 'fine' })]
    const stage = await started(async () => {}, { watches: [{ kind, isLowPriority: canWait }] }, objects)
    expect(stage.looks).toEqual(['openstack/b', 'openstack/a', 'openstack/c'])
    stage.cache.set(configMap('c', '2', { is: 'fine' }))
    stage.cache.set(configMap('b', '2'))
    await settled()
    expect(stage.looks.slice(3)).toEqual(['openstack/c', 'openstack/b'])
    await stage.stop()
  })

  it('processes a key that is added after the start before low-priority keys, and none of those twice', async () => {
    const canWait = ({ metadata }: KubeObject): boolean => metadata.labels?.['is'] === 'fine'
    const objects = Array.from({ length: 20 }, (_, at) => configMap(`fine-${at}`, '1', { is: 'fine' }))
    let goOn = (): void => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const stage = await started(() => gate, { watches: [{ kind, isLowPriority: canWait }] }, objects)
    expect(stage.looks).toEqual(['openstack/fine-0'])
    stage.cache.set(configMap('new', '1'))
    stage.cache.set(configMap('fine-7', '2', { is: 'fine' }))
    goOn()
    while (!stage.controller.idle()) await settled()
    expect(stage.looks.slice(1, 4)).toEqual(['openstack/new', 'openstack/fine-7', 'openstack/fine-1'])
    expect(stage.looks).toHaveLength(21)
    await stage.stop()
  })

  it('yields to the event loop while it reconciles many unchanged keys, and processes new keys first', async () => {
    const clock = manualClock()
    const cache = createCache()
    const looks: string[] = []
    const reconcile = async (request: Request): Promise<void> => {
      looks.push(request.name)
      // Every look takes its time, and none waits for anything.
      clock.advance(1)
    }
    const workers = 40
    const controller = createController(
      { name: 'test', watches: [{ kind, isLowPriority: () => true }], reconcile, workers },
      { clock, getCache: () => cache },
    )
    const control = new AbortController()
    const running = controller.run(control.signal)
    cache.replace(Array.from({ length: 1_000 }, (_, n) => configMap(`fine-${n}`, '1')))
    const seen: number[] = []
    while (looks.length < 1_001) {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(looks.length)
      if (seen.length === 3) cache.set(configMap('new', '1'))
    }
    const atOnce = seen.map((count, turn) => count - (seen[turn - 1] ?? 0))
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2 * workers)
    expect(looks.indexOf('new')).toBeLessThan((seen[3] ?? 0) + workers)
    control.abort()
    await running
  })

  it('reconciles nothing before its caches have synced', async () => {
    const cache = createCache()
    const looks: Request[] = []
    const reconcile = async (request: Request): Promise<void> => void looks.push(request)
    const controller = createController(
      { name: 'test', watches: [{ kind }], reconcile },
      { clock: manualClock(), getCache: () => cache },
    )
    const control = new AbortController()
    const running = controller.run(control.signal)
    cache.set(configMap('a', '1'))
    await settled()
    expect(looks).toEqual([])
    cache.replace([configMap('a', '1')])
    await settled()
    expect(looks).toEqual([{ namespace: 'openstack', name: 'a' }])
    control.abort()
    await running
  })

  it('reconciles the keys that the previous object affected as well as those of the new one', async () => {
    const map = (object: KubeObject): readonly string[] => [object.metadata.labels?.['owner'] ?? 'nobody']
    const stage = await started(async () => {}, { watches: [{ kind, map }] })
    stage.cache.set(configMap('a', '1', { owner: 'old' }))
    await settled()
    stage.cache.set(configMap('a', '2', { owner: 'new' }))
    await settled()
    expect(stage.looks).toEqual(['old', 'old', 'new'])
    await stage.stop()
  })

  it('retries errors with backoff, and resets the backoff after a success', async () => {
    let failures = 3
    const stage = await started(
      async () => {
        failures -= 1
        if (failures >= 0) throw new Error('not yet')
      },
      {},
      [configMap('a', '1')],
    )
    const times: number[] = []
    while (stage.clock.waiting().length) {
      const [delay = 0] = stage.clock.waiting()
      times.push(delay)
      await stage.clock.settle(delay)
    }
    expect(times).toEqual([10, 20, 40])
    expect(stage.outcomes).toEqual(['error', 'error', 'error', 'success'])
    expect(stage.entries.filter((entry) => entry.level === 'error')[0]).toMatchObject({
      controller: 'test',
      key: 'openstack/a',
      reason: 'not yet',
    })
    failures = 1
    stage.cache.set(configMap('a', '2'))
    await settled()
    expect(stage.clock.waiting()).toEqual([10])
    await stage.stop()
  })

  it('reconciles again after the requested time', async () => {
    const stage = await started(async () => ({ requeueAfterMs: 60_000 }), {}, [configMap('a', '1')])
    await stage.clock.settle(120_000)
    expect(stage.looks).toHaveLength(3)
    await stage.stop()
  })

  it('survives a reconciler that throws synchronously, and a map that throws', async () => {
    const map = (object: KubeObject): readonly string[] => {
      if (object.metadata.name === 'bad') throw new Error('no owner')
      return [object.metadata.name]
    }
    const reconcile = (): never => {
      throw new Error('at once')
    }
    const stage = await started(reconcile, { watches: [{ kind, map }] }, [configMap('bad', '1'), configMap('a', '1')])
    expect(stage.looks).toEqual(['a'])
    expect(stage.outcomes).toEqual(['error'])
    expect(stage.entries.map((entry) => entry.message)).toContain('a map from object to keys failed')
    await stage.stop()
  })

  it('runs as many reconciles at a time as it has workers, and no key twice', async () => {
    let now = 0
    let most = 0
    const objects = Array.from({ length: 20 }, (_, at) => configMap(`c${at}`, '1'))
    const reconcile: Controller['reconcile'] = async (_, { clock }) => {
      now += 1
      most = Math.max(most, now)
      await clock.sleep(5)
      now -= 1
    }
    const stage = await started(reconcile, { workers: 4 }, objects)
    await stage.clock.settle(200)
    expect(most).toBe(4)
    expect(stage.looks).toHaveLength(20)
    expect(stage.controller.idle()).toBe(true)
    await stage.stop()
  })

  it('aborts a reconcile at the stop, waits for it, and does not count it as a failure', async () => {
    let ended = false
    const reconcile: Controller['reconcile'] = async (_, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      ended = true
      throw new Error('broken off')
    }
    const stage = await started(reconcile, {}, [configMap('a', '1'), configMap('b', '1')])
    await stage.stop()
    expect(ended).toBe(true)
    expect(stage.looks).toEqual(['openstack/a'])
    expect(stage.outcomes).toEqual(['interrupted'])
    expect(stage.clock.waiting()).toEqual([])
  })

  it('reconciles keys that are enqueued from outside', async () => {
    const stage = await started(async () => {})
    stage.controller.enqueue('openstack/by-hand')
    await settled()
    expect(stage.looks).toEqual(['openstack/by-hand'])
    await stage.stop()
  })

  it('stops at once while its caches have not synced yet', async () => {
    const controller = createController(
      { name: 'test', watches: [{ kind }], reconcile: async () => {} },
      { clock: manualClock(), getCache: () => createCache() },
    )
    const control = new AbortController()
    const running = controller.run(control.signal)
    control.abort()
    await expect(running).resolves.toBeUndefined()
  })
})
