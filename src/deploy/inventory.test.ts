import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import type { Lock, LockedCloud } from '../plan/lock.ts'
import {
  deleteInventory,
  deleteSystemNamespace,
  findLockConflicts,
  mergeRecordedLock,
  parseInventory,
  renderInventory,
  writeInventory,
} from './inventory.ts'

const cloud = (vlan: number, more: Partial<LockedCloud> = {}): LockedCloud => ({
  namespace: 'openstack',
  networks: { internalapi: { nic: 'main', vlan, interface: `enp6s0.${vlan}`, mtu: 1500 } },
  ...more,
})
const lock = (clouds: Lock['clouds'], crd = 'sha256:1'): Lock => ({ site: 'lab', crd, clouds })

describe('the lock in an inventory', () => {
  const inventory = (text: string) => renderInventory({ site: 'lab', objects: [], lock: text })

  it('is text that people can read, and packed where it would not fit into a ConfigMap', () => {
    const short = 'site: lab\n'
    const long = Array.from({ length: 40_000 }, (_, host) => `compute-${host}: [172.17.0.1, 2001:db8::1]\n`).join('')
    expect(inventory(short)['data']).toMatchObject({ lock: short })
    expect(JSON.stringify(inventory(long)).length).toBeLessThan(1024 * 1024)
    expect([short, long].map((text) => parseInventory(inventory(text)).lock)).toEqual([short, long])
  })

  it('is refused when it is damaged', () => {
    const damaged = { ...inventory(''), binaryData: { 'lock.gz': 'bm90IGd6aXA=' } }
    expect(() => parseInventory(damaged)).toThrow('SL40')
  })
})

describe('mergeRecordedLock', () => {
  it('records the whole lock after a run for every cloud, leaving clouds included', () => {
    const present = lock({ a: cloud(20), b: cloud(30), old: cloud(40, { leaving: true }) })
    expect(mergeRecordedLock(lock({ gone: cloud(50) }), present, new Set(['a', 'b']))).toEqual(present)
  })

  it('records nothing for a cloud that was not deployed', () => {
    const present = lock({ a: cloud(20), b: cloud(30) })
    const after = mergeRecordedLock(undefined, present, new Set(['a']))
    expect(after).toEqual(lock({ a: cloud(20) }))
    // That cloud can still be planned again.
    expect(findLockConflicts(after, lock({ a: cloud(20), b: cloud(31) }))).toEqual([])
  })

  it('keeps the decisions for other clouds, and the schema', () => {
    const present = lock({ a: cloud(20), b: cloud(31) }, 'sha256:2')
    const after = mergeRecordedLock(lock({ b: cloud(30) }), present, new Set(['a']))
    expect(after).toEqual(lock({ a: cloud(20), b: cloud(30) }))
    expect(findLockConflicts(after, present)).toEqual([expect.stringContaining('b/internalapi')])
  })

  it('conflicts with a move that is not allowed', () => {
    const recorded = lock({ a: cloud(20) })
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }))).not.toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }), ['a'])).toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }), ['a/internalapi'])).toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(20), b: cloud(21) }))).toEqual([])
  })
})

describe('an inventory', () => {
  it('neither overwrites nor deletes what Stackloom did not create', async () => {
    const { client, objects } = memoryCluster()
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'stackloom-system' } })
    const metadata = { name: 'inventory-cloud-a', namespace: 'stackloom-system' }
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mine: 'x' } })
    await expect(writeInventory(client, { site: 's', cloud: 'a', objects: [] })).rejects.toThrow('SL1030')
    await deleteInventory(client, 'a')
    expect(objects('ConfigMap')).toMatchObject([{ data: { mine: 'x' } }])
    await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', ...metadata })
    await deleteSystemNamespace(client)
    expect(objects('Namespace')).toHaveLength(1)
  })
})
