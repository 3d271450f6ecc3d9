import { expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { openLiveView } from './live-view.ts'

const context = { emit: () => undefined, stop: neverAborted(), clock: systemClock }

/** What a lookout shows of an object, whether it was there when it looked first or came later. */
async function shown(object: KubeObject): Promise<KubeObject | undefined> {
  const { client } = memoryCluster()
  await client.create({ ...object, metadata: { ...object.metadata, name: 'first' } })
  const lookout = openLiveView({ client })
  await lookout.watch([object], context)
  const change = lookout.waitForChange(undefined, 60_000, context)
  await client.create({ ...object, metadata: { ...object.metadata, name: 'later' } })
  await change
  const [first, later] = ['first', 'later'].map((name) => lookout.index().get(object.kind, name))
  await lookout.close()
  expect({ ...later, metadata: undefined }).toEqual({ ...first, metadata: undefined })
  return later
}

const managedFields = [{ manager: 'somebody', operation: 'Apply' as const, apiVersion: 'v1' }]

it('knows that a Secret is there, and not what it says', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: '' }, type: 'Opaque' }
  const seen = await shown({ ...secret, data: { password: 'aHVudGVyMg==' }, stringData: { token: 'x' } })
  expect(seen).toMatchObject({ kind: 'Secret', type: 'Opaque' })
  expect(JSON.stringify(seen)).not.toMatch(/password|token/)
})

it('keeps of a pod where it runs and how it is', async () => {
  const spec = { nodeName: 'worker-0', containers: [{ name: 'galera' }] }
  const seen = await shown({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: '', managedFields },
    spec,
    status: { phase: 'Running' },
  })
  expect(seen).toMatchObject({ spec: { nodeName: 'worker-0' }, status: { phase: 'Running' } })
  expect(JSON.stringify(seen)).not.toMatch(/containers|somebody/)
})

it('keeps who wrote what of a kind that we write', async () => {
  const seen = await shown({ apiVersion: 'v1', kind: 'Service', metadata: { name: '', managedFields } })
  expect(seen?.metadata.managedFields).toEqual(managedFields)
})
