import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { portSettings, switchArgs } from './switch/switch-commands.ts'
import { planTopology, type Topology } from './topology.ts'

const two = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

function topology(options: Parameters<typeof testPlan>[0]): Topology {
  const plan = testPlan(options)
  return planTopology(plan, plan.from.cluster.nodes)
}

describe('the topology of a rehearsal', () => {
  it('has a port per node that carries exactly the VLANs of the plan', () => {
    const plan = testPlan({ clouds: two, nodes: 2 })
    const { nodes, switches } = planTopology(plan, plan.from.cluster.nodes)
    const planned = plan.segments.flatMap(({ vlan }) => vlan ?? []).toSorted((a, b) => a - b)
    expect(switches).toHaveLength(1)
    expect(switches[0]?.ports.map(({ node, vlans }) => ({ node, vlans }))).toEqual([
      { node: 'worker-0', vlans: planned },
      { node: 'worker-1', vlans: planned },
    ])
    expect(nodes.map(({ nics }) => nics.map(({ name }) => name))).toEqual([['enp6s0'], ['enp6s0']])
    const macs = nodes.flatMap(({ nics }) => nics.map(({ mac }) => mac))
    expect(new Set(macs).size).toBe(2)
  })

  it('gives untagged frames a VLAN that no segment has', () => {
    const [port] = topology({ clouds: two, nodes: 1 }).switches[0]?.ports ?? []
    expect(port?.vlans).not.toContain(port?.native)
    expect(portSettings({ vlans: [20, 21], native: 4094 })).toEqual([
      'vlan_mode=native-untagged',
      'tag=4094',
      'trunks=4094,20,21',
    ])
  })

  it('has a machine with the gateways of both families on their segments, also on the untagged one', () => {
    const { routers, switches } = topology({ clouds: two, nodes: 1, families: [4, 6] })
    const native = switches[0]?.ports[0]?.native
    expect(routers.map(({ vlan, addresses }) => ({ vlan, addresses }))).toEqual([
      { vlan: native, addresses: ['192.168.122.1/24', 'fd00:0:1::1/64'] },
      { vlan: 39, addresses: ['192.168.123.1/24', 'fd00:0:2::1/64'] },
    ])
  })

  it('drops untagged frames where the plan has none', () => {
    expect(portSettings({ vlans: [20, 21] })).toEqual(['vlan_mode=trunk', 'trunks=20,21'])
  })

  it('connects every card of a bond, and aggregates them on the switch only where the mode needs it', () => {
    const bonded = (mode: string) =>
      topology({
        nodes: 1,
        cluster: {
          bonds: [{ name: 'bond0', mode, ports: ['eth1', 'eth2'] }],
          nodes: [{ name: 'worker-0', nic: 'bond0' }],
        },
      })
    const backup = bonded('active-backup')
    expect(backup.nodes[0]?.nics.map(({ name }) => name)).toEqual(['eth1', 'eth2'])
    expect(switchArgs(backup.switches)).not.toContain('add-bond')
    expect(switchArgs(bonded('802.3ad').switches)).toEqual(
      expect.arrayContaining(['add-bond', 'n0-bond0', 'n0p0', 'n0p1', 'lacp=active']),
    )
  })
})
