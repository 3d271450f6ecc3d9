import { beforeEach, describe, expect, it } from 'vitest'
import { type MemoryCluster, memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { KubeObject } from '../../api/object.ts'
import { renderInventory } from '../inventory.ts'
import type { LiveView } from '../live-view.ts'
import { type CheckedArchive, restoreCloud } from './restore-cloud.ts'

const pool = (labels: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: 'openstack-b-ctlplane', namespace: 'metallb-system', labels },
  spec: { addresses: ['10.0.0.0/24'] },
})

const archive = (objects: readonly KubeObject[]): CheckedArchive => ({
  manifest: {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Backup',
    name: 'rhoso1-1',
    time: '2026-01-01T00:00:00Z',
    site: 'lab',
    cloud: 'rhoso1',
    namespace: 'openstack',
    dumps: [],
    files: [],
  },
  objects,
  addresses: [],
  namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '' } },
  inventory: { site: 'lab', cloud: 'rhoso1', namespace: 'openstack', objects: [] },
})

describe('a restore', () => {
  let cluster: MemoryCluster
  beforeEach(() => {
    cluster = memoryCluster()
  })
  /** The error of the first stage, and what was written. */
  const restore = async (objects: readonly KubeObject[]) => {
    const before = cluster.requests.length
    const { stages } = await restoreCloud({
      client: cluster.client,
      view: {} as LiveView,
      archive: archive(objects),
      exec: () => Promise.reject(new Error('no command may run')),
      run: 'test',
      sink: () => undefined,
      stop: neverAborted(),
    })
    const written = cluster.requests.slice(before).filter((request) => !/^(get|list|resource)/.test(request))
    return { text: JSON.stringify(stages[0]), written }
  }

  it.each([
    [{ 'stackloom.dev/cloud': 'rhoso-b' }, 'it belongs to rhoso-b'],
    [{}, 'no cloud has it'],
  ])('is refused before the first write when a pool of the backup exists with the labels %j', async (labels, owner) => {
    await cluster.client.create(pool(labels))
    const { text, written } = await restore([pool({ 'stackloom.dev/cloud': 'rhoso1' })])
    expect(text).toContain('SL1030')
    expect(text).toContain(owner)
    expect(written).toEqual([])
  })

  it.each([
    ['rhoso2', 'openstack', 'namespace openstack belongs to rhoso2'],
    ['rhoso1', 'elsewhere', 'namespace: elsewhere now, openstack in the backup'],
  ])('is refused before the first write when %s has the namespace %s', async (cloud, namespace, conflict) => {
    await cluster.client.create(renderInventory({ site: 'lab', cloud, namespace, objects: [] }))
    const { text, written } = await restore([])
    expect(text).toContain('SL4171')
    expect(text).toContain(conflict)
    expect(written).toEqual([])
  })
})
