import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import type { Plan } from '../plan/plan.ts'
import { renderAdvertisements, renderPeers, renderPools } from './metallb.ts'

const two = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const bgp = {
  mode: 'bgp',
  asn: 64999,
  peers: [
    { address: '100.65.4.1', asn: 65000 },
    { address: '100.64.4.1', asn: 65000 },
  ],
}

function each(plan: Plan, render: (plan: Plan, cloud: Plan['clouds'][number]) => readonly KubeObject[]) {
  return plan.clouds.flatMap((cloud) => render(plan, cloud))
}

describe('renderPools', () => {
  it('names pools after the namespace, limits them to it, and disables automatic assignment', () => {
    const pools = each(testPlan({ clouds: two }), renderPools)
    expect(pools.map((pool) => pool.metadata.name)).toEqual(
      two.flatMap(({ namespace }) =>
        ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext'].map((network) => `${namespace}-${network}`),
      ),
    )
    expect(pools[6]?.['spec']).toEqual({
      addresses: ['172.17.1.80-172.17.1.90'],
      autoAssign: false,
      avoidBuggyIPs: false,
      serviceAllocation: { namespaces: ['openstack2'] },
    })
  })

  it('leaves out reserved addresses, and has a range per family', () => {
    const plan = testPlan({ families: [4, 6] })
    const [cloud] = plan.clouds
    const networks = cloud?.networks.map((network) => ({
      ...network,
      subnets: network.subnets.map((subnet) =>
        subnet.family === 4 ? { ...subnet, reserved: [{ start: '172.17.0.84', end: '172.17.0.85' }] } : subnet,
      ),
    }))
    const holed = { ...plan, clouds: cloud && networks ? [{ ...cloud, networks }] : [] }
    const pool = each(holed, renderPools).find((candidate) => candidate.metadata.name === 'openstack-internalapi')
    expect(pool?.['spec']).toMatchObject({
      addresses: ['172.17.0.80-172.17.0.83', '172.17.0.86-172.17.0.90', 'fd00:11:1::50-fd00:11:1::5a'],
    })
  })
})

describe('renderAdvertisements with layer 2', () => {
  it('announces on the bridge if there is one, and only from nodes of the site', () => {
    const found = each(testPlan({ nodes: 2 }), renderAdvertisements)
    expect(found.map((object) => object.kind)).toEqual(Array.from({ length: 5 }, () => 'L2Advertisement'))
    expect(found[0]?.metadata.name).toBe('openstack-ctlplane')
    expect(found[0]?.['spec']).toEqual({
      ipAddressPools: ['openstack-ctlplane'],
      interfaces: ['ospbr'],
      nodeSelectors: [
        {
          matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['worker-0', 'worker-1'] }],
        },
      ],
    })
    expect(found[1]?.['spec']).toMatchObject({ interfaces: ['enp6s0.20'] })
    expect(renderPeers(testPlan())).toEqual([])
  })
})

describe('renderAdvertisements with BGP', () => {
  it('has one peer per router for all clouds, and an advertisement per cloud', () => {
    const plan = testPlan({ clouds: two, cluster: { metallb: bgp } })
    expect(renderPeers(plan).map((renderPeer) => renderPeer.metadata.name)).toEqual([
      'bgp-peer-100.65.4.1',
      'bgp-peer-100.64.4.1',
    ])
    expect(renderPeers(plan)[0]?.['spec']).toEqual({
      myASN: 64999,
      peerASN: 65000,
      peerAddress: '100.65.4.1',
    })
    const found = each(plan, renderAdvertisements)
    expect(found.map((object) => object.metadata.name)).toEqual([
      'bgpadvertisement-openstack',
      'bgpadvertisement-openstack2',
    ])
    expect(found[1]?.['spec']).toEqual({
      ipAddressPools: ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext'].map(
        (network) => `openstack2-${network}`,
      ),
      peers: ['bgp-peer-100.65.4.1', 'bgp-peer-100.64.4.1'],
    })
  })

  it('keeps the name of a peer when routers and clouds come and go', () => {
    const routers = (addresses: readonly string[], clouds: typeof two) => {
      const peers = addresses.map((address) => ({ address, asn: 65000 }))
      const plan = testPlan({ clouds, cluster: { metallb: { ...bgp, peers } } })
      return Object.fromEntries(
        renderPeers(plan).map(({ metadata, ...rest }) => [
          (rest['spec'] as { peerAddress: string }).peerAddress,
          metadata.name,
        ]),
      )
    }
    const before = routers(['192.0.2.1', 'FD00:17::1'], two)
    expect(before).toEqual({ '192.0.2.1': 'bgp-peer-192.0.2.1', 'FD00:17::1': 'bgp-peer-fd00-17--1' })
    expect(routers(['192.0.2.9', 'FD00:17::1', '192.0.2.1'], two.slice(1))).toMatchObject(before)
  })
})
