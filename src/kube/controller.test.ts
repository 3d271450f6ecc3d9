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

interface Harness {
  readonly clock: ManualClock
  readonly cache: Cache
  readonly controller: RunningController
  readonly reconciled: string[]
  readonly outcomes: string[]
  readonly entries: LogEntry[]
  readonly stop: () => Promise<void>
}

async function startController(
  reconcile: Controller['reconcile'],
  more: Partial<Controller> = {},
  objects: readonly KubeObject[] = [],
): Promise<Harness> {
  const clock = manualClock()
  const cache = createCache({ freeze: true })
  const reconciled: string[] = []
  const outcomes: string[] = []
  const entries: LogEntry[] = []
  const counted: Controller['reconcile'] = (request, context) => {
    reconciled.push(objectKey(request))
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
  return { clock, cache, controller, reconciled, outcomes, entries, stop }
}

describe('a controller', () => {
  it('reconciles every present object, then every one that changes', async () => {
    const harness = await startController(async () => {}, {}, [configMap('a', '1'), configMap('b', '1')])
    harness.cache.set(configMap('b', '2'))
    await settled()
    harness.cache.delete(configMap('a', '3'))
    await settled()
    expect(harness.reconciled).toEqual(['openstack/a', 'openstack/b', 'openstack/b', 'openstack/a'])
    await harness.stop()
  })

  it('does not reconcile its own writes, but does when the object is deleted', async () => {
    const isOwnWrite = ({ metadata }: KubeObject): boolean => metadata.resourceVersion === '2'
    const harness = await startController(async () => {}, { watches: [{ kind, isOwnWrite }] }, [configMap('a', '1')])
    harness.cache.set(configMap('a', '2'))
    await settled()
    expect(harness.reconciled).toEqual(['openstack/a'])
    harness.cache.delete(configMap('a', '2'))
    await settled()
    expect(harness.reconciled).toEqual(['openstack/a', 'openstack/a'])
    await harness.stop()
  })

  it('processes low-priority keys last at the start, later in order of arrival', async () => {
    const isLowPriority = ({ metadata }: KubeObject): boolean => metadata.labels?.['is'] === 'fine'
    const objects = [configMap('a', '1', { is: 'fine' }), configMap('b', '1'), configMap('c', '1', { is: 'fine' })]
    const harness = await startController(async () => {}, { watches: [{ kind, isLowPriority }] }, objects)
    expect(harness.reconciled).toEqual(['openstack/b', 'openstack/a', 'openstack/c'])
    harness.cache.set(configMap('c', '2', { is: 'fine' }))
    harness.cache.set(configMap('b', '2'))
    await settled()
    expect(harness.reconciled.slice(3)).toEqual(['openstack/c', 'openstack/b'])
    await harness.stop()
  })

  it('processes a key that is added after the start before low-priority keys, and none of those twice', async () => {
    const isLowPriority = ({ metadata }: KubeObject): boolean => metadata.labels?.['is'] === 'fine'
    const objects = Array.from({ length: 20 }, (_, at) => configMap(`fine-${at}`, '1', { is: 'fine' }))
    let goOn = (): void => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const harness = await startController(() => gate, { watches: [{ kind, isLowPriority }] }, objects)
    expect(harness.reconciled).toEqual(['openstack/fine-0'])
    harness.cache.set(configMap('new', '1'))
    harness.cache.set(configMap('fine-7', '2', { is: 'fine' }))
    goOn()
    while (!harness.controller.idle()) await settled()
    expect(harness.reconciled.slice(1, 4)).toEqual(['openstack/new', 'openstack/fine-7', 'openstack/fine-1'])
    expect(harness.reconciled).toHaveLength(21)
    await harness.stop()
  })

  it('yields to the event loop while it reconciles many unchanged keys, and processes new keys first', async () => {
    const clock = manualClock()
    const cache = createCache()
    const reconciled: string[] = []
    const reconcile = async (request: Request): Promise<void> => {
      reconciled.push(request.name)
      // Every reconcile takes time, and none waits for anything.
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
    while (reconciled.length < 1_001) {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(reconciled.length)
      if (seen.length === 3) cache.set(configMap('new', '1'))
    }
    const atOnce = seen.map((count, turn) => count - (seen[turn - 1] ?? 0))
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(10)
    expect(reconciled.indexOf('new')).toBeLessThan((seen[3] ?? 0) + workers)
    control.abort()
    await running
  })

  it('reconciles nothing before its caches have synced', async () => {
    const cache = createCache()
    const reconciled: Request[] = []
    const reconcile = async (request: Request): Promise<void> => void reconciled.push(request)
    const controller = createController(
      { name: 'test', watches: [{ kind }], reconcile },
      { clock: manualClock(), getCache: () => cache },
    )
    const control = new AbortController()
    const running = controller.run(control.signal)
    cache.set(configMap('a', '1'))
    await settled()
    expect(reconciled).toEqual([])
    cache.replace([configMap('a', '1')])
    await settled()
    expect(reconciled).toEqual([{ namespace: 'openstack', name: 'a' }])
    control.abort()
    await running
  })

  it('reconciles the keys that the previous object affected as well as those of the new one', async () => {
    const map = (object: KubeObject): readonly string[] => [object.metadata.labels?.['owner'] ?? 'nobody']
    const harness = await startController(async () => {}, { watches: [{ kind, map }] })
    harness.cache.set(configMap('a', '1', { owner: 'old' }))
    await settled()
    harness.cache.set(configMap('a', '2', { owner: 'new' }))
    await settled()
    expect(harness.reconciled).toEqual(['old', 'old', 'new'])
    await harness.stop()
  })

  it('retries errors with backoff, and resets the backoff after a success', async () => {
    let failures = 3
    const harness = await startController(
      async () => {
        failures -= 1
        if (failures >= 0) throw new Error('not yet')
      },
      {},
      [configMap('a', '1')],
    )
    const times: number[] = []
    while (harness.clock.waiting().length) {
      const [delay = 0] = harness.clock.waiting()
      times.push(delay)
      await harness.clock.settle(delay)
    }
    expect(times).toEqual([10, 20, 40])
    expect(harness.outcomes).toEqual(['error', 'error', 'error', 'success'])
    expect(harness.entries.filter((entry) => entry.level === 'error')[0]).toMatchObject({
      controller: 'test',
      key: 'openstack/a',
      reason: 'not yet',
    })
    failures = 1
    harness.cache.set(configMap('a', '2'))
    await settled()
    expect(harness.clock.waiting()).toEqual([10])
    await harness.stop()
  })

  it('reconciles again after the requested time', async () => {
    const harness = await startController(async () => ({ requeueAfterMs: 60_000 }), {}, [configMap('a', '1')])
    await harness.clock.settle(120_000)
    expect(harness.reconciled).toHaveLength(3)
    await harness.stop()
  })

  it('survives a reconciler that throws synchronously, and a map that throws', async () => {
    const map = (object: KubeObject): readonly string[] => {
      if (object.metadata.name === 'bad') throw new Error('no owner')
      return [object.metadata.name]
    }
    const reconcile = (): never => {
      throw new Error('at once')
    }
    const harness = await startController(reconcile, { watches: [{ kind, map }] }, [
      configMap('bad', '1'),
      configMap('a', '1'),
    ])
    expect(harness.reconciled).toEqual(['a'])
    expect(harness.outcomes).toEqual(['error'])
    expect(harness.entries.map((entry) => entry.message)).toContain('a map from object to keys failed')
    await harness.stop()
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
    const harness = await startController(reconcile, { workers: 4 }, objects)
    await harness.clock.settle(200)
    expect(most).toBe(4)
    expect(harness.reconciled).toHaveLength(20)
    expect(harness.controller.idle()).toBe(true)
    await harness.stop()
  })

  it('aborts a reconcile at the stop, waits for it, and does not count it as a failure', async () => {
    let ended = false
    const reconcile: Controller['reconcile'] = async (_, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      ended = true
      throw new Error('broken off')
    }
    const harness = await startController(reconcile, {}, [configMap('a', '1'), configMap('b', '1')])
    await harness.stop()
    expect(ended).toBe(true)
    expect(harness.reconciled).toEqual(['openstack/a'])
    expect(harness.outcomes).toEqual(['interrupted'])
    expect(harness.clock.waiting()).toEqual([])
  })

  it('reconciles keys that are enqueued from outside', async () => {
    const harness = await startController(async () => {})
    harness.controller.enqueue('openstack/by-hand')
    await settled()
    expect(harness.reconciled).toEqual(['openstack/by-hand'])
    await harness.stop()
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
