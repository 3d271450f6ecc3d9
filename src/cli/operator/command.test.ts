import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

describe('the list of segment owners', () => {
  it.each([
    'vlan-20',
    'vlan-20=',
    '=openstack',
    'vlan-0=openstack',
    'vlan-20=Not_a_name',
    '20=openstack',
    '*',
    '*/vlan=a',
  ])('is refused when a pair is not a segment and a namespace: %s', async (pair) => {
    const io = testIo()
    expect(await main(['operator', 'run', '--segment-owners', `vlan-20=openstack,${pair}`], io)).toBe(2)
    expect(io.err()).toContain(`${pair} is not a segment and a namespace`)
  })

  it('may have namespaces for every other segment', async () => {
    const io = testIo()
    await main(['operator', 'run', '--segment-owners', '*=openstack,wrong'], io)
    expect(io.err()).toContain(' wrong is not a segment and a namespace')
  })
})
