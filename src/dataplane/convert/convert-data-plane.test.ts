import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { novaExternalComputes } from '../kinds/nova.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { convertDataPlane, type RoleNodeDataPlane } from './convert-data-plane.ts'
import { convertToSite } from './convert-to-site.ts'

const namespace = 'openstack'
const version = 'dataplane.openstack.org/v1beta1'
const role = {
  apiVersion: version,
  kind: 'OpenStackDataPlaneRole',
  metadata: { name: 'edpm-compute', namespace, annotations: { 'nova.openstack.org/cell': 'nova-cell1' } },
  spec: {
    preProvisioned: true,
    nodeTemplate: {
      ansiblePort: 22,
      ansibleUser: 'cloud-admin',
      ansibleVars: 'timesync_ntp_servers: [{hostname: pool.ntp.org}]\n',
      networkConfig: { template: 'network_config: []\n' },
      ansibleSSHPrivateKeySecret: 'dataplane-ansible-ssh-private-key-secret',
    },
  },
}
const node = (name: string, address: string, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: version,
  kind: 'OpenStackDataPlaneNode',
  metadata: { name, namespace, annotations },
  spec: { hostName: name, role: 'edpm-compute', ansibleHost: address },
})
const example: RoleNodeDataPlane = {
  roles: [role],
  nodes: [
    node('edpm-compute-0', '192.168.122.100'),
    node('edpm-compute-1', '192.168.122.101', { 'nova.openstack.org/cell': 'nova-cell2' }),
  ],
  services: [],
  serviceObjects: [],
}

const named = (objects: readonly KubeObject[], kind: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    objects
      .filter((object) => object.kind.endsWith(kind))
      .map((object) => [object.metadata.name, object['spec'] ?? object['data']]),
  )

describe('convertDataPlane', () => {
  it('creates a NodeSet for each cell of a role, with the nova service of that cell', () => {
    const { objects, findings } = convertDataPlane(example)
    expect(findings).toEqual([])
    const sets = named(objects, 'NodeSet')
    expect(sets).toMatchObject({
      'edpm-compute-nova-cell1': {
        nodes: {
          'edpm-compute-0': { hostName: 'edpm-compute-0', ansible: { ansibleHost: '192.168.122.100' } },
        },
        services: expect.arrayContaining(['libvirt', 'nova-of-nova-cell1']),
      },
      'edpm-compute-nova-cell2': { services: expect.arrayContaining(['nova-of-nova-cell2']) },
    })
    expect(named(objects, 'Service')).toMatchObject({
      'nova-of-nova-cell2': { dataSources: [{ secretRef: { name: 'nova-cell2-compute-config' } }, {}] },
    })
    expect(Object.values(named(objects, 'Deployment'))).toEqual([
      { nodeSets: ['edpm-compute-nova-cell1', 'edpm-compute-nova-cell2'] },
    ])
  })

  it('uses the name of the role when its nodes share one NodeSet', () => {
    const alike = { ...example, nodes: example.nodes.slice(0, 1) }
    expect(Object.keys(named(convertDataPlane(alike).objects, 'NodeSet'))).toEqual(['edpm-compute'])
  })

  it('converts variables and the network template', () => {
    const [set] = Object.values(named(convertDataPlane(example).objects, 'NodeSet'))
    expect(set).toMatchObject({
      nodeTemplate: {
        ansible: {
          ansibleUser: 'cloud-admin',
          ansiblePort: 22,
          ansibleVars: {
            timesync_ntp_servers: [{ hostname: 'pool.ntp.org' }],
            edpm_network_config_template: 'network_config: []\n',
          },
        },
      },
    })
  })

  it('creates a NodeSet for a node with customServiceConfig, and keeps it byte for byte', () => {
    const text = '[libvirt]\ncpu_mode = host-passthrough\n'
    const compute: ServiceObject = {
      ...novaExternalComputes,
      metadata: { name: 'edpm-compute-0', namespace },
      spec: { customServiceConfig: text },
    }
    const together = {
      ...example,
      nodes: ['0', '1'].map((n) => node(`edpm-compute-${n}`, `192.168.122.10${n}`)),
    }
    const { objects } = convertDataPlane({ ...together, serviceObjects: [compute] })
    expect(Object.keys(named(objects, 'NodeSet'))).toHaveLength(2)
    expect(Object.values(named(objects, 'ConfigMap'))).toEqual([{ '25-nova-custom.conf': text }])
    const services = Object.values(named(objects, 'Service')) as { readonly dataSources: readonly object[] }[]
    expect(services.map(({ dataSources }) => dataSources.length).toSorted((a, b) => a - b)).toEqual([2, 3])
  })

  it('omits nova for a node that is not a compute node', () => {
    const plain = {
      ...example,
      nodes: [node('edpm-compute-0', '192.168.122.100', { 'nova.openstack.org/cell': '' })],
    }
    const [set] = Object.values(named(convertDataPlane(plain).objects, 'NodeSet')) as { services: string[] }[]
    expect(set?.services).not.toContain('libvirt')
  })

  it('reports what cannot be converted', () => {
    const odd = {
      ...example,
      roles: [{ ...role, spec: { ...role.spec, preProvisioned: false } }],
      nodes: [
        { ...node('a', '192.0.2.1'), spec: { role: 'missing' } },
        { ...node('b', '192.0.2.2'), spec: { role: 'edpm-compute', networkAttachments: ['ctlplane'] } },
      ],
    }
    expect(convertDataPlane(odd).findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('its role missing does not exist'),
      expect.stringContaining('no baremetalSetTemplate'),
      expect.stringContaining('networkAttachments'),
    ])
  })
})

describe('convertToSite', () => {
  it('gives hosts and nodeSets of a site file, with the cell and the nova configuration of each', () => {
    const compute: ServiceObject = {
      ...novaExternalComputes,
      metadata: { name: 'edpm-compute-1', namespace },
      spec: { customServiceConfig: '[libvirt]\ncpu_mode = host-passthrough\n' },
    }
    const { cloud, findings } = convertToSite(convertDataPlane({ ...example, serviceObjects: [compute] }))
    expect(findings).toEqual([])
    expect(cloud.services).toEqual({ nova: { cells: ['cell1', 'cell2'] } })
    expect(cloud.hosts).toMatchObject([
      { name: 'edpm-compute-0', nodeSet: 'edpm-compute-nova-cell1', ansibleHost: '192.168.122.100' },
      { name: 'edpm-compute-1', nodeSet: 'edpm-compute-nova-cell2', ansibleHost: '192.168.122.101' },
    ])
    expect(cloud.nodeSets).toMatchObject([
      {
        name: 'edpm-compute-nova-cell1',
        services: expect.arrayContaining(['nova-cell1']),
        ansibleVars: { timesync_ntp_servers: [{ hostname: 'pool.ntp.org' }] },
      },
      {
        name: 'edpm-compute-nova-cell2',
        cell: 'cell2',
        services: expect.arrayContaining(['nova-of-edpm-compute-nova-cell2']),
        novaConfig: '[libvirt]\ncpu_mode = host-passthrough\n',
      },
    ])
  })

  it('reports services that a site file cannot define', () => {
    const custom = {
      apiVersion: version,
      kind: 'OpenStackDataPlaneService',
      metadata: { name: 'repo-setup', namespace },
      spec: { play: '- hosts: all\n' },
    }
    const { findings } = convertToSite(convertDataPlane({ ...example, services: [custom] }))
    expect(findings.map(({ message }) => message)).toEqual([expect.stringContaining('repo-setup')])
  })
})
