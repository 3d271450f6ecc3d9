import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { networksAnnotation, renderAttachments } from './multus.ts'

function configs(change: (network: PlannedNetwork) => PlannedNetwork = (network) => network) {
  const plan = testPlan({ families: [4] })
  return configsOf(plan, change)
}

function configsOf(plan: ReturnType<typeof testPlan>, change: (network: PlannedNetwork) => PlannedNetwork) {
  const [first] = plan.clouds
  const cloud = { ...first, networks: first?.networks.map(change) } as PlannedCloud
  const rendered = renderAttachments(plan, cloud).map((renderAttachment) => {
    const { config } = (renderAttachment as unknown as { spec: { config: string } }).spec
    return [renderAttachment.metadata.name, JSON.parse(config) as Record<string, unknown>] as const
  })
  return Object.fromEntries(rendered)
}

function internalapi(change: Partial<PlannedNetwork>): (network: PlannedNetwork) => PlannedNetwork {
  return (network) => (network.name === 'internalapi' ? { ...network, ...change } : network)
}

describe('renderAttachments', () => {
  it('attaches pods to the interface of the segment, with addresses of their span', () => {
    expect(configs()['internalapi']).toEqual({
      cniVersion: '0.3.1',
      name: 'internalapi',
      type: 'macvlan',
      master: 'enp6s0.20',
      ipam: {
        type: 'whereabouts',
        range: '172.17.0.0/24',
        range_start: '172.17.0.30',
        range_end: '172.17.0.70',
        network_name: 'openstack-internalapi',
      },
    })
  })

  it('attaches ctlplane to the bridge, and datacentre without addresses', () => {
    expect(configs()['ctlplane']).toMatchObject({ type: 'macvlan', master: 'ospbr' })
    expect(configs()['datacentre']).toEqual({
      cniVersion: '0.3.1',
      name: 'datacentre',
      type: 'bridge',
      bridge: 'ospbr',
      ipam: {},
    })
  })

  it('lets pods on the bridge tag the VLANs of the trunk', () => {
    const trunk = [
      { first: 40, last: 40 },
      { first: 100, last: 199 },
    ]
    const found = configs((network) => (network.name === 'datacentre' ? { ...network, trunk } : network))
    expect(found['datacentre']).toMatchObject({ vlanTrunk: [{ id: 40 }, { minID: 100, maxID: 199 }] })
  })

  it('assigns an address of each family', () => {
    const found = configsOf(testPlan({ families: [4, 6] }), (network) => network)
    expect(found['internalapi']?.['ipam']).toEqual({
      type: 'whereabouts',
      ipRanges: [
        { range: '172.17.0.0/24', range_start: '172.17.0.30', range_end: '172.17.0.70' },
        { range: 'fd00:11:1::/64', range_start: 'fd00:11:1::1e', range_end: 'fd00:11:1::46' },
      ],
      network_name: 'openstack-internalapi',
    })
  })

  it('excludes reserved addresses and the gap between two spans', () => {
    const subnet = {
      name: 'subnet1',
      family: 4 as const,
      cidr: '172.17.0.0/24',
      spans: [
        { role: 'pods' as const, start: '172.17.0.30', end: '172.17.0.39' },
        { role: 'pods' as const, start: '172.17.0.48', end: '172.17.0.70' },
      ],
      reserved: [{ start: '172.17.0.50', end: '172.17.0.51' }],
      routes: [],
    }
    expect(configs(internalapi({ subnets: [subnet] }))['internalapi']?.['ipam']).toMatchObject({
      range_start: '172.17.0.30',
      range_end: '172.17.0.70',
      exclude: ['172.17.0.40/29', '172.17.0.50/31'],
    })
  })

  it('sets the routes of pods', () => {
    const podRoutes = [{ destination: '172.24.0.0/16', nexthop: '172.23.0.150' }]
    expect(configs(internalapi({ podRoutes }))['internalapi']?.['ipam']).toMatchObject({
      routes: [{ dst: '172.24.0.0/16', gw: '172.23.0.150' }],
    })
  })

  it('renders a second definition with static addresses for individual endpoints', () => {
    const endpoints = [{ name: 'ovndbcluster-sb-0', address: '172.17.0.20' }]
    expect(configs(internalapi({ endpoints }))['internalapi-static']).toEqual({
      cniVersion: '0.3.1',
      name: 'internalapi-static',
      type: 'macvlan',
      master: 'enp6s0.20',
      capabilities: { ips: true },
      ipam: { type: 'static' },
    })
  })

  it('renders nothing for a network without pods', () => {
    expect(configs(internalapi({ attach: 'none' }))).not.toHaveProperty('internalapi')
  })
})

describe('networksAnnotation', () => {
  it('lists names and namespaces', () => {
    expect(
      networksAnnotation([
        { name: 'internalapi', namespace: 'openstack' },
        { name: 'storage', namespace: 'openstack' },
      ]),
    ).toBe('[{"name":"internalapi","namespace":"openstack"},{"name":"storage","namespace":"openstack"}]')
  })

  it('includes the addresses of an individual endpoint', () => {
    const ips = ['172.17.0.20/24']
    expect(networksAnnotation([{ name: 'internalapi', namespace: 'openstack', ips }])).toBe(
      '[{"name":"internalapi","namespace":"openstack","ips":["172.17.0.20/24"]}]',
    )
  })
})
