import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { narrowPlan, planPods, planPolicies, podAddress, spreadPolicies } from './rehearsal-plan.ts'

const two = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const whole = testPlan({ clouds: two, nodes: 3, families: [4, 6] })

describe('what a rehearsal does', () => {
  it('applies the base before the clouds, on the rehearsed nodes only', () => {
    const policies = planPolicies(whole, narrowPlan(whole, { nodes: 2, clouds: [] }))
    expect(policies.map(({ policies: own }) => own.map(({ metadata }) => metadata.name))).toEqual([
      ['stackloom-base-worker-0', 'openstack-worker-0', 'openstack2-worker-0'],
      ['stackloom-base-worker-1', 'openstack-worker-1', 'openstack2-worker-1'],
    ])
  })

  it('applies every policy a second time on one node', () => {
    const again = spreadPolicies(planPolicies(whole, narrowPlan(whole, { nodes: 2, clouds: [] })))
    expect(again.map(({ policies }) => policies.map(({ metadata }) => metadata.name))).toEqual([
      ['stackloom-base-worker-0', 'openstack2-worker-0'],
      ['openstack-worker-1'],
    ])
  })

  it('leaves other clouds out when one is chosen', () => {
    const narrowed = narrowPlan(whole, { nodes: 1, clouds: ['rhoso2'] })
    const [node] = planPolicies(whole, narrowed)
    expect(node?.policies.map(({ metadata }) => metadata.name)).toEqual([
      'stackloom-base-worker-0',
      'openstack2-worker-0',
    ])
    expect(new Set(planPods(narrowed).map(({ cloud }) => cloud))).toEqual(new Set(['rhoso2']))
  })

  it('gives every pod its own address of each family from the span for pods', () => {
    const pods = planPods(narrowPlan(whole, { nodes: 2, clouds: [] }))
    const addresses = pods.flatMap((pod) => pod.addresses)
    expect(new Set(addresses).size).toBe(addresses.length)
    const pod = pods.find(({ network, node }) => network === 'internalapi' && node === 'worker-1')
    expect(pod?.addresses).toHaveLength(2)
    expect(pod?.cni).toMatchObject({
      type: 'macvlan',
      ipam: {
        type: 'static',
        addresses: pod?.addresses.map((address) => ({ address: expect.stringContaining(address) })),
      },
    })
  })

  it('leads the default route of a pod to the next node, and tests a bridge with two interfaces', () => {
    const pods = planPods(narrowPlan(testPlan({ clouds: two, nodes: 2 }), { nodes: 2, clouds: [] }))
    const pod = pods.find(({ network, node }) => network === 'internalapi' && node === 'worker-0')
    expect(pod?.gateways).toEqual(['172.17.0.11'])
    expect(pod?.cni).toMatchObject({ ipam: { routes: [{ dst: '0.0.0.0/0', gw: '172.17.0.11' }] } })
    const bridge = pods.find(({ network }) => network === 'datacentre')
    expect(bridge).toMatchObject({ addresses: [], interfaces: ['net1', 'net2'], cni: { type: 'bridge', ipam: {} } })
  })

  it('skips reserved addresses and says when a span is used up', () => {
    const subnet = {
      name: 'subnet1',
      family: 4,
      cidr: '172.17.0.0/24',
      spans: [{ role: 'pods', start: '172.17.0.30', end: '172.17.0.32' }],
      reserved: [{ start: '172.17.0.31', end: '172.17.0.31' }],
      routes: [],
    } as const
    expect([0, 1, 2].map((index) => podAddress(subnet, index))).toEqual(['172.17.0.30', '172.17.0.32', undefined])
  })
})
