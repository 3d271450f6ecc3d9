/**
 * The numbers of two clouds as install_yamls and its multi-cloud fork have them: pools, definitions, VLANs,
 * advertisements and the three patched paths, out of `examples/two-clouds.yaml`.
 *
 * What differs, and why: a pool gives nothing unasked (`autoAssign: false`); node networking is one policy per cloud and
 * node, beside a base policy; whereabouts gets `network_name`, so that clouds never share a count; annotations come in
 * both spellings, with the address, so that nothing has to be patched later.
 */
import { describe, expect, it } from 'vitest'
import { planExample } from '../../test/examples.ts'
import type { KubeObject } from '../api/object.ts'
import { renderDocuments } from './render.ts'

const documents = renderDocuments(planExample('two-clouds'))

function objects(kind: string, cloud = 'rhoso1'): readonly KubeObject[] {
  return documents
    .filter((document) => document.cloud === cloud && document.object.kind === kind)
    .map(({ object }) => object)
}

function byName<Value>(kind: string, read: (spec: Record<string, unknown>) => Value): Record<string, Value> {
  return Object.fromEntries(
    objects(kind).map((object) => [object.metadata.name, read(object['spec'] as Record<string, unknown>)]),
  )
}

describe("document 000's first cloud", () => {
  it('has its namespace, privileged', () => {
    expect(objects('Namespace')[0]?.metadata).toMatchObject({
      name: 'openstack',
      labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
    })
  })

  it('has five pools with the prefix of its namespace, each scoped to it', () => {
    expect(byName('IPAddressPool', (spec) => spec['addresses'])).toEqual({
      'openstack-ctlplane': ['192.168.122.80-192.168.122.90'],
      'openstack-internalapi': ['172.17.0.80-172.17.0.90'],
      'openstack-storage': ['172.18.0.80-172.18.0.90'],
      'openstack-tenant': ['172.19.0.80-172.19.0.90'],
      'openstack-designateext': ['172.50.0.80-172.50.0.90'],
    })
    for (const pool of objects('IPAddressPool')) {
      expect(pool.metadata.namespace).toBe('metallb-system')
      expect(pool['spec']).toMatchObject({
        avoidBuggyIPs: false,
        serviceAllocation: { namespaces: ['openstack'] },
      })
    }
  })

  it('announces each pool on the interface of its network', () => {
    const found = byName('L2Advertisement', ({ ipAddressPools, interfaces }) => ({
      ipAddressPools,
      interfaces,
    }))
    expect(found).toEqual(
      Object.fromEntries(
        [
          ['ctlplane', 'ospbr'],
          ['internalapi', 'enp6s0.20'],
          ['storage', 'enp6s0.21'],
          ['tenant', 'enp6s0.22'],
          ['designateext', 'enp6s0.26'],
        ].map(([network, carrier]) => {
          const pool = `openstack-${network}`
          return [pool, { ipAddressPools: [pool], interfaces: [carrier] }]
        }),
      ),
    )
  })

  it('has eight definitions with their masters', () => {
    const masters = byName('NetworkAttachmentDefinition', ({ config }) => {
      const { type, master, bridge, ipam } = JSON.parse(String(config)) as Record<string, unknown>
      return { type, on: master ?? bridge, range: (ipam as Record<string, unknown>)['range'] }
    })
    expect(masters).toEqual({
      ctlplane: { type: 'macvlan', on: 'ospbr', range: '192.168.122.0/24' },
      internalapi: { type: 'macvlan', on: 'enp6s0.20', range: '172.17.0.0/24' },
      storage: { type: 'macvlan', on: 'enp6s0.21', range: '172.18.0.0/24' },
      tenant: { type: 'macvlan', on: 'enp6s0.22', range: '172.19.0.0/24' },
      storagemgmt: { type: 'macvlan', on: 'enp6s0.23', range: '172.20.0.0/24' },
      designate: { type: 'macvlan', on: 'enp6s0.25', range: '172.28.0.0/24' },
      designateext: { type: 'macvlan', on: 'enp6s0.26', range: '172.50.0.0/24' },
      datacentre: { type: 'bridge', on: 'ospbr', range: undefined },
    })
  })

  it('has VLANs 20, 21, 22, 23, 25 and 26 on the worker, and ospbr', () => {
    const [policy] = objects('NodeNetworkConfigurationPolicy')
    const { interfaces } = (
      (policy as KubeObject)['spec'] as { desiredState: { interfaces: readonly Record<string, unknown>[] } }
    ).desiredState
    expect(interfaces.map((iface) => iface['name'])).toEqual([
      'ospbr',
      ...[20, 21, 22, 23, 25, 26].map((id) => `enp6s0.${id}`),
    ])
    expect(interfaces[1]).toMatchObject({
      type: 'vlan',
      state: 'up',
      vlan: { 'base-iface': 'enp6s0', id: 20 },
      ipv4: { enabled: true, address: [{ ip: '172.17.0.10', 'prefix-length': 24 }] },
    })
  })

  it.each([
    ['keystone.template.override.service.internal', '172.17.0.80', 'openstack-internalapi'],
    ['nova.template.apiServiceTemplate.override.service.internal', '172.17.0.80', 'openstack-internalapi'],
    // A RabbitMQ's ports are those of the next one: it shares with nobody.
    ['rabbitmq.templates.rabbitmq.override.service', '172.17.0.85', undefined],
  ])('has the patched path %s from the start', (path, address, key) => {
    const [controlPlane] = objects('OpenStackControlPlane')
    const value = path
      .split('.')
      .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], controlPlane?.['spec'])
    const { annotations } = (value as { metadata: { annotations: Record<string, string> } }).metadata
    expect(annotations['metallb.universe.tf/address-pool']).toBe('openstack-internalapi')
    expect(annotations['metallb.universe.tf/allow-shared-ip']).toBe(key)
    expect(annotations['metallb.universe.tf/loadBalancerIPs']).toBe(address)
  })

  it('runs what the document lists, databases in threes', () => {
    const [controlPlane] = objects('OpenStackControlPlane')
    const spec = controlPlane?.['spec'] as Record<string, { enabled?: boolean; templates?: Record<string, unknown> }>
    const on = Object.keys(spec).filter((name) => spec[name]?.enabled)
    expect(on).toEqual([
      'galera',
      'rabbitmq',
      'memcached',
      'dns',
      'keystone',
      'placement',
      'glance',
      'ovn',
      'neutron',
      'nova',
    ])
    expect(spec['galera']?.templates).toMatchObject({
      openstack: { replicas: 3 },
      'openstack-cell1': { replicas: 3 },
    })
  })
})

describe("document 000's second cloud", () => {
  it('has subnets and pools of its own, and VLANs that are not those of the first', () => {
    const pools = objects('IPAddressPool', 'rhoso2').map(
      (object) => (object['spec'] as { addresses: readonly string[] }).addresses,
    )
    expect(pools).toContainEqual(['172.27.0.80-172.27.0.90'])
    expect(pools).toContainEqual(['172.29.0.80-172.29.0.90'])
    expect(pools).toContainEqual(['172.31.0.80-172.31.0.90'])
    const names = (cloud: string): readonly unknown[] =>
      objects('NodeNetworkConfigurationPolicy', cloud).flatMap((policy) =>
        (policy['spec'] as { desiredState: { interfaces: readonly { name: string }[] } }).desiredState.interfaces.map(
          (iface) => iface.name,
        ),
      )
    expect(names('rhoso2').filter((name) => names('rhoso1').includes(name))).toEqual([])
  })
})
