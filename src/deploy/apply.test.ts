import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { StageEvent } from '../run/events.ts'
import { applyChanges } from './apply.ts'
import { createLimiter } from './limiter.ts'
import { compareObject } from './object-changes.ts'

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } }
const config = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'openstack' },
})

/** A cluster on which each write takes a turn of the loop, and a stop that comes while so many are in flight. */
async function applyUntil(objects: readonly KubeObject[], stopAt: number, atOnce: number) {
  const { client, requests, objects: held } = memoryCluster()
  const stop = new AbortController()
  const events: StageEvent[] = []
  let begun = 0
  const slow: KubeClient = {
    ...client,
    apply: async (object, options) => {
      begun += 1
      if (begun === stopAt) stop.abort()
      return client.apply(object, options)
    },
  }
  const changes = objects.map((object) => compareObject(object, undefined))
  const context = {
    emit: (stageEvent: StageEvent) => void events.push(stageEvent),
    stop: stop.signal,
    clock: systemClock,
  }
  const settings = { client: slow, force: false, gate: createLimiter(atOnce) }
  const ended = await applyChanges(changes, settings, context).then(
    () => 'done',
    (thrown: unknown) => (thrown === stop.signal.reason ? 'stopped' : String(thrown)),
  )
  const written = ['Namespace', 'ConfigMap'].flatMap(held).map(({ metadata }) => metadata.name)
  const told = events.flatMap((event) => (event.kind === 'applied' ? (event.object?.name ?? '') : []))
  return { ended, written, told, requests }
}

describe('applying', () => {
  const names = Array.from({ length: 12 }, (_, at) => `c${at}`)

  it('writes what others live in before them, and tells each write', async () => {
    const { ended, told } = await applyUntil([config('c0'), namespace, config('c1')], 99, 8)
    expect({ ended, told }).toEqual({ ended: 'done', told: ['openstack', 'c0', 'c1'] })
  })

  it.each([1, 3, 8])(
    'that is stopped finishes the writes in flight, tells them, and begins none (%i)',
    async (atOnce) => {
      const { ended, written, told } = await applyUntil(names.map(config), 3, atOnce)
      expect(ended).toBe('stopped')
      expect(told.toSorted()).toEqual(written.toSorted())
      expect(written.length).toBeGreaterThanOrEqual(3)
      expect(written.length).toBeLessThanOrEqual(Math.max(3, 2 + atOnce))
    },
  )

  it('asks the server for nothing when everything is as it should be', async () => {
    const { client, requests } = memoryCluster()
    const live = { ...namespace, metadata: { ...namespace.metadata, uid: 'u' } }
    const unchanged = { ...compareObject(namespace, live), change: 'unchanged' as const }
    const events: StageEvent[] = []
    const context = {
      emit: (stageEvent: StageEvent) => void events.push(stageEvent),
      stop: new AbortController().signal,
      clock: systemClock,
    }
    await applyChanges([unchanged], { client, force: false, gate: createLimiter(1) }, context)
    expect(requests).toEqual([])
    expect(events).toMatchObject([{ kind: 'applied', change: 'unchanged' }])
  })
})
