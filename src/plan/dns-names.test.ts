import { describe, expect, it } from 'vitest'
import { planSpec } from '../../test/site.ts'
import { listCloudDnsNames } from './dns-names.ts'
import { builtInTable } from './slots/built-in-crds.ts'
import { slotCoverage } from './slots/slot-coverage.ts'

describe('a cloud of 2023', () => {
  const slots = builtInTable('2023')
  const { plan } = planSpec({ clouds: [{ name: 'a', namespace: 'a', hosts: [{ name: 'edpm-compute-0' }] }] }, { slots })
  const [cloud] = plan.clouds
  const names = cloud ? listCloudDnsNames(cloud).map(({ name }) => name) : []

  it('has the names that its operators give to Services', () => {
    expect(names).toContain('glance-internal.a.svc')
    expect(names).toContain('nova-metadata-internal.a.svc')
    expect(names.filter((name) => name.includes('-internal-internal'))).toEqual([])
  })

  it('has the short names of its hosts', () => {
    expect(names).toContain('edpm-compute-0')
    expect(names).toContain('edpm-compute-0.ctlplane')
    expect(names).toContain('edpm-compute-0.tenant')
  })

  it('does not call a service off whose public endpoint is a Route', () => {
    const external = slotCoverage(slots, cloud?.uses ?? []).find(({ path }) => path.includes('glanceAPIExternal'))
    expect(external).toMatchObject({ verdict: 'unused', why: 'public only: reached through a Route' })
  })
})
