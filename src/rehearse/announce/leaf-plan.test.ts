import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { planTopology } from '../topology.ts'
import {
  isReachedOver,
  type Leaf,
  leafConfig,
  missingRoutes,
  parseRoutes,
  planLeaves,
  staleRoutes,
} from './leaf-plan.ts'

function plan(peers: readonly object[], mode = 'bgp') {
  const whole = testPlan({ nodes: 2, cluster: { metallb: { mode, asn: 64999, peers } } })
  return planLeaves(whole, planTopology(whole, whole.from.cluster.nodes))
}

describe('the BGP routers of a rehearsal', () => {
  it('are on the segment whose subnet has their address, and beside the API server otherwise', () => {
    const [near, far] = plan([
      { address: '172.17.0.1', asn: 65000 },
      { address: '192.168.100.1', asn: 65001, nodes: ['worker-1'], port: 1790 },
    ])
    expect(near?.plug).toEqual({ kind: 'machine', name: 'l0', role: 'main', vlan: 20, addresses: ['172.17.0.1/24'] })
    expect(near).toMatchObject({ asn: 65000, nodeAsn: 64999, port: 179, nodes: ['worker-0', 'worker-1'] })
    expect(far).toMatchObject({ asn: 65001, port: 1790, nodes: ['worker-1'] })
    expect(far?.plug).toBeUndefined()
    const [cloud] = testPlan({ nodes: 2 }).clouds as readonly [PlannedCloud]
    expect([near, far].map((leaf) => isReachedOver(leaf as Leaf, cloud))).toEqual([true, false])
  })

  it('are not needed for layer 2, and do not speak IPv6', () => {
    expect(plan([], 'layer2')).toEqual([])
    expect(plan([{ address: 'fd00:17::1', asn: 65000 }])).toEqual([])
  })

  it('accept the nodes by their AS', () => {
    const [leaf] = plan([{ address: '192.168.100.1', asn: 65000 }])
    expect(leafConfig(leaf as Leaf)).toContain('router bgp 65000\n bgp router-id 192.168.100.1\n')
    expect(leafConfig(leaf as Leaf)).toContain('neighbor nodes remote-as 64999')
  })

  it('must have learnt every VIP from every neighbour', () => {
    const [leaf] = plan([{ address: '192.168.100.1', asn: 65000 }]) as readonly [Leaf]
    const routes = parseRoutes('{"routes":{"172.17.0.80/32":[{},{}],"172.17.0.85/32":[{}],"0.0.0.0/0":[{}]}}')
    const expected = { vips: ['172.17.0.80', '172.17.0.85', '172.17.0.86'], nodes: ['worker-0', 'worker-1'] }
    expect(missingRoutes(leaf, expected, routes).map(({ message }) => message)).toEqual([
      'the BGP router 192.168.100.1 learns 172.17.0.85 from 1 of 2 nodes',
      'the BGP router 192.168.100.1 learns 172.17.0.86 from 0 of 2 nodes',
    ])
    expect(missingRoutes({ ...leaf, nodes: ['worker-0'] }, { ...expected, vips: ['172.17.0.85'] }, routes)).toEqual([])
    expect(parseRoutes('')).toEqual(new Map())
  })

  it('must forget a node that is cut off', () => {
    const [leaf] = plan([{ address: '192.168.100.1', asn: 65000 }]) as readonly [Leaf]
    const routes = parseRoutes('{"routes":{"172.17.0.80/32":[{},{}],"172.17.0.85/32":[{}]}}')
    const expected = { vips: ['172.17.0.80', '172.17.0.85'], nodes: ['worker-0'] }
    const facts = { node: 'worker-1', seconds: 240 }
    expect(staleRoutes(leaf, expected, routes, facts).map(({ message }) => message)).toEqual([
      'the BGP router 192.168.100.1 still has 172.17.0.80 from worker-1, 240 s after it was cut off',
    ])
    expect(staleRoutes({ ...leaf, nodes: ['worker-1'] }, expected, routes, facts)).toHaveLength(2)
  })
})
