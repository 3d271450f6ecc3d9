import { describe, expect, it } from 'vitest'
import { ipSet, netConfig, threeNetworks } from '../../../test/ipam.ts'
import { address } from '../../net/address.ts'
import { buildUsageReport } from './usage-report.ts'

const onSegment = (text: string) => ({ segment: 'vlan-20', ...address(text) })
const holder = { uid: 'u', namespace: 'ns', name: 'a', network: 'net-1' }

describe('buildUsageReport', () => {
  it('counts used and free addresses and lists holders in and outside the ranges', () => {
    const held = ['172.17.0.220', '172.17.0.100'].map((text) => ({ address: onSegment(text), holder }))
    const [first, second] = buildUsageReport({ netConfigs: [netConfig(threeNetworks)], ipSets: [], held })
    expect(first).toMatchObject({
      namespace: 'ns',
      network: 'net-1',
      segment: 'vlan-20',
      used: 1,
      free: '100',
      holders: [
        { address: '172.17.0.100', owner: 'ns/a' },
        { address: '172.17.0.220', owner: 'ns/a' },
      ],
    })
    expect(second).toMatchObject({ network: 'net-2', used: 0, free: '101', holders: [] })
  })

  it('lists waiting IPSets, oldest first, with the cause from the condition', () => {
    const waiting = (name: string, creationTimestamp: string, message?: string) => {
      const made = ipSet(name, [{ name: 'Net-1' }])
      const conditions = message ? [{ type: 'ReservationReady', status: 'False' as const, message }] : []
      return { ...made, metadata: { ...made.metadata, creationTimestamp }, status: { conditions } }
    }
    const ipSets = [waiting('b', '2026-01-02'), waiting('c', '2026-01-01', 'no address is left')]
    const [report] = buildUsageReport({ netConfigs: [netConfig(threeNetworks)], ipSets, held: [] })
    expect(report?.waiting).toEqual([
      { owner: 'ns/c', why: 'no address is left' },
      { owner: 'ns/b', why: 'not reconciled yet' },
    ])
  })
})
