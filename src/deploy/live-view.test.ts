import { expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { openLiveView } from './live-view.ts'

const context = { emit: () => undefined, stop: neverAborted(), clock: systemClock }

/** What a view shows of an object, which is the same for an object from the first list and a later one. */
async function shown(object: KubeObject): Promise<KubeObject | undefined> {
  const { client } = memoryCluster()
  await client.create({ ...object, metadata: { ...object.metadata, name: 'first' } })
  const view = openLiveView(client)
  await view.watch([object], context)
  const change = view.waitForChange(undefined, 60_000, context)
  await client.create({ ...object, metadata: { ...object.metadata, name: 'later' } })
  await change
  const [first, later] = ['first', 'later'].map((name) => view.index().get(object.kind, name))
  await view.close()
  expect({ ...later, metadata: undefined }).toEqual({ ...first, metadata: undefined })
  return later
}

const managedFields = [{ manager: 'another', operation: 'Apply' as const, apiVersion: 'v1' }]

it('shows that a Secret exists, without its values', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: '' }, type: 'Opaque' }
  const seen = await shown({ ...secret, data: { password: 'aHVudGVyMg==' }, stringData: { token: 'x' } })
  expect(seen).toMatchObject({ kind: 'Secret', type: 'Opaque' })
  expect(JSON.stringify(seen)).not.toMatch(/password|token/)
})

it('keeps only the node and the status of a pod', async () => {
  const spec = { nodeName: 'worker-0', containers: [{ name: 'galera' }] }
  const seen = await shown({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: '', managedFields },
    spec,
    status: { phase: 'Running' },
  })
  expect(seen).toMatchObject({ spec: { nodeName: 'worker-0' }, status: { phase: 'Running' } })
  expect(JSON.stringify(seen)).not.toMatch(/containers|another/)
})

it('keeps managedFields of kinds that we write', async () => {
  const seen = await shown({ apiVersion: 'v1', kind: 'Service', metadata: { name: '', managedFields } })
  expect(seen?.metadata.managedFields).toEqual(managedFields)
})
