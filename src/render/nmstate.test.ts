import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { type PartialSiteSpec, planSpec } from '../../test/site.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { renderNetConfig } from './netconfig.ts'
import { BLOCKED_TABLE, type DesiredState, renderBasePolicies, renderCloudPolicies } from './nmstate.ts'

const two = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

function cloud(plan: Plan, index: number): PlannedCloud {
  const found = plan.clouds[index]
  if (!found) throw new Error(`no cloud ${index}`)
  return found
}

function stateOf(object: unknown): DesiredState {
  return (object as { spec: { desiredState: DesiredState } }).spec.desiredState
}

function names(object: unknown): readonly unknown[] {
  return stateOf(object).interfaces.map((iface) => iface['name'])
}

/** Routes with a next hop: the others drop packets. */
function forwardedRoutes(object: unknown): readonly unknown[] {
  return (stateOf(object).routes?.config ?? []).filter((route) => 'next-hop-address' in (route as object))
}

describe('node policies', () => {
  it('has a base policy per node, and one per cloud and node', () => {
    const plan = testPlan({ clouds: two, nodes: 2 })
    expect(renderBasePolicies(plan).map((renderBasePolicy) => renderBasePolicy.metadata.name)).toEqual([
      'stackloom-base-worker-0',
      'stackloom-base-worker-1',
    ])
    expect(
      renderCloudPolicies(plan, cloud(plan, 1)).map((renderCloudPolicy) => renderCloudPolicy.metadata.name),
    ).toEqual(['openstack2-worker-0', 'openstack2-worker-1'])
  })

  it('has the VLANs and the bridge of each cloud in its own policy only', () => {
    const plan = testPlan({ clouds: two, nodes: 1 })
    const [first] = renderCloudPolicies(plan, cloud(plan, 0))
    const [second] = renderCloudPolicies(plan, cloud(plan, 1))
    expect(names(first)).toEqual(['ospbr', ...[20, 21, 22, 23, 25, 26].map((id) => `enp6s0.${id}`)])
    expect(names(second).filter((name) => names(first).includes(name))).toEqual([])
  })

  it('has shared VLANs, with the addresses of all clouds, in the base policy', () => {
    const plan = testPlan({ clouds: two, nodes: 1, shared: true })
    const [base] = renderBasePolicies(plan)
    const vlan = stateOf(base).interfaces.find((iface) => iface['name'] === 'enp6s0.20')
    expect(vlan?.['ipv4']).toEqual({
      enabled: true,
      dhcp: false,
      address: [
        { ip: '172.17.0.10', 'prefix-length': 24 },
        { ip: '172.17.1.10', 'prefix-length': 24 },
      ],
    })
    expect(vlan?.['description']).toBe('rhoso1 internalapi, rhoso2 internalapi')
    expect(renderCloudPolicies(plan, cloud(plan, 0))).toEqual([])
  })

  it('builds the bridge of a tagged network on its VLAN, with the address on the bridge', () => {
    const plan = testPlan({ clouds: two, nodes: 1 })
    const [policy] = renderCloudPolicies(plan, cloud(plan, 1))
    const [vlan, bridge] = stateOf(policy).interfaces
    expect(vlan).toMatchObject({ name: 'enp6s0.39', type: 'vlan', ipv4: { enabled: false } })
    expect(bridge).toMatchObject({
      name: 'ospbr1',
      type: 'linux-bridge',
      bridge: { port: [{ name: 'enp6s0.39' }] },
      ipv4: { address: [{ ip: '192.168.123.10', 'prefix-length': 24 }] },
    })
  })

  it('drops what a pod sends through the node to a subnet of any cloud', () => {
    const plan = testPlan({ clouds: two, nodes: 1, families: [4, 6] })
    const [policy] = renderCloudPolicies(plan, cloud(plan, 1))
    const { routes, 'route-rules': rules } = stateOf(policy)
    expect(routes?.config).toContainEqual({
      destination: '172.17.1.0/24',
      'route-type': 'blackhole',
      'table-id': BLOCKED_TABLE,
    })
    const cidrs = cloud(plan, 1).networks.flatMap(({ subnets }) => subnets.map(({ cidr }) => cidr))
    expect(routes?.config.map((route) => (route as { destination: string }).destination)).toEqual(cidrs)
    const segments = [['ospbr1', 39] as const, ...[30, 31, 32, 33, 35, 36].map((id) => [`enp6s0.${id}`, id] as const)]
    expect(rules?.config).toEqual(
      segments.flatMap(([iif, vlan]) =>
        ['ipv4', 'ipv6'].map((family) => ({
          iif,
          family,
          'route-table': BLOCKED_TABLE,
          priority: BLOCKED_TABLE + vlan,
        })),
      ),
    )
  })

  it('gives no two rules of a node the same priority, by which nmstate tells them apart', () => {
    const onNic = (nic: string) => ({ internalapi: { nic, vlan: 20 }, storage: { nic, vlan: 21 } })
    const { plan } = planSpec({
      cluster: { nodes: [{ name: 'worker-0', nics: { main: 'enp6s0', second: 'enp7s0' } }] },
      clouds: [
        { name: 'rhoso1', namespace: 'openstack', networks: onNic('main') },
        { name: 'rhoso2', namespace: 'openstack2', networks: onNic('second') },
      ],
    })
    const priorities = plan.clouds.flatMap((each) =>
      renderCloudPolicies(plan, each).flatMap((policy) =>
        (stateOf(policy)['route-rules']?.config ?? []).map((rule) => (rule as { priority: number }).priority),
      ),
    )
    expect(priorities.length).toBeGreaterThan(8)
    expect(new Set(priorities).size).toBe(priorities.length)
    expect(Math.max(...priorities)).toBeLessThan(32_766)
  })

  describe('a bridge over a whole NIC', () => {
    const port = (clouds: NonNullable<PartialSiteSpec['clouds']>, isolation = {}): unknown => {
      const cluster = { nodes: [{ name: 'worker-0', nic: 'enp6s0' }], isolation }
      const { plan } = planSpec({ cluster, clouds })
      const bridge = stateOf(renderCloudPolicies(plan, cloud(plan, 0))[0]).interfaces.find(
        (iface) => iface['name'] === 'ospbr',
      )
      const { port: ports } = (bridge ?? {})['bridge'] as { port: readonly { vlan: unknown }[] }
      return ports[0]?.vlan
    }

    it('drops tagged frames: its only tag is one that no segment uses', () => {
      expect(port(two)).toEqual({ mode: 'trunk', 'trunk-tags': [{ id: 4094 }] })
      const pinned = [{ name: 'rhoso1', namespace: 'openstack', networks: { internalapi: { vlan: 4094 } } }]
      expect(port(pinned)).toEqual({ mode: 'trunk', 'trunk-tags': [{ id: 4093 }] })
    })

    it('passes the VLANs of the trunk, and no other', () => {
      const datacentre = { trunk: [40, '100-199'] }
      expect(port([{ name: 'rhoso1', namespace: 'openstack', networks: { datacentre } }])).toEqual({
        mode: 'trunk',
        'trunk-tags': [{ id: 40 }, { 'id-range': { min: 100, max: 199 } }],
      })
    })

    it('has no filter where the site allows tagged frames', () => {
      expect(port(two, { taggedFrames: 'allow' })).toEqual({})
    })
  })

  it('has no filter on a bridge over a VLAN, whose frames stay in it', () => {
    const plan = testPlan({ clouds: two, nodes: 1 })
    const bridge = stateOf(renderCloudPolicies(plan, cloud(plan, 1))[0]).interfaces.find(
      (iface) => iface['name'] === 'ospbr1',
    )
    expect(bridge).toMatchObject({ bridge: { port: [{ name: expect.stringContaining('.') }] } })
    expect(JSON.stringify(bridge)).not.toContain('trunk')
  })

  it('lets nodes forward where the site allows it', () => {
    const plan = testPlan({ nodes: 1, cluster: { isolation: { forwarding: 'allow' } } })
    const [policy] = renderCloudPolicies(plan, cloud(plan, 0))
    expect(Object.keys(stateOf(policy))).toEqual(['interfaces'])
  })

  it('has addresses of both families', () => {
    const plan = testPlan({ nodes: 1, families: [4, 6] })
    const [policy] = renderCloudPolicies(plan, cloud(plan, 0))
    expect(stateOf(policy).interfaces[1]).toMatchObject({
      ipv4: { enabled: true, address: [{ ip: '172.17.0.10', 'prefix-length': 24 }] },
      ipv6: { enabled: true, autoconf: false, address: [{ ip: 'fd00:11:1::a', 'prefix-length': 64 }] },
    })
  })

  it('sets maxUnavailable of the site, and selects one node by its name', () => {
    const plan = testPlan({ nodes: 1, cluster: { maxUnavailable: '30%' } })
    expect(renderBasePolicies(plan)[0]?.['spec']).toMatchObject({
      maxUnavailable: '30%',
      nodeSelector: { 'kubernetes.io/hostname': 'worker-0' },
    })
  })

  it('builds the bond once, in the base policy, and the VLANs on it', () => {
    const plan = testPlan({
      nodes: 1,
      cluster: {
        nodes: [{ name: 'worker-0', nic: 'bond0' }],
        bonds: [{ name: 'bond0', ports: ['eno1', 'eno2'], mode: '802.3ad', options: { miimon: 100 } }],
      },
    })
    const [base] = renderBasePolicies(plan)
    expect(stateOf(base).interfaces).toEqual([
      { name: 'eno1', type: 'ethernet', state: 'up' },
      { name: 'eno2', type: 'ethernet', state: 'up' },
      {
        name: 'bond0',
        type: 'bond',
        state: 'up',
        mtu: 1500,
        'link-aggregation': { mode: '802.3ad', port: ['eno1', 'eno2'], options: { miimon: 100 } },
      },
    ])
    const [policy] = renderCloudPolicies(plan, cloud(plan, 0))
    expect(stateOf(policy).interfaces[1]).toMatchObject({ vlan: { 'base-iface': 'bond0' } })
  })

  it('sets the MTU of the NIC to that of its largest network', () => {
    const plan = testPlan({ nodes: 1 })
    const wide = {
      ...plan,
      segments: plan.segments.map((segment) => (segment.vlan === 22 ? { ...segment, mtu: 9000 } : segment)),
    }
    expect(stateOf(renderBasePolicies(wide)[0]).interfaces[0]).toMatchObject({ name: 'enp6s0', mtu: 9000 })
    const [policy] = renderCloudPolicies(wide, cloud(wide, 0))
    expect(stateOf(policy).interfaces.find((iface) => iface['name'] === 'enp6s0.22')).toMatchObject({ mtu: 9000 })
  })

  it('sets the routes of a network on its interface', () => {
    const plan = testPlan({ nodes: 1, cluster: { isolation: { forwarding: 'allow' } } })
    const routes = [{ destination: '10.9.0.0/16', nexthop: '172.17.0.1' }]
    const [only] = plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.map((network) => (network.name === 'internalapi' ? { ...network, routes } : network)),
    }))
    const routed = { ...plan, clouds: only ? [only] : [] }
    expect(stateOf(renderCloudPolicies(routed, cloud(routed, 0))[0]).routes).toEqual({
      config: [{ destination: '10.9.0.0/16', 'next-hop-address': '172.17.0.1', 'next-hop-interface': 'enp6s0.20' }],
    })
  })

  it('gives a node only the routes of the subnets that it is on', () => {
    const { plan } = planSpec({
      networks: {
        internalapi: {
          routes: [{ destination: '10.7.0.0/16', nexthop: '172.17.1.1' }],
          subnets: [
            {
              cidr: '172.17.0.0/24',
              spans: { nodes: '172.17.0.5-172.17.0.29', vips: '172.17.0.80-172.17.0.90' },
              routes: [{ destination: '172.17.1.0/24', nexthop: '172.17.0.1' }],
            },
            {
              cidr: '172.17.1.0/24',
              spans: { hosts: '172.17.1.100-172.17.1.250' },
              routes: [{ destination: '172.17.0.0/24', nexthop: '172.17.1.1' }],
            },
          ],
        },
      },
    })
    expect(forwardedRoutes(renderCloudPolicies(plan, cloud(plan, 0))[0])).toEqual([
      { destination: '172.17.1.0/24', 'next-hop-address': '172.17.0.1', 'next-hop-interface': 'enp6s0.20' },
    ])
    const [netConfig] = renderNetConfig(plan, cloud(plan, 0))
    const spec = netConfig?.['spec'] as { networks: { name: string; subnets: { routes?: unknown }[] }[] } | undefined
    const subnets = spec?.networks.find(({ name }) => name === 'internalapi')?.subnets
    expect(subnets?.map(({ routes }) => routes)).toEqual([
      [
        { destination: '172.17.0.0/24', nexthop: '172.17.1.1' },
        { destination: '10.7.0.0/16', nexthop: '172.17.1.1' },
      ],
    ])
  })

  it('gives no route to a node that has no address on the network', () => {
    const { plan } = planSpec({
      networks: {
        storage: {
          routes: [{ destination: '10.9.0.0/16', nexthop: '172.18.0.1' }],
          subnets: [{ cidr: '172.18.0.0/24', spans: { hosts: '172.18.0.100-172.18.0.250', vips: '172.18.0.80' } }],
        },
      },
    })
    expect(forwardedRoutes(renderCloudPolicies(plan, cloud(plan, 0))[0])).toEqual([])
  })
})
