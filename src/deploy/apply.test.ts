import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { StageEvent } from '../run/events.ts'
import { applyChanges, createLimiter } from './apply.ts'
import { compareObject } from './object-changes.ts'

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } }
const config = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'openstack' },
})

/** Applies to a cluster and stops the run while the write of this number is in flight. */
async function applyUntil(objects: readonly KubeObject[], stopAt: number, concurrency: number) {
  const { client, requests, objects: held } = memoryCluster()
  const stop = new AbortController()
  const events: StageEvent[] = []
  let started = 0
  const slow: KubeClient = {
    ...client,
    apply: async (object, options) => {
      started += 1
      if (started === stopAt) stop.abort()
      return client.apply(object, options)
    },
  }
  const changes = objects.map((object) => compareObject(object, undefined))
  const context = {
    emit: (stageEvent: StageEvent) => void events.push(stageEvent),
    stop: stop.signal,
    clock: systemClock,
  }
  const settings = { client: slow, force: false, limiter: createLimiter(concurrency) }
  const ended = await applyChanges(changes, settings, context).then(
    () => 'done',
    (thrown: unknown) => (thrown === stop.signal.reason ? 'stopped' : String(thrown)),
  )
  const written = ['Namespace', 'ConfigMap'].flatMap(held).map(({ metadata }) => metadata.name)
  const emitted = events.flatMap((event) => (event.kind === 'applied' ? (event.object?.name ?? '') : []))
  return { ended, written, emitted, requests }
}

describe('applyChanges', () => {
  const names = Array.from({ length: 12 }, (_, index) => `c${index}`)

  it('writes a namespace before its objects, and emits each write', async () => {
    const { ended, emitted } = await applyUntil([config('c0'), namespace, config('c1')], 99, 8)
    expect({ ended, emitted }).toEqual({ ended: 'done', emitted: ['openstack', 'c0', 'c1'] })
  })

  it.each([1, 3, 8])(
    'finishes and emits the writes in flight after a stop, and starts none (%i)',
    async (concurrency) => {
      const { ended, written, emitted } = await applyUntil(names.map(config), 3, concurrency)
      expect(ended).toBe('stopped')
      expect(emitted.toSorted()).toEqual(written.toSorted())
      expect(written.length).toBeGreaterThanOrEqual(3)
      expect(written.length).toBeLessThanOrEqual(Math.max(3, 2 + concurrency))
    },
  )

  it('sends no request for unchanged objects', async () => {
    const { client, requests } = memoryCluster()
    const live = { ...namespace, metadata: { ...namespace.metadata, uid: 'u' } }
    const unchanged = { ...compareObject(namespace, live), change: 'unchanged' as const }
    const events: StageEvent[] = []
    const context = {
      emit: (stageEvent: StageEvent) => void events.push(stageEvent),
      stop: new AbortController().signal,
      clock: systemClock,
    }
    await applyChanges([unchanged], { client, force: false, limiter: createLimiter(1) }, context)
    expect(requests).toEqual([])
    expect(events).toMatchObject([{ kind: 'applied', change: 'unchanged' }])
  })
})

describe('createLimiter', () => {
  it('runs up to the limit at once, in order of arrival, and all in the end', async () => {
    const limiter = createLimiter(2)
    const started: number[] = []
    let running = 0
    let most = 0
    const task = async (id: number): Promise<number> => {
      started.push(id)
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return id
    }
    const ids = [0, 1, 2, 3, 4, 5, 6]
    expect(await Promise.all(ids.map((id) => limiter(() => task(id))))).toEqual(ids)
    expect(started).toEqual(ids)
    expect(most).toBe(2)
  })

  it('runs the next task after one failed', async () => {
    const limiter = createLimiter(1)
    const failed = limiter(() => Promise.reject(new Error('no')))
    const after = limiter(async () => 'done')
    await expect(failed).rejects.toThrow('no')
    expect(await after).toBe('done')
  })
})
