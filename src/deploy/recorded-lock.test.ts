import { describe, expect, it } from 'vitest'
import type { Lock, LockedCloud } from '../plan/lock.ts'
import { findLockConflicts, mergeRecordedLock } from './recorded-lock.ts'

const cloud = (vlan: number, more: Partial<LockedCloud> = {}): LockedCloud => ({
  namespace: 'openstack',
  networks: { internalapi: { nic: 'main', vlan, interface: `enp6s0.${vlan}`, mtu: 1500 } },
  ...more,
})
const lock = (clouds: Lock['clouds'], crd = 'sha256:1'): Lock => ({ site: 'lab', crd, clouds })

describe('the lock on record', () => {
  it('is the whole lock after a run for every cloud, those that leave included', () => {
    const present = lock({ a: cloud(20), b: cloud(30), old: cloud(40, { leaving: true }) })
    expect(mergeRecordedLock(lock({ gone: cloud(50) }), present, new Set(['a', 'b']))).toEqual(present)
  })

  it('claims nothing of a cloud that was not deployed', () => {
    const present = lock({ a: cloud(20), b: cloud(30) })
    const after = mergeRecordedLock(undefined, present, new Set(['a']))
    expect(after).toEqual(lock({ a: cloud(20) }))
    // So that cloud may still be planned anew.
    expect(findLockConflicts(after, lock({ a: cloud(20), b: cloud(31) }))).toEqual([])
  })

  it('keeps what others were deployed by, the schema included', () => {
    const present = lock({ a: cloud(20), b: cloud(31) }, 'sha256:2')
    const after = mergeRecordedLock(lock({ b: cloud(30) }), present, new Set(['a']))
    expect(after).toEqual(lock({ a: cloud(20), b: cloud(30) }))
    expect(findLockConflicts(after, present)).toEqual([expect.stringContaining('b/internalapi')])
  })

  it('is contradicted by a move that nobody has allowed', () => {
    const recorded = lock({ a: cloud(20) })
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }))).not.toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }), ['a'])).toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(21) }), ['a/internalapi'])).toEqual([])
    expect(findLockConflicts(recorded, lock({ a: cloud(20), b: cloud(21) }))).toEqual([])
  })
})
