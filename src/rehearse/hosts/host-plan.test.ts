import { describe, expect, it } from 'vitest'
import { planExample } from '../../../test/examples.ts'
import { narrowPlan } from '../rehearsal-plan.ts'
import { planTopology } from '../topology.ts'
import { addressLines, namespaceLines, planHosts } from './host-plan.ts'

const plan = narrowPlan(planExample('two-clouds'), { nodes: 2, clouds: [] })
const topology = planTopology(plan, plan.from.cluster.nodes)

describe('the hosts of a rehearsal', () => {
  const hosts = planHosts(plan, topology, 2)

  it('have the planned addresses on the VLANs of their networks', () => {
    expect(new Set(hosts.map(({ node }) => node))).toEqual(
      new Set(['edpm-compute-0', 'edpm-compute-1', 'edpm2-compute-0']),
    )
    const host = hosts.find(({ node, network }) => node === 'edpm-compute-1' && network === 'internalapi')
    expect(host).toMatchObject({ cloud: 'rhoso1', addresses: ['172.17.0.101'], plug: { vlan: 20, role: 'main' } })
    const untagged = hosts.find(({ node, network }) => node === 'edpm-compute-0' && network === 'ctlplane')
    expect(untagged?.plug.vlan).toBe(topology.switches[0]?.ports[0]?.native)
  })

  it('are at most as many per cloud as asked for', () => {
    expect(new Set(planHosts(plan, topology, 1).map(({ node }) => node))).toEqual(
      new Set(['edpm-compute-0', 'edpm2-compute-0']),
    )
  })

  it('are namespaces with one interface each', () => {
    const host = hosts.find(({ node, network }) => node === 'edpm-compute-0' && network === 'internalapi')
    if (!host) throw new Error('no host')
    expect(namespaceLines(host, 'h1b')).toBe(`netns add ${host.name}\nlink set h1b netns ${host.name} name net1\n`)
    expect(addressLines(host)).toBe('link set lo up\nlink set net1 mtu 1500 up\naddress add 172.17.0.100/24 dev net1\n')
  })
})
