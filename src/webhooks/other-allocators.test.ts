import { describe, expect, it } from 'vitest'
import { threeNetworks } from '../../test/ipam.ts'
import type { KubeObject } from '../api/object.ts'
import { addressPools, attachments, findOtherAllocators, overlapWarnings } from './other-allocators.ts'

const pool = (addresses: readonly string[], namespaces?: readonly string[]): KubeObject => ({
  ...addressPools,
  metadata: { name: 'internalapi', namespace: 'metallb-system' },
  spec: { addresses, ...(namespaces && { serviceAllocation: { namespaces } }) },
})
const attachment = (ipam: object, namespace = 'ns'): KubeObject => ({
  ...attachments,
  metadata: { name: 'internalapi', namespace },
  spec: { config: JSON.stringify({ type: 'macvlan', ipam: { type: 'whereabouts', ...ipam } }) },
})
const warnings = (...objects: readonly KubeObject[]): readonly string[] =>
  overlapWarnings(threeNetworks.networks, findOtherAllocators(objects, 'ns'))

describe('overlapWarnings', () => {
  it('names both ranges and the MetalLB pool', () => {
    expect(warnings(pool(['172.17.0.80-172.17.0.110', '10.0.0.0/24']))).toEqual([
      'spec.networks[0].subnets[0].allocationRanges[0]: 172.17.0.100-172.17.0.200 overlaps 172.17.0.80-172.17.0.110 of IPAddressPool metallb-system/internalapi: an address may be assigned twice',
    ])
  })

  it('ignores a pool that serves other namespaces', () => {
    expect(warnings(pool(['172.17.0.0/24'], ['other']))).toEqual([])
    expect(warnings(pool(['172.17.0.0/24'], ['other', 'ns']))).toHaveLength(1)
  })

  it('reads the ranges of network attachments in the namespace', () => {
    expect(warnings(attachment({ range: '172.18.0.0/24' }))[0]).toContain('172.18.0.1-172.18.0.254 of Network')
    const narrow = { range: '172.18.0.0/24', range_start: '172.18.0.30', range_end: '172.18.0.70' }
    expect(warnings(attachment(narrow))).toEqual([])
    expect(warnings(attachment({ range: '172.18.0.0/24' }, 'other'))).toEqual([])
  })

  it('ignores attachments and pools that cannot be parsed', () => {
    const broken = { ...attachments, metadata: { name: 'x', namespace: 'ns' }, spec: { config: '{' } }
    expect(warnings(pool(['nonsense']), broken)).toEqual([])
  })
})
