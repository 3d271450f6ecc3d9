import { beforeEach, describe, expect, it } from 'vitest'
import { type MemoryCluster, memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import { type AddressFault, auditAddresses } from '../../addresses/audit-addresses.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { KubeClient } from '../../kube/client.ts'
import { freeAddresses } from './free-addresses.ts'

const POOL = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' }
const entry = (podref: string, id = 'a') => ({ id, podref, ifname: 'net1' })
const pool = (allocations: Readonly<Record<string, object>>): KubeObject => ({
  ...POOL,
  metadata: { namespace: 'kube-system', name: 'pool' },
  spec: { range: '172.17.0.0/24', allocations },
})
const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'openstack', name },
})

let cluster: MemoryCluster
beforeEach(() => {
  cluster = memoryCluster()
})

async function audit(): Promise<readonly AddressFault[]> {
  const kinds = ['IPPool', 'OverlappingRangeIPReservation', 'Pod', 'Reservation', 'IPSet']
  return auditAddresses(indexSnapshot({ objects: kinds.flatMap(cluster.objects), unread: [] })).faults
}
const free = async (faults: readonly AddressFault[], client: KubeClient = cluster.client) =>
  (await freeAddresses(client, faults, neverAborted())).map(({ fault, outcome }) => `${fault.address} ${outcome}`)
const offsets = (): readonly string[] =>
  cluster.objects('IPPool').flatMap((object) => Object.keys((object['spec'] as { allocations: object }).allocations))

describe('freeAddresses', () => {
  it('removes the entries of one IPPool with one write and leaves the others', async () => {
    await cluster.client.create(pod('alive'))
    await cluster.client.create(
      pool({ '30': entry('openstack/gone'), '31': entry('openstack/alive'), '32': entry('openstack/gone-2') }),
    )
    expect(await free(await audit())).toEqual(['172.17.0.30 freed', '172.17.0.32 freed'])
    expect(offsets()).toEqual(['31'])
    expect(cluster.requests.filter((request) => request.startsWith('update'))).toHaveLength(1)
  })

  it('keeps an entry whose pod was created after the audit', async () => {
    await cluster.client.create(pool({ '30': entry('openstack/back'), '31': entry('openstack/gone') }))
    const faults = await audit()
    await cluster.client.create(pod('back'))
    expect(await free(faults)).toEqual(['172.17.0.30 kept', '172.17.0.31 freed'])
    expect(offsets()).toEqual(['30'])
  })

  it('keeps an entry that another container took', async () => {
    const created = await cluster.client.create(pool({ '30': entry('openstack/gone') }))
    const faults = await audit()
    await cluster.client.update({
      ...created,
      spec: { range: '172.17.0.0/24', allocations: { '30': entry('openstack/gone', 'b') } },
    })
    expect(await free(faults)).toEqual(['172.17.0.30 kept'])
    expect(offsets()).toEqual(['30'])
  })

  it('decides again when whereabouts writes the IPPool between the read and the write', async () => {
    await cluster.client.create(pool({ '30': entry('openstack/new'), '31': entry('openstack/gone') }))
    const faults = await audit()
    let writes = 0
    const client: KubeClient = {
      ...cluster.client,
      update: async (object, options) => {
        writes += 1
        if (writes === 1) {
          // The pod is created, and its address is recorded for its new container.
          await cluster.client.create(pod('new'))
          const [before] = cluster.objects('IPPool')
          if (before)
            await cluster.client.update({
              ...before,
              spec: {
                range: '172.17.0.0/24',
                allocations: {
                  '30': entry('openstack/new', 'b'),
                  '31': entry('openstack/gone'),
                  '33': entry('openstack/x'),
                },
              },
            })
        }
        return cluster.client.update(object, options)
      },
    }
    expect(await free(faults, client)).toEqual(['172.17.0.30 kept', '172.17.0.31 freed'])
    expect(offsets()).toEqual(['30', '33'])
    expect(writes).toBe(2)
  })

  it('deletes blocked addresses, and a Reservation with all of its networks at once', async () => {
    await cluster.client.create({
      ...POOL,
      kind: 'OverlappingRangeIPReservation',
      metadata: { namespace: 'kube-system', name: '172.17.0.30' },
      spec: { podref: 'openstack/gone' },
    })
    await cluster.client.create({
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'Reservation',
      metadata: { namespace: 'openstack', name: 'compute-0' },
      spec: { ipSetRef: {}, reservation: { a: { address: '172.18.0.100' }, b: { address: '172.19.0.100' } } },
    })
    expect(await free(await audit())).toEqual(['172.17.0.30 freed', '172.18.0.100 freed', '172.19.0.100 freed'])
    expect(cluster.objects('Reservation')).toEqual([])
    expect(cluster.objects('OverlappingRangeIPReservation')).toEqual([])
  })
})
