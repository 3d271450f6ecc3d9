import { describe, expect, it } from 'vitest'
import { planExample } from '../../test/examples.ts'
import { healthySnapshot } from '../../test/healthy-snapshot.ts'
import { formatGroupKind, indexSnapshot } from '../api/snapshot.ts'
import { countAddresses, countedKinds } from './count-addresses.ts'
import { forecast } from './forecast.ts'

describe('countAddresses', () => {
  const plan = planExample('two-clouds')
  const index = indexSnapshot(healthySnapshot(plan))
  const [attachments = [], ipPools = [], addressPools = [], services = [], netConfigs = [], reservations = []] =
    countedKinds.map((kind) => index.all(formatGroupKind(kind)))
  const input = { attachments, ipPools, addressPools, services, netConfigs, reservations }
  const find = (namespace: string, network: string, role: string) =>
    countAddresses(input).find(
      (count) => count.namespace === namespace && count.network === network && count.role === role,
    )

  it('counts the addresses of every allocator of a deployed cloud', () => {
    expect(find('openstack', 'internalapi', 'pods')).toMatchObject({ used: 1, free: 40 })
    expect(find('openstack', 'internalapi', 'vips')).toMatchObject({ used: 3, free: 8 })
    expect(find('openstack', 'internalapi', 'hosts')).toMatchObject({ used: 1, free: 150 })
    expect(find('openstack2', 'internalapi', 'hosts')).toMatchObject({ used: 1, free: 150 })
  })

  it('does not count pods of a range whose IPPool was not read', () => {
    expect(countAddresses({ ...input, ipPools: [] }).filter(({ role }) => role === 'pods')).toEqual([])
  })

  it('has one count for each network and role', () => {
    const keys = countAddresses(input).map(({ namespace, network, role }) => `${namespace} ${network} ${role}`)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toEqual(keys.toSorted())
  })
})

describe('forecast', () => {
  const now = Date.parse('2026-11-17T00:00:00Z')
  const daysAgo = (...days: readonly number[]): readonly number[] => days.map((day) => now - day * 86_400_000)

  it('extrapolates what was created in the last four weeks', () => {
    expect(forecast(30, daysAgo(1, 5, 9, 27, 29, 400), now)).toEqual({ perWeek: 1, weeksLeft: 30 })
  })

  it('does not take the first deployment, or a restore, for growth', () => {
    const deployed = daysAgo(...Array.from({ length: 100 }, () => 15))
    expect(forecast(30, deployed, now)).toEqual({ perWeek: 0 })
    expect(forecast(30, [...deployed, ...daysAgo(2, 6, 10, 12)], now)).toEqual({ perWeek: 2, weeksLeft: 15 })
    expect(forecast(30, daysAgo(2, 2, 0.5), now)).toEqual({ perWeek: 1, weeksLeft: 30 })
  })

  it('says nothing about the end without growth', () => {
    expect(forecast(30, daysAgo(29), now)).toEqual({ perWeek: 0 })
  })
})
