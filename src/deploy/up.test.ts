import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { neverAborted } from '../../test/never-aborted.ts'
import { testPlan } from '../../test/plan.ts'
import type { Lock } from '../plan/lock.ts'
import { readLock } from '../plan/lock-file.ts'
import { renderDocuments } from '../render/render.ts'
import type { Selection } from '../run/selection.ts'
import { readInventories, readInventory } from './inventory.ts'
import { up } from './up.ts'

const plan = testPlan({
  nodes: 1,
  clouds: [
    { name: 'rhoso1', namespace: 'openstack' },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const documents = renderDocuments(plan)
const lock: Lock = {
  site: 'lab',
  clouds: {
    rhoso1: { namespace: 'openstack', networks: {} },
    rhoso2: { namespace: 'openstack2', networks: {} },
  },
}

const run = async (selection: Selection) => {
  const { client } = memoryCluster()
  const report = await up({
    client,
    plan,
    documents,
    selection,
    lock,
    run: 'test',
    what: 'up',
    sink: () => undefined,
    stop: neverAborted(),
    discoverHosts: async () => '',
  })
  expect(report.outcome).toBe('done')
  const inventories = await readInventories(client)
  const shared = await readInventory(client)
  return {
    listed: Object.fromEntries(
      inventories.map(({ cloud = 'shared', objects }) => [cloud, objects.map(({ name }) => name)]),
    ),
    decided: Object.keys(readLock(shared?.lock ?? '', 'the record').lock?.clouds ?? {}),
  }
}

describe('up', () => {
  it('lists exactly the objects of the selected stages in the inventory', async () => {
    const { listed } = await run({ clouds: ['rhoso1'], stages: ['secrets'] })
    expect(listed).toEqual({ shared: [], rhoso1: ['osp-secret'] })
  })

  it('records the lock only for the clouds that were deployed', async () => {
    expect((await run({ clouds: ['rhoso1'], stages: ['secrets'] })).decided).toEqual(['rhoso1'])
    expect((await run({ stages: ['secrets'] })).decided).toEqual(['rhoso1', 'rhoso2'])
  })
})
