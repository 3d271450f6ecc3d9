/**
 * The networking page of 2023, example by example, out of `examples/networking-2023.yaml` in the form of that time.
 *
 * What differs, and why: pools and their advertisements are named `<namespace>-<network>`, serve that namespace alone
 * and give nothing unasked, because two clouds cannot have two pools of one name; a policy is for one node, because
 * nodes have addresses of their own; the page's misspelt `networkAttachents` is `networkAttachments` in the CRD; an
 * individual endpoint has a definition of its own (`internalapi-static`), because one definition cannot give addresses
 * in two ways.
 */
import { describe, expect, it } from 'vitest'
import { planExample } from '../../test/examples.ts'
import type { KubeObject } from '../api/object.ts'
import { networksAnnotation } from './multus.ts'
import { renderDocuments } from './render.ts'

const plan = planExample('networking-2023')
const objects = renderDocuments(plan).map(({ object }) => object)

function find(kind: string, name: string): KubeObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === name)
}

function specOf<Spec>(kind: string, name: string): Spec {
  return find(kind, name)?.['spec'] as Spec
}

describe('document 002', () => {
  it('renders its table of networks', () => {
    const table = plan.clouds[0]?.networks.map(({ name, vlan, subnets }) => {
      const span = (role: string): string | undefined => {
        const found = subnets[0]?.spans.find((span) => span.role === role)
        return found && `${found.start}-${found.end}`
      }
      return [name, subnets[0]?.cidr, vlan, span('pods'), span('vips')]
    })
    expect(table).toEqual([
      ['ctlplane', '192.168.122.0/24', undefined, undefined, undefined],
      ['internalapi', '172.17.0.0/24', 20, '172.17.0.30-172.17.0.70', '172.17.0.80-172.17.0.90'],
      ['storage', '172.18.0.0/24', 21, '172.18.0.30-172.18.0.70', undefined],
      ['tenant', '172.19.0.0/24', 22, '172.19.0.30-172.19.0.70', undefined],
    ])
  })

  it('renders its node policy: VLANs without addresses, the address on the NIC', () => {
    const policies = objects.filter((object) => object.kind === 'NodeNetworkConfigurationPolicy')
    const interfaces = policies.flatMap(
      (policy) =>
        (policy['spec'] as { desiredState: { interfaces: readonly Record<string, unknown>[] } }).desiredState
          .interfaces,
    )
    for (const id of [20, 21, 22]) {
      expect(interfaces.find((iface) => iface['name'] === `enp6s0.${id}`)).toMatchObject({
        state: 'up',
        type: 'vlan',
        vlan: { 'base-iface': 'enp6s0', id },
        ipv4: { enabled: false },
        ipv6: { enabled: false },
      })
    }
    expect(interfaces.findLast((iface) => iface['name'] === 'enp6s0')).toMatchObject({
      state: 'up',
      type: 'ethernet',
      mtu: 1500,
      ipv4: { enabled: true, address: [{ ip: '192.168.122.10', 'prefix-length': 24 }] },
      ipv6: { enabled: false },
    })
  })

  it.each([
    ['internalapi', 'enp6s0.20', '172.17.0'],
    ['storage', 'enp6s0.21', '172.18.0'],
  ])('renders its definition of %s', (name, master, prefix) => {
    const { config } = specOf<{ config: string }>('NetworkAttachmentDefinition', name)
    expect(find('NetworkAttachmentDefinition', name)?.metadata.namespace).toBe('openstack')
    expect(JSON.parse(config)).toEqual({
      cniVersion: '0.3.1',
      name,
      type: 'macvlan',
      master,
      ipam: {
        type: 'whereabouts',
        range: `${prefix}.0/24`,
        range_start: `${prefix}.30`,
        range_end: `${prefix}.70`,
        network_name: `openstack-${name}`,
      },
    })
  })

  it('renders its pool and advertisement under unique names', () => {
    expect(specOf('IPAddressPool', 'openstack-internalapi')).toEqual({
      addresses: ['172.17.0.80-172.17.0.90'],
      autoAssign: false,
      avoidBuggyIPs: false,
      serviceAllocation: { namespaces: ['openstack'] },
    })
    expect(specOf('L2Advertisement', 'openstack-internalapi')).toMatchObject({
      ipAddressPools: ['openstack-internalapi'],
      interfaces: ['enp6s0.20'],
    })
  })

  it('renders its external endpoint of a service, with the default sharing key', () => {
    const spec = specOf<{ keystone: unknown }>('OpenStackControlPlane', 'controlplane')
    expect(spec.keystone).toMatchObject({
      template: {
        externalEndpoints: [
          {
            endpoint: 'internal',
            ipAddressPool: 'openstack-internalapi',
            loadBalancerIPs: ['172.17.0.80'],
            sharedIP: true,
            sharedIPKey: '',
          },
        ],
      },
    })
  })

  it('renders its two RabbitMQs, each with its own address', () => {
    const spec = specOf<{ rabbitmq: unknown }>('OpenStackControlPlane', 'controlplane')
    const endpoint = (address: string) => ({
      externalEndpoint: {
        ipAddressPool: 'openstack-internalapi',
        loadBalancerIPs: [address],
        sharedIP: false,
      },
    })
    expect(spec.rabbitmq).toMatchObject({
      templates: { rabbitmq: endpoint('172.17.0.85'), 'rabbitmq-cell1': endpoint('172.17.0.86') },
    })
  })

  it('renders its two examples of Glance: exposed on internalapi, attached to storage', () => {
    const spec = specOf<{ glance: unknown }>('OpenStackControlPlane', 'controlplane')
    expect(spec.glance).toMatchObject({
      template: {
        glanceAPIInternal: {
          externalEndpoints: [
            {
              endpoint: 'internal',
              ipAddressPool: 'openstack-internalapi',
              loadBalancerIPs: ['172.17.0.80'],
            },
          ],
          networkAttachments: ['storage'],
        },
        glanceAPIExternal: { networkAttachments: ['storage'] },
      },
    })
  })

  it('renders its DNS servers and the names of the hosts', () => {
    const spec = specOf<{ dns: unknown }>('OpenStackControlPlane', 'controlplane')
    expect(spec.dns).toMatchObject({ template: { options: [{ key: 'server', values: ['192.168.122.1'] }] } })
    const { hosts } = specOf<{ hosts: readonly { hostnames: readonly string[]; ip: string }[] }>(
      'DNSData',
      'data-plane-hosts',
    )
    const names = Object.fromEntries(hosts.map(({ ip, hostnames }) => [ip, hostnames]))
    expect(names['192.168.122.100']).toEqual(expect.arrayContaining(['edpm-compute-0.ctlplane', 'edpm-compute-0']))
    expect(names['172.19.0.101']).toContain('edpm-compute-1.tenant')
  })

  it('renders its NetConfig in the spelling of 2023, with ranges that overlap no other', () => {
    const { networks } = specOf<{ networks: readonly { name: string }[] }>('NetConfig', 'netconfig')
    expect(networks.map((network) => network.name)).toEqual(['CtlPlane', 'InternalApi', 'Storage', 'Tenant'])
  })

  it('renders its individual endpoint: a static definition, and an annotation with the address', () => {
    const { config } = specOf<{ config: string }>('NetworkAttachmentDefinition', 'internalapi-static')
    expect(JSON.parse(config)).toMatchObject({ capabilities: { ips: true }, ipam: { type: 'static' } })
    expect(networksAnnotation([{ name: 'internalapi', namespace: 'openstack', ips: ['172.17.0.20/24'] }])).toBe(
      '[{"name":"internalapi","namespace":"openstack","ips":["172.17.0.20/24"]}]',
    )
  })
})
