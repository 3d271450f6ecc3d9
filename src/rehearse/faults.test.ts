import { describe, expect, it } from 'vitest'
import { planExample } from '../../test/examples.ts'
import { testPlan } from '../../test/plan.ts'
import { applyFault, type FaultName, type FaultyTopology } from './faults.ts'
import { narrowPlan } from './rehearsal-plan.ts'
import { type ForwardingEntry, judgeSwitches, parseForwarding } from './switch/switch-observation.ts'
import { planTopology, type Topology } from './topology.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const plan = testPlan({ clouds, nodes: 2 })
const topology = planTopology(plan, plan.from.cluster.nodes)

function broken(fault: FaultName, sitePlan = plan): FaultyTopology {
  const result = applyFault(fault, planTopology(sitePlan, sitePlan.from.cluster.nodes), sitePlan)
  if ('unavailable' in result) throw new Error(result.unavailable)
  return result
}

/** What the switches learn when every pod and node sends on every VLAN that its port lets through. */
function observe({ topology: built, plugs }: Pick<FaultyTopology, 'topology' | 'plugs'>) {
  const forwarding: ForwardingEntry[] = []
  for (const { ports } of built.switches) {
    for (const [index, port] of ports.entries()) {
      for (const vlan of [...port.vlans, ...(port.native === undefined ? [] : [port.native])]) {
        forwarding.push({ port: port.name, vlan, mac: `52:54:00:5c:0${index}:00` })
        forwarding.push({ port: port.name, vlan, mac: `0a:00:00:00:0${index}:${vlan.toString(16).slice(-2)}` })
      }
    }
  }
  for (const { name, vlan } of built.routers) forwarding.push({ port: `${name}a`, vlan, mac: `0c:00:00:00:00:${name}` })
  for (const plug of plugs) {
    if (plug.kind === 'machine') forwarding.push({ port: 'x0a', vlan: plug.vlan, mac: '0e:00:00:00:00:01' })
    else {
      const [one, other] = plug.vlans
      const pods = forwarding.filter(({ vlan, mac }) => vlan === one && mac.startsWith('0a'))
      forwarding.push(...pods.map(({ mac }) => ({ port: 'x0b', vlan: other, mac })))
    }
  }
  const ports = built.switches.flatMap(({ role, ports: all }) => all.map((port) => ({ role, ...port })))
  return {
    forwarding,
    mtus: new Map(ports.map(({ name, mtu }) => [name, mtu])),
    switchOfPort: new Map(ports.map(({ name, role }) => [name, role])),
  }
}

const judge = (built: Pick<FaultyTopology, 'topology' | 'plugs'>) =>
  judgeSwitches(plan, topology, observe(built)).map(({ code, message, remedy }) => `${code} ${message}; ${remedy}`)

describe('a fault of the switches', () => {
  it('is not found where there is none', () => {
    expect(judge({ topology, plugs: [] })).toEqual([])
  })

  it.each<{ readonly fault: FaultName; readonly found: readonly string[] }>([
    {
      fault: 'missing-vlan',
      found: [
        'SL9321 the switch port of worker-0 enp6s0 carries no VLAN 20 frame (rhoso1/internalapi); ' +
          'allow VLAN 20 on the switch port of worker-0 enp6s0',
      ],
    },
    {
      fault: 'wrong-native-vlan',
      found: [
        'SL9321 the switch port of worker-0 enp6s0 carries no untagged frame (rhoso1/ctlplane); ' +
          'set the native VLAN of the port of worker-0 enp6s0 to that of the other nodes',
      ],
    },
    {
      fault: 'small-mtu',
      found: [
        'SL9322 the switch port of worker-0 enp6s0 has an MTU of 1400; its networks need 1500; ' +
          'set the MTU of the switch port of worker-0 enp6s0 to 1500 or more, or plan a smaller `mtu`',
      ],
    },
    {
      fault: 'bridged-clouds',
      found: [
        'SL9323 VLANs 20 and 30 are connected (rhoso1/internalapi, rhoso2/internalapi); ' +
          'remove the cable or bridge between VLANs 20 and 30; frames cross at switch port x0b',
      ],
    },
    {
      fault: 'address-in-use',
      found: [
        'SL9324 0e:00:00:00:00:01 at switch port x0a is on VLAN 20 (rhoso1/internalapi) and belongs to no node of the site; ' +
          'disconnect the machine at switch port x0a, or reserve its address in the site file',
      ],
    },
    {
      fault: 'foreign-dhcp',
      found: [
        'SL9324 0e:00:00:00:00:01 at switch port x0a is on VLAN 20 (rhoso1/internalapi) and belongs to no node of the site; ' +
          'disconnect the machine at switch port x0a, or reserve its address in the site file',
      ],
    },
  ])('is found with its place and a remedy: $fault', ({ fault, found }) => {
    expect(judge(broken(fault))).toEqual(found)
  })

  it('is on a network of the cloud that is rehearsed, and other clouds send nothing', () => {
    const narrowed = narrowPlan(plan, { nodes: 2, clouds: ['rhoso2'] })
    const judgeNarrowed = (built: Topology) => {
      const { forwarding, ...rest } = observe({ topology: built, plugs: [] })
      const sent = forwarding.filter(({ vlan }) => narrowed.segments.some((segment) => segment.vlan === vlan))
      return judgeSwitches(narrowed, topology, { forwarding: sent, ...rest }).map(({ message }) => message)
    }
    expect(judgeNarrowed(topology)).toEqual([])
    const { topology: built, description } = applyFault('missing-vlan', topology, narrowed) as FaultyTopology
    expect(description).toBe('the switch port of worker-0 enp6s0 lacks VLAN 30')
    expect(judgeNarrowed(built)).toEqual([
      'the switch port of worker-0 enp6s0 carries no VLAN 30 frame (rhoso2/internalapi)',
    ])
    expect(applyFault('wrong-native-vlan', topology, narrowed)).toEqual({
      unavailable: 'no rehearsed network is untagged',
    })
  })

  it('is found on an aggregated link, whichever of its ports carries the frames', () => {
    const bonded = planExample('five-clouds-bgp')
    const healthy = planTopology(bonded, bonded.from.cluster.nodes)
    const judgeBonded = ({ topology: built }: Pick<FaultyTopology, 'topology'>) => {
      const { forwarding, ...rest } = observe({ topology: built, plugs: [] })
      const firstPorts = forwarding.map((entry) => ({ ...entry, port: entry.port.replace('p1', 'p0') }))
      const lacking = built.switches[0]?.ports[0]?.vlans ?? []
      const sent = firstPorts.filter(({ port, vlan }) => port !== 'n0p0' || lacking.includes(vlan) || vlan > 4000)
      return judgeSwitches(bonded, healthy, { forwarding: sent, ...rest }).map(({ message }) => message)
    }
    expect(judgeBonded({ topology: healthy })).toEqual([])
    expect(judgeBonded(broken('missing-vlan', bonded))).toEqual([
      'the switch port of worker-0 eno1 and eno2 carries no VLAN 20 frame (rhoso1/internalapi)',
    ])
  })

  it('needs two NICs to exchange their cables', () => {
    expect(applyFault('swapped-nics', topology, plan)).toEqual({
      unavailable: 'the nodes have no two NICs with different roles',
    })
  })

  it('is read from the forwarding table of Open vSwitch', () => {
    const text =
      ' port  VLAN  MAC                Age\n    1    20  52:54:00:5c:00:00    3\nLOCAL     0  4a:13:fa:fb:78:48    1\n'
    const numbers = new Map([
      ['n0p0', 1],
      ['n0p1', 1],
    ])
    expect(parseForwarding(text, numbers, ['n0p0'])).toEqual([{ port: 'n0p0', vlan: 20, mac: '52:54:00:5c:00:00' }])
  })
})
