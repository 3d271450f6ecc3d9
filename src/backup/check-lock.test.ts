import { describe, expect, it } from 'vitest'
import type { Lock } from '../plan/lock.ts'
import { findTakenDecisions, recordCloud } from './check-lock.ts'

const network = (vlan: number) => ({ nic: 'enp6s0', vlan, interface: `enp6s0.${vlan}`, mtu: 1500 })
const lock = (clouds: Readonly<Record<string, number>>): Lock => ({
  site: 'lab',
  clouds: Object.fromEntries(
    Object.entries(clouds).map(([name, vlan]) => [name, { namespace: name, networks: { internalapi: network(vlan) } }]),
  ),
})

describe('the lock of a backup', () => {
  it.each([
    ['the same cloud, unchanged', lock({ a: 21 }), lock({ a: 21, b: 22 }), []],
    ['a cloud that was taken down', lock({ a: 21 }), lock({ b: 22 }), []],
    ['its VLAN with another cloud', lock({ a: 21 }), lock({ b: 21 }), ['internalapi: VLAN 21 of enp6s0 belongs to b']],
    ['a VLAN that both shared then', lock({ a: 21, b: 21 }), lock({ b: 21 }), []],
    ['another VLAN on record', lock({ a: 21 }), lock({ a: 31 }), ['internalapi vlan: 31 now, 21 in the backup']],
    ['no entry of the cloud', lock({ b: 21 }), lock({ b: 22 }), []],
  ])('is compared with the record: %s', (_, saved, recorded, expected) => {
    expect(findTakenDecisions(saved, recorded, 'a')).toEqual(expected)
  })

  it('has no cloud with a name that every object has', () => {
    expect(findTakenDecisions(lock({ b: 21 }), lock({ b: 21 }), 'constructor')).toEqual([])
    expect(recordCloud(lock({ b: 22 }), lock({ b: 22 }), 'constructor')).toEqual(lock({ b: 22 }))
  })

  it('adds its cloud to the record and changes no other', () => {
    expect(recordCloud(lock({ b: 22 }), lock({ a: 21, b: 99 }), 'a')).toEqual(lock({ b: 22, a: 21 }))
  })
})
