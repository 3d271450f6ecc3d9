import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { planText } from '../../../test/site.ts'
import type { SiteFile, SiteFileCloud } from '../../api/site.ts'
import { readSite } from '../read.ts'
import { importArchitecture } from './architecture.ts'
import { selectValuesFiles } from './architecture-values.ts'
import type { Imported, ImportSource } from './imported-site.ts'

function values(file: string, name: string, data: object): ImportSource {
  return { file, text: stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) }
}

/** Two leaves: the nodes of the cluster are on the first, hosts on both. */
function networkValues(file = 'nncp/values.yaml', third = 17): ImportSource {
  const subnet = (leaf: number, prefix: string) => ({
    name: `subnet${leaf}`,
    cidr: `${prefix}.0/24`,
    gateway: `${prefix}.1`,
    allocationRanges: [{ start: `${prefix}.100`, end: `${prefix}.120` }],
  })
  return values(file, 'network-values', {
    node_0: { name: 'master-0', ctlplane_ip: '192.168.122.10', internalapi_ip: `172.${third}.0.10` },
    ctlplane: { iface: 'enp7s0', mtu: 1500, subnets: [subnet(1, '192.168.122'), subnet(2, '192.168.123')] },
    internalapi: {
      iface: 'internalapi',
      base_iface: 'enp7s0',
      vlan: 20,
      subnets: [
        { ...subnet(1, `172.${third}.0`), vlan: 20 },
        { ...subnet(2, `172.${third}.1`), vlan: 30 },
      ],
    },
  })
}

function host(name: string, ctlplane: string | undefined, subnetName = 'subnet1') {
  const fixedIP = ctlplane === undefined ? {} : { fixedIP: ctlplane }
  return {
    hostName: name,
    networks: [
      { name: 'ctlplane', subnetName, defaultRoute: true, ...fixedIP },
      { name: 'internalapi', subnetName },
    ],
  }
}

function bareMetalHost(name: string, address: string, subnetName: string) {
  return {
    ...host(name, address, subnetName),
    bmhLabelSelector: { nodeName: name },
    networkData: { name: `${name}-network-data`, namespace: 'openstack' },
    ansible: { ansibleHost: address },
  }
}

function nodeSetValues(file: string, data: object, name = 'edpm-nodeset-values'): ImportSource {
  return values(file, name, data)
}

function importClouds(sources: readonly ImportSource[]): { readonly clouds: readonly SiteFileCloud[] } & Imported {
  const imported = importArchitecture(sources, { name: 'test' })
  expect(readSite(imported.text ?? '', 'site.yaml').findings).toEqual([])
  return { ...imported, clouds: (parse(imported.text ?? '') as SiteFile).spec.clouds }
}

describe('values with one entry per bare metal node set', () => {
  const template = 'network_config:\n- {type: interface, name: nic1}\n'
  const leaf = (name: string, address: string, subnetName: string) => ({
    ctlplaneInterface: 'enp5s0',
    edpm_network_config_template: template,
    edpm_ovn_bridge_mappings: ['datacentre:br-ex'],
    timesync_ntp_servers: [{ hostname: 'ntp.example.com' }],
    edpm_root_password: 'hunter2',
    baremetalHostsNetworkData: { [name]: { networkData: 'links: []' } },
    nodes: { [name]: bareMetalHost(name, address, subnetName) },
  })
  const source = nodeSetValues(
    'nodesets/values.yaml',
    {
      network_config_template: template,
      nodeset0: leaf('compute-0-0', '192.168.122.100', 'subnet1'),
      nodeset1: leaf('compute-1-0', '192.168.123.100', 'subnet2'),
    },
    'nodeset-values',
  )

  it('become node sets with their hosts, hardware and Ansible variables', () => {
    const { clouds, text } = importClouds([networkValues(), source])
    const nodeSet = (name: string) => ({
      name,
      networks: ['ctlplane', 'internalapi'],
      ansibleVars: {
        edpm_network_config_template: template,
        edpm_ovn_bridge_mappings: ['datacentre:br-ex'],
        timesync_ntp_servers: [{ hostname: 'ntp.example.com' }],
      },
      baremetalSetTemplate: { ctlplaneInterface: 'enp5s0' },
    })
    expect(clouds[0]?.nodeSets).toEqual([nodeSet('nodeset-0'), nodeSet('nodeset-1')])
    expect(clouds[0]?.hosts?.map(({ name, nodeSet }) => [name, nodeSet])).toEqual([
      ['compute-0-0', 'nodeset-0'],
      ['compute-1-0', 'nodeset-1'],
    ])
    expect(clouds[0]?.hosts?.[1]?.overrides).toEqual({
      bmhLabelSelector: { nodeName: 'compute-1-0' },
      networkData: { name: 'compute-1-0-network-data', namespace: 'openstack' },
    })
    expect(text).not.toContain('hunter2')
  })

  it('report what a site file has no field for, with its place, and nothing that the node sets repeat', () => {
    const { findings } = importClouds([networkValues(), source])
    const leftOut = findings.filter(({ code }) => code === 'SL2092').map(({ message }) => message)
    expect(leftOut).toEqual([
      expect.stringMatching(/^data.nodeset0.baremetalHostsNetworkData was left out: it belongs into the Secret/),
      expect.stringMatching(/^data.nodeset1.baremetalHostsNetworkData was left out/),
      expect.stringMatching(/^the Ansible variable edpm_root_password was left out/),
      expect.stringMatching(/^the Ansible variable edpm_root_password was left out/),
    ])
    // A value that is a mapping begins in the line after its key.
    const line = source.text.split('\n').findIndex((text) => text.includes('baremetalHostsNetworkData')) + 2
    expect(findings.find(({ message }) => message.includes('nodeset0.bare'))?.where).toMatchObject({ line })
  })

  it('keep each host in the subnet that the values name', () => {
    const { clouds, findings, text = '' } = importClouds([networkValues(), source])
    expect(clouds[0]?.hosts?.map(({ addresses }) => addresses)).toEqual([
      { ctlplane: '192.168.122.100' },
      { ctlplane: '192.168.123.100', internalapi: '172.17.1.100' },
    ])
    expect(findings.filter(({ code }) => code === 'SL2098').map(({ message }) => message)).toEqual([
      'hosts of nodeset-1 are in subnet2 of internalapi without an address; 172.17.1.100 was pinned',
    ])
    const planned = planText(text).plan.clouds[0]?.networks.find(({ name }) => name === 'internalapi')?.hosts
    expect(planned?.map(({ name, address }) => [name, address])).toEqual([
      ['compute-0-0', '172.17.0.100'],
      ['compute-1-0', '172.17.1.100'],
    ])
  })
})

describe('several files of node sets', () => {
  const compute = nodeSetValues('edpm/nodeset/values.yaml', {
    nodeset: {
      ansible: { ansibleVars: { edpm_kernel_args: 'iommu=pt', gather_facts: false } },
      nodes: { 'compute-0': host('compute-0', '192.168.122.100') },
      services: ['bootstrap'],
    },
  })

  it('belong to the network values of the folder, also where they come first by name', () => {
    const { sources, findings } = selectValuesFiles('va', [compute, networkValues('nncp/values.yaml')])
    expect(findings).toEqual([])
    const { clouds } = importClouds(sources)
    expect(clouds.map(({ hosts }) => hosts?.map(({ name }) => name))).toEqual([['compute-0']])
    expect(importClouds([compute, networkValues()]).clouds).toHaveLength(1)
  })

  it('belong to the cloud whose folder has the same number', () => {
    const other = nodeSetValues('va/edpm2/nodeset/values.yaml', {
      nodeset: { nodes: { 'compute-1': host('compute-1', undefined) } },
    })
    const { sources } = selectValuesFiles('va', [
      networkValues('va/control-plane/nncp/values.yaml'),
      networkValues('va/control-plane2/nncp/values.yaml', 27),
      { ...compute, file: 'va/edpm/nodeset/values.yaml' },
      other,
    ])
    const { text = '' } = importArchitecture(sources, { name: 'test' })
    const { clouds } = (parse(text) as SiteFile).spec
    expect(clouds.map(({ hosts }) => hosts?.map(({ name }) => name))).toEqual([['compute-0'], ['compute-1']])
  })

  it('change the node set whose hosts or name they have', () => {
    const postCeph = nodeSetValues('values.yaml', {
      nodeset: {
        ansible: { ansibleVars: { gather_facts: true } },
        nodes: { 'compute-0': host('compute-0', '192.168.122.100') },
        services: ['bootstrap', 'ceph-client'],
      },
    })
    const second = nodeSetValues('nodeset2/values.yaml', {
      nodeset: { nodes: { 'compute-1': host('compute-1', '192.168.122.101') }, services: ['bootstrap'] },
    })
    const secondServices = { nodeset: { services: ['bootstrap', 'ovn'] } }
    const { clouds } = importClouds([
      networkValues(),
      compute,
      second,
      nodeSetValues('nodeset2/post-ceph.yaml', secondServices, 'edpm-nodeset2-values-post-ceph'),
      postCeph,
    ])
    expect(clouds[0]?.nodeSets?.map(({ name, services, ansibleVars }) => ({ name, services, ansibleVars }))).toEqual([
      {
        name: 'edpm-nodeset',
        services: ['bootstrap', 'ceph-client'],
        ansibleVars: { edpm_kernel_args: 'iommu=pt', gather_facts: true },
      },
      { name: 'edpm-nodeset-2', services: ['bootstrap', 'ovn'] },
    ])
  })

  it('are reported where no file before has their node set', () => {
    const unknown = nodeSetValues('values.yaml', { nodeset: { ansible: { ansibleVars: { a: 1 } } } }, 'other-values')
    const { clouds, findings } = importClouds([networkValues(), compute, unknown])
    expect(clouds[0]?.nodeSets).toHaveLength(1)
    expect(findings.map(({ message }) => message)).toContainEqual(
      'the node set other was left out: it has no hosts, and no file before it has this node set',
    )
  })

  it('lose their placeholders, and keep texts that only mention one', () => {
    const script = 'echo CHANGEME\n'
    const template = nodeSetValues('edpm/values.yaml', {
      nodeset: {
        ansible: {
          ansibleVars: {
            edpm_bootstrap_command: script,
            repositories: [{ name: 'base' }, { name: 'CHANGEME' }],
            nics: { 'compute-0': { nic1: '_replaced_' } },
          },
        },
        nodes: { 'compute-0': host('compute-0', 'CHANGEME') },
      },
    })
    const { clouds, findings } = importClouds([networkValues(), template])
    expect(clouds[0]?.nodeSets?.[0]?.ansibleVars).toEqual({
      edpm_bootstrap_command: script,
      repositories: [{ name: 'base' }],
    })
    expect(clouds[0]?.hosts).toEqual([{ name: 'compute-0', nodeSet: 'edpm-nodeset' }])
    const [left] = findings.filter(({ code }) => code === 'SL2036')
    expect(left?.message).toMatch(/^3 values are placeholders and were left out: .*nics.compute-0.nic1/)
    expect(left?.where).toMatchObject({ file: 'edpm/values.yaml' })
  })
})
