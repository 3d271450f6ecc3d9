import { describe, expect, it } from 'vitest'
import { planTextForRelease } from '../../test/examples.ts'
import { testPlan } from '../../test/plan.ts'
import { TODAY } from '../../test/sandbox-context.ts'
import type { KubeObject } from '../api/object.ts'
import type { Plan } from '../plan/plan.ts'
import { renderBasePolicies, renderCloudPolicies } from '../render/nmstate.ts'
import { absentInterfaces, absentRoutes, absentState } from './node-policies.ts'

const two = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

function policyOf(plan: Plan, cloud: string): KubeObject {
  const found = plan.clouds.find(({ name }) => name === cloud)
  const [policy] = found ? renderCloudPolicies(plan, found) : []
  if (!policy) throw new Error(`no policy of ${cloud}`)
  return policy
}

function baseOf(plan: Plan): KubeObject {
  const [base] = renderBasePolicies(plan)
  if (!base) throw new Error('no base policy')
  return base
}

function names(policy: KubeObject): readonly string[] {
  const { desiredState } = policy['spec'] as {
    readonly desiredState: { readonly interfaces: readonly { readonly name: string }[] }
  }
  return desiredState.interfaces.map(({ name }) => name)
}

describe('absentInterfaces', () => {
  it('removes exactly what the cloud created, bridges before their VLANs', () => {
    const plan = testPlan({ clouds: two, nodes: 1 })
    const policy = policyOf(plan, 'rhoso2')
    const absent = absentInterfaces(policy, [policyOf(plan, 'rhoso1'), baseOf(plan)])
    expect(absent[0]).toEqual({ name: 'ospbr1', type: 'linux-bridge', state: 'absent' })
    expect(absent.slice(1).every(({ type }) => type === 'vlan')).toBe(true)
    expect(absent.map(({ name }) => name).toSorted()).toEqual(names(policy).toSorted())
  })

  it('keeps interfaces that another policy of the same node refers to', () => {
    const plan = testPlan({
      nodes: 1,
      cluster: {
        nodes: [{ name: 'worker-0', nic: 'bond0' }],
        bonds: [{ name: 'bond0', ports: ['eno1', 'eno2'], mode: '802.3ad' }],
      },
    })
    const [cloud] = plan.clouds
    const cloudPolicy = policyOf(plan, cloud?.name ?? '')
    expect(absentInterfaces(baseOf(plan), [cloudPolicy])).toEqual([])
    expect(absentInterfaces(baseOf(plan), [])).toEqual([{ name: 'bond0', type: 'bond', state: 'absent' }])
  })

  it('ignores policies of other nodes', () => {
    const plan = testPlan({ nodes: 2 })
    const [cloud] = plan.clouds
    const [first, second] = cloud ? renderCloudPolicies(plan, cloud) : []
    if (!first || !second) throw new Error('no policy for each node')
    expect(absentInterfaces(first, [second])).toHaveLength(names(first).length)
  })
})

/** Storage of the first cloud has a NIC of its own; untagged, the NIC itself has the addresses. */
function planStorage(storage: object): Plan {
  const [first, second] = two
  const site = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'lab' },
    spec: {
      cluster: { nodes: [{ name: 'worker-0', nics: { main: 'enp6s0', storage: 'enp7s0' } }], dns: ['192.168.122.1'] },
      clouds: [{ ...first, networks: { storage: { nic: 'storage', ...storage } } }, second],
    },
  }
  return planTextForRelease(JSON.stringify(site), 'site.yaml', TODAY)
}

describe('absentState', () => {
  const before = planStorage({ vlan: 'untagged' })
  const live = policyOf(before, 'rhoso1')
  const nics = (others: readonly KubeObject[]) => {
    const interfaces = (absentState(live, others)?.['interfaces'] ?? []) as readonly { readonly type: string }[]
    return interfaces.filter(({ type }) => type === 'ethernet')
  }
  const released = [{ name: 'enp7s0', type: 'ethernet', state: 'up', ipv4: { enabled: false } }]

  it('takes the address off a NIC whose untagged network leaves the site file, or whose cloud goes', () => {
    const after = planStorage({ vlan: 40 })
    expect(nics([baseOf(after), policyOf(after, 'rhoso1'), policyOf(after, 'rhoso2')])).toEqual(released)
    expect(nics([baseOf(before), policyOf(before, 'rhoso2')])).toEqual(released)
  })

  it('leaves the address while a policy of the node has addresses of the family on the NIC', () => {
    expect(nics([baseOf(before), live])).toEqual([])
  })
})

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, field]) => [key, sortFields(field)] as const)
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('absentRoutes', () => {
  it('removes the rules and routes of the cloud, and nothing that another policy has', () => {
    const plan = testPlan({ clouds: two, nodes: 1 })
    const policy = policyOf(plan, 'rhoso2')
    const absent = absentRoutes(policy, [policyOf(plan, 'rhoso1')]) as {
      readonly routes: { readonly config: readonly Record<string, unknown>[] }
      readonly 'route-rules': { readonly config: readonly Record<string, unknown>[] }
    }
    expect(absent.routes.config).toHaveLength(7)
    expect(absent['route-rules'].config).toHaveLength(7)
    expect(absent.routes.config[1]).toMatchObject({ destination: '172.17.1.0/24', state: 'absent' })
    expect(absentRoutes(policy, [policy])).toEqual({ routes: null, 'route-rules': null })
  })

  it('keeps what another policy has, whatever the order of its fields', () => {
    const policy = policyOf(testPlan({ nodes: 1 }), 'rhoso1')
    expect(absentRoutes(policy, [sortFields(policy) as KubeObject])).toEqual({ routes: null, 'route-rules': null })
  })

  it('removes a route on an interface that stays, and leaves one to go with its interface', () => {
    const vlan = (name: string) => ({ name, type: 'vlan', state: 'up' })
    const via = (name: string) => ({ destination: '10.9.0.0/24', 'next-hop-interface': name })
    const policyWith = (interfaces: readonly object[], routes: readonly object[]): KubeObject => ({
      apiVersion: 'nmstate.io/v1',
      kind: 'NodeNetworkConfigurationPolicy',
      metadata: { name: 'p' },
      spec: { desiredState: { interfaces, routes: { config: routes } } },
    })
    const live = policyWith([vlan('a'), vlan('b')], [via('a'), via('b')])
    expect(absentState(live, [policyWith([vlan('a')], [])])).toEqual({
      interfaces: [{ name: 'b', type: 'vlan', state: 'absent' }],
      routes: { config: [{ ...via('a'), state: 'absent' }] },
      'route-rules': null,
    })
    expect(absentState(live, [live])).toBeUndefined()
  })
})
