/** The address map of several clouds: their order, and the subnets that are left for more. */
import { expect, it } from 'vitest'
import { type PartialSiteSpec, planSpec } from '../../../test/site.ts'
import { emptyLock } from '../../plan/lock.ts'
import { buildAddressMap } from './address-map.ts'
import type { ViewInput } from './view-input.ts'

const hosts = (cloud: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${cloud}-compute-${index}` }))

function mapOf(clouds: NonNullable<PartialSiteSpec['clouds']>) {
  const { plan, lock } = planSpec({ clouds })
  const planned = { plan, lock, before: emptyLock(plan.site), file: 'site.yaml', lockFile: 'site.lock.yaml', lines: [] }
  const input: Partial<ViewInput> = {
    planned: { ...planned, locate: () => ({ file: 'site.yaml', line: 1, column: 1 }) },
    fileOptions: [],
  }
  return buildAddressMap(input as ViewInput)
}

it('has the fullest cloud first, whatever the order of the site file is', () => {
  const map = mapOf([
    { name: 'empty', namespace: 'openstack' },
    { name: 'full', namespace: 'openstack2', hosts: hosts('full', 100) },
    { name: 'half', namespace: 'openstack3', hosts: hosts('half', 60) },
  ])
  expect(map.clouds.map(({ name }) => name)).toEqual(['full', 'half', 'empty'])
  expect([...new Set(map.subnets.map(({ cloud }) => cloud))]).toEqual(['full', 'half', 'empty'])
  expect(map.clouds[0]?.fraction).toBeGreaterThan(map.clouds[1]?.fraction ?? 1)
})

it('counts the subnets of a supernet that are used and free', () => {
  const { supernets, oneMore } = mapOf([{ name: 'rhoso1', namespace: 'openstack' }])
  expect(supernets.length).toBeGreaterThan(0)
  for (const { used, free, of } of supernets) expect(BigInt(used) + BigInt(free)).toBe(BigInt(of))
  expect(oneMore).toEqual({ fits: true, text: 'one more cloud with default networks fits' })
})
