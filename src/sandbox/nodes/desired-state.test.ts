import { describe, expect, it } from 'vitest'
import { sandboxFolder } from '../folder.ts'
import { configureInterfaces, type NodeState } from './desired-state.ts'
import { planNodes } from './node-layout.ts'

const layout = planNodes(sandboxFolder('/sandboxes/x'), [
  { name: 'worker-0', nics: { main: 'enp6s0', storage: 'enp7s0' } },
  { name: 'worker-1', nics: { storage: 'eno2', main: 'eno1' } },
])
const nics = ['enp6s0', 'enp7s0'].map((name) => ({ name, addresses: [] }))
const fresh: NodeState = { links: nics, bridges: ['seg0', 'seg1'] }

function configure(
  desired: Readonly<Record<string, unknown>>,
  state = fresh,
  [node] = layout.nodes,
): readonly string[] | string {
  if (!node) throw new Error('the layout has no node')
  const result = configureInterfaces(layout, node, desired, state)
  if (result.kind === 'refused') return result.reason
  return result.steps.map(({ command }) => command.slice(command.indexOf('--') + 1).join(' '))
}

const vlan = {
  name: 'enp6s0.20',
  type: 'vlan',
  state: 'up',
  mtu: 1500,
  vlan: { 'base-iface': 'enp6s0', id: 20 },
  ipv4: { enabled: true, address: [{ ip: '172.17.0.10', 'prefix-length': 24 }] },
}

describe('the desired state of a policy', () => {
  it('connects a VLAN interface to the switch of its segment', () => {
    expect(configure({ interfaces: [vlan] })).toEqual([
      'ip link add seg0v20 type bridge',
      'ip link set seg0v20 mtu 9216 up',
      'ip link add p0-0v20 mtu 9216 type veth peer name enp6s0.20 netns /run/stackloom/worker-0/net',
      'ip link set p0-0v20 master seg0v20 up',
      'ip link set enp6s0.20 up',
      'ip link set enp6s0.20 mtu 1500',
      'ip link set enp6s0.20 up',
      'ip address add 172.17.0.10/24 dev enp6s0.20',
    ])
  })

  it('connects a NIC of another name in the same role to the same switch', () => {
    const other = { ...vlan, name: 'eno1.20', vlan: { 'base-iface': 'eno1', id: 20 } }
    const state = { links: [{ name: 'eno1', addresses: [] }], bridges: ['seg0v20'] }
    const steps = configure({ interfaces: [other] }, state, layout.nodes.slice(1))
    expect(steps).toContain('ip link set p1-0v20 master seg0v20 up')
  })

  it('changes nothing but the settings of interfaces that exist', () => {
    const links = [...nics, { name: 'enp6s0.20', addresses: ['172.17.0.10/24'] }]
    expect(configure({ interfaces: [vlan] }, { links, bridges: ['seg0', 'seg0v20'] })).toEqual([
      'ip link set enp6s0.20 mtu 1500',
      'ip link set enp6s0.20 up',
    ])
  })

  it('replaces addresses, and keeps those of a family that it does not mention', () => {
    const links = [...nics, { name: 'enp6s0.20', addresses: ['172.17.0.99/24', 'fd00::1/64'] }]
    const steps = configure({ interfaces: [vlan] }, { links, bridges: ['seg0v20'] })
    expect(steps).toContain('ip address delete 172.17.0.99/24 dev enp6s0.20')
    expect(String(steps)).not.toContain('fd00')
  })

  it('builds a bridge after its ports and leaves the ports of pods in it', () => {
    const bridge = { name: 'br20', type: 'linux-bridge', bridge: { port: [{ name: 'enp6s0.20' }] } }
    const links = [
      ...nics,
      { name: 'vethab12', master: 'br20', addresses: [] },
      { name: 'old', master: 'br20', addresses: [] },
    ]
    const steps = configure({ interfaces: [bridge, vlan] }, { links, bridges: [] })
    expect(steps.slice(-5)).toEqual([
      'ip address add 172.17.0.10/24 dev enp6s0.20',
      'ip link add br20 type bridge',
      'ip link set enp6s0.20 master br20',
      'ip link set old nomaster',
      'ip link set br20 up',
    ])
  })

  it('removes absent interfaces, but never a NIC', () => {
    const interfaces = ['enp6s0.20', 'enp7s0'].map((name) => ({ name, state: 'absent' }))
    expect(configure({ interfaces })).toEqual(['ip link delete enp6s0.20', 'ip address flush dev enp7s0'])
  })

  it('adds routes and rules, each rule once', () => {
    const desired = {
      interfaces: [],
      routes: {
        config: [
          { destination: '172.17.0.0/24', 'route-type': 'blackhole', 'table-id': 18000 },
          {
            destination: '10.0.0.0/8',
            'next-hop-address': '172.17.0.1',
            'next-hop-interface': 'enp6s0',
            state: 'absent',
          },
        ],
      },
      'route-rules': { config: [{ iif: 'enp6s0.20', family: 'ipv4', 'route-table': 18000, priority: 18020 }] },
    }
    expect(configure(desired)).toEqual([
      'ip -4 route replace blackhole 172.17.0.0/24 table 18000',
      'ip -4 route delete 10.0.0.0/8 via 172.17.0.1 dev enp6s0',
      'ip -4 rule delete iif enp6s0.20 lookup 18000 priority 18020',
      'ip -4 rule add iif enp6s0.20 lookup 18000 priority 18020',
    ])
  })

  it.each([
    [{ name: 'eno9', type: 'ethernet' }, 'interface eno9 does not exist; the NICs of the node are enp6s0, enp7s0'],
    [{ ...vlan, vlan: { 'base-iface': 'eno9', id: 1 } }, 'the base interface eno9 of enp6s0.20 does not exist'],
    [
      { name: 'br', type: 'linux-bridge', bridge: { port: [{ name: 'eno9' }] } },
      'the port eno9 of bridge br does not exist',
    ],
    [{ name: 'br', type: 'ovs-bridge' }, 'the sandbox cannot create br, an interface of type ovs-bridge'],
  ])('is refused for an interface that cannot exist: %o', (iface, reason) => {
    expect(configure({ interfaces: [iface] })).toBe(reason)
  })
})
