import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { AddressRange, PlannedNetwork } from '../plan/plan.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { renderNetConfig } from './netconfig.ts'

type Spec = { readonly networks: readonly { readonly name: string; readonly subnets: readonly unknown[] }[] }

function specOf(
  plan = testPlan(),
  change: (network: PlannedNetwork) => PlannedNetwork = (plannedNetwork) => plannedNetwork,
): Spec {
  const [cloud] = plan.clouds
  const [object] = cloud ? renderNetConfig(plan, { ...cloud, networks: cloud.networks.map(change) }) : []
  return object?.['spec'] as Spec
}

function reserving(...reserved: readonly AddressRange[]): (network: PlannedNetwork) => PlannedNetwork {
  return (network) => ({ ...network, subnets: network.subnets.map((subnet) => ({ ...subnet, reserved })) })
}

describe('renderNetConfig', () => {
  it('has the networks of the hosts with their ranges', () => {
    const { networks } = specOf()
    expect(networks.map((network) => network.name)).toEqual([
      'ctlplane',
      'internalapi',
      'storage',
      'tenant',
      'storagemgmt',
    ])
    expect(networks[0]?.subnets).toEqual([
      {
        name: 'subnet1',
        cidr: '192.168.122.0/24',
        gateway: '192.168.122.1',
        allocationRanges: [{ start: '192.168.122.100', end: '192.168.122.250' }],
      },
    ])
    expect(networks[1]).toMatchObject({
      dnsDomain: 'internalapi.rhoso1.example.com',
      mtu: 1500,
      subnets: [{ vlan: 20, allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.250' }] }],
    })
  })

  it('names the clouds that share its subnets, and no others', () => {
    const plan = testPlan()
    const [cloud] = plan.clouds
    if (!cloud) throw new Error('no cloud')
    const annotations = (other: string): unknown =>
      renderNetConfig({ ...plan, clouds: [cloud, { ...cloud, namespace: other }] }, cloud)[0]?.metadata.annotations
    expect(annotations('neighbour')).toEqual({ 'stackloom.dev/shared-with': 'neighbour' })
    expect(annotations(cloud.namespace)).toBeUndefined()
  })

  it('lists a few reserved addresses, and splits the range around many', () => {
    const few = specOf(testPlan(), reserving({ start: '172.17.0.110', end: '172.17.0.111' }))
    expect(few.networks[1]?.subnets[0]).toMatchObject({
      allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.250' }],
      excludeAddresses: ['172.17.0.110', '172.17.0.111'],
    })
    const many = specOf(testPlan(), reserving({ start: '172.17.0.101', end: '172.17.0.200' }))
    expect(many.networks[1]?.subnets[0]).toEqual({
      name: 'subnet1',
      cidr: '172.17.0.0/24',
      vlan: 20,
      // What is left of the range before is one address, and NetConfig takes no such range.
      allocationRanges: [{ start: '172.17.0.201', end: '172.17.0.250' }],
    })
  })

  it('has a subnet for each family', () => {
    const { networks } = specOf(testPlan({ families: [4, 6] }))
    expect(networks[1]?.subnets).toMatchObject([{ cidr: '172.17.0.0/24' }, { cidr: 'fd00:11:1::/64' }])
  })

  it('spells network names as the 2023 API does', () => {
    const { networks } = specOf(testPlan({ table: builtInTable('2023') }))
    expect(networks.map((network) => network.name)).toEqual([
      'CtlPlane',
      'InternalApi',
      'Storage',
      'Tenant',
      'StorageMgmt',
    ])
  })
})
