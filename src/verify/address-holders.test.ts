import { describe, expect, it } from 'vitest'
import { changed, healthySnapshot, withObject } from '../../test/healthy-snapshot.ts'
import { testPlan } from '../../test/plan.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { findHolders, holderFindings } from './address-holders.ts'

const plan = testPlan({
  nodes: 1,
  clouds: [
    { name: 'rhoso1', namespace: 'openstack' },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const healthy = healthySnapshot(plan)

function who(address: string, snapshot: Snapshot = healthy): readonly string[] {
  return findHolders(indexSnapshot(snapshot), address).map(({ kind, who: name, how, since }) =>
    [kind, name, `(${how})`, since ?? ''].join(' ').trim(),
  )
}

function codes(address: string, snapshot: Snapshot, planned: readonly string[]): readonly string[] {
  const holders = findHolders(indexSnapshot(snapshot), address)
  return holderFindings(address, holders, planned).map(({ code }) => code)
}

describe('findHolders', () => {
  it('finds a Service with its pool and time, and the pool as allocator', () => {
    const written = changed(healthy, 'Service openstack/rabbitmq', (service) => ({
      ...service,
      metadata: {
        ...service.metadata,
        managedFields: [
          {
            manager: 'controller',
            operation: 'Update' as const,
            apiVersion: 'v1',
            subresource: 'status',
            time: '2026-11-05T10:00:00Z',
          },
        ],
      },
    }))
    expect(who('172.17.0.85', written)).toEqual([
      'has Service openstack/rabbitmq (LoadBalancer address from pool openstack-internalapi) 2026-11-05T10:00:00Z',
      'gives IPAddressPool metallb-system/openstack-internalapi (172.17.0.80-172.17.0.90, to LoadBalancer Services)',
    ])
  })

  it('finds a pod through whereabouts and Multus', () => {
    expect(who('172.17.0.30').filter((one) => one.startsWith('has'))).toEqual([
      expect.stringMatching(/^has Pod openstack\/glance-0 \(by whereabouts, .*IPPool kube-system\//),
      'has Pod openstack/glance-0 (on openstack/internalapi)',
    ])
  })

  it('finds a deleted pod that whereabouts still records', () => {
    const gone = changed(healthy, 'Pod openstack/glance-0', () => undefined)
    expect(who('172.17.0.30', gone)[0]).toContain('the pod no longer exists')
  })

  it('finds a data plane host through its Reservation', () => {
    expect(who('172.17.0.100')).toEqual([
      'has Reservation openstack/edpm-compute-0 (on internalapi) 2026-11-02T08:00:00Z',
      'gives NetConfig openstack/netconfig (172.17.0.100-172.17.0.250, to hosts on internalapi)',
    ])
  })

  it('finds a node and its interface through nmstate', () => {
    const seen = withObject(healthy, {
      apiVersion: 'nmstate.io/v1beta1',
      kind: 'NodeNetworkState',
      metadata: { name: 'worker-0' },
      status: { currentState: { interfaces: [{ name: 'enp6s0.20', ipv4: { address: [{ ip: '172.17.0.10' }] } }] } },
    })
    expect(who('172.17.0.10', seen)).toEqual(['has Node worker-0 (on enp6s0.20)'])
    expect(who('10.0.0.10')).toEqual(["has Node worker-0 (the node's own address)"])
  })

  it('finds nothing for an unused address', () => {
    expect(who('172.17.0.2')).toEqual([])
    expect(who('not an address')).toEqual([])
  })
})

describe('holderFindings', () => {
  it('accepts Services of one cloud that share an address', () => {
    expect(who('172.17.0.80').filter((one) => one.startsWith('has Service')).length).toBeGreaterThan(1)
    expect(codes('172.17.0.80', healthy, ['openstack'])).toEqual([])
  })

  it('reports two holders, and a holder in another namespace than planned', () => {
    const stolen = changed(healthy, 'Service openstack2/rabbitmq', (service) => ({
      ...service,
      status: { loadBalancer: { ingress: [{ ip: '172.17.0.85' }] } },
    }))
    expect(codes('172.17.0.85', stolen, ['openstack'])).toEqual(['SL9081', 'SL9082'])
  })

  it('reports only the second holder of an unplanned address', () => {
    expect(codes('172.17.0.85', healthy, [])).toEqual([])
  })
})
