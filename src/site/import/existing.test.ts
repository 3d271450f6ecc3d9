import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFile } from '../../api/site.ts'
import type { Snapshot } from '../../api/snapshot.ts'
import { readYamlStream } from '../../yaml/read.ts'
import { readSite } from '../read.ts'
import { importArchitecture } from './architecture.ts'
import { importCluster } from './cluster.ts'
import * as problems from './findings/existing.ts'
import type { Imported } from './imported-site.ts'

const fixtures = path.join(import.meta.dirname, '__fixtures__')
const values = ['values-1.yaml', 'values-2.yaml'].map((file) => ({
  file,
  text: readFileSync(path.join(fixtures, file), 'utf8'),
}))
const snapshot: Snapshot = { objects: dumpedObjects(path.join(fixtures, 'cluster')), unread: [] }

function dumpedObjects(folder: string): readonly KubeObject[] {
  const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))
  const documents = texts.flatMap((text) => readYamlStream(text, folder).map(({ value }) => value as KubeObject))
  return documents.flatMap((document) => {
    const { items, kind, apiVersion } = document as KubeObject & {
      readonly items?: readonly Partial<KubeObject>[]
    }
    return items?.map((item) => ({ apiVersion, kind: kind.replace(/List$/, ''), ...item }) as KubeObject) ?? [document]
  })
}

describe('importing network-values files', () => {
  it('gives one cloud per file, with all four allocators of each network', async () => {
    const clouds = [
      { name: 'rhoso1', namespace: 'openstack' },
      { name: 'rhoso2', namespace: 'openstack2' },
    ]
    const { text, findings } = importArchitecture(values, { name: 'two', clouds })
    expect(findings).toEqual([])
    expect(readSite(text ?? '', 'site.yaml').findings).toEqual([])
    await expect(text).toMatchFileSnapshot('__golden__/architecture.yaml')
  })
})

describe('importing node sets', () => {
  const nodeSetValues = ['node-set-1.yaml', 'node-set-2.yaml'].map((file) => ({
    file,
    text: readFileSync(path.join(fixtures, file), 'utf8'),
  }))

  it('reads the values files that follow the network values of their cloud', () => {
    const [first, second] = values
    const sources = [first, ...nodeSetValues, second].flatMap((source) => source ?? [])
    const { text = '', findings } = importArchitecture(sources, { name: 'two' })
    expect(readSite(text, 'site.yaml').findings).toEqual([])
    const [cloud, other] = (parse(text) as SiteFile).spec.clouds
    expect(other?.nodeSets).toBeUndefined()
    expect(cloud?.services?.['nova']).toEqual({ cells: ['cell1', 'cell2'] })
    expect(cloud?.nodeSets).toEqual([
      {
        name: 'edpm-nodeset',
        cell: 'cell2',
        networks: ['ctlplane', 'internalapi'],
        ansibleUser: 'cloud-admin',
        services: ['bootstrap', 'ovn', 'libvirt', 'nova-cell2'],
        ansibleVars: {
          edpm_kernel_args: 'iommu=pt',
          edpm_bootstrap_command: expect.stringContaining('rhsm_password'),
        },
      },
      {
        name: 'networker-nodeset',
        services: ['bootstrap', 'ovn', 'neutron-metadata'],
        ansibleVars: { edpm_enable_chassis_gw: true },
        baremetalSetTemplate: { ctlplaneInterface: 'eno2', bmhLabelSelector: { app: 'openstack-networker' } },
      },
    ])
    expect(cloud?.hosts).toEqual([
      { name: 'edpm-compute-0', nodeSet: 'edpm-nodeset', addresses: { ctlplane: '192.168.122.100' } },
      {
        name: 'edpm-compute-1',
        nodeSet: 'edpm-nodeset',
        ansibleHost: '192.168.122.101',
        overrides: { hostName: 'compute-one', ansible: { ansibleVars: { rack: 2 } } },
      },
      { name: 'edpm-networker-0', nodeSet: 'networker-nodeset', overrides: { bmhLabelSelector: { rack: 'a1' } } },
    ])
    expect(text).not.toContain('hunter2')
    const leftOut = findings.map(({ message, where }) => `${where && 'line' in where ? where.line : ''} ${message}`)
    expect(leftOut.map((line) => line.replace(/ was left out.*/, ''))).toEqual([
      '9 data.ssh_keys',
      '12 data.nova.migration',
      '23 the Ansible variable edpm_container_registry_logins',
      '29 the network nowhere of edpm-nodeset',
    ])
  })

  it('reads those of a cluster, with the addresses and cells that the hosts have', () => {
    const dataPlane = 'dataplane.openstack.org/v1beta1'
    const metadata = (name: string) => ({ name, namespace: 'openstack' })
    const objects: readonly KubeObject[] = [
      ...snapshot.objects,
      {
        apiVersion: dataPlane,
        kind: 'OpenStackDataPlaneNodeSet',
        metadata: metadata('computes'),
        spec: {
          preProvisioned: true,
          tlsEnabled: true,
          tags: ['x'],
          services: ['ovn', 'nova-custom'],
          nodeTemplate: {
            ansibleSSHPrivateKeySecret: 'keys',
            managementNetwork: 'ctlplane',
            networks: [{ name: 'internalapi', subnetName: 'subnet1' }],
            ansible: { ansibleVars: { password: 'hunter2', own: 1 } },
          },
          nodes: { 'compute-0': { hostName: 'compute-0' } },
        },
      },
      {
        apiVersion: dataPlane,
        kind: 'OpenStackDataPlaneService',
        metadata: metadata('nova-custom'),
        spec: { dataSources: [{ secretRef: { name: 'nova-cell3-compute-config' } }] },
      },
      {
        apiVersion: 'network.openstack.org/v1beta1',
        kind: 'IPSet',
        metadata: metadata('compute-0'),
        status: { reservations: [{ network: 'internalapi', address: '172.17.0.123' }] },
      },
    ]
    const { text = '', findings } = importCluster({ ...snapshot, objects }, { name: 'live' })
    const [cloud] = (parse(text) as SiteFile).spec.clouds
    expect(cloud?.nodeSets).toEqual([
      {
        name: 'computes',
        cell: 'cell3',
        networks: ['internalapi'],
        sshSecret: 'keys',
        services: ['ovn', 'nova-custom'],
        ansibleVars: { own: 1 },
        overrides: { tags: ['x'], networkAttachments: null },
      },
    ])
    expect(cloud?.hosts).toEqual([
      { name: 'compute-0', nodeSet: 'computes', addresses: { internalapi: '172.17.0.123' } },
    ])
    expect(text).not.toContain('hunter2')
    expect(findings.find(({ code }) => code === 'SL2092')?.where).toMatchObject({
      name: 'computes',
      path: 'spec.nodeTemplate.ansible.ansibleVars.password',
    })
  })
})

describe('importing a cluster', () => {
  it('imports pools, attachments, policies, NetConfigs and VIPs of every cloud', async () => {
    const { text, findings } = importCluster(snapshot, { name: 'live' })
    expect(findings.map(({ code }) => code)).toEqual(['SL2095', 'SL2097'])
    expect(readSite(text ?? '', 'site.yaml').findings).toEqual([])
    await expect(text).toMatchFileSnapshot('__golden__/cluster.yaml')
  })

  it('reserves excludeAddresses, exclude, and pod addresses outside their range', () => {
    const site = parse(importCluster(snapshot, { name: 'live' }).text ?? '') as SiteFile
    expect(site.spec.clouds[0]?.networks?.['internalapi']).toMatchObject({
      subnets: [
        {
          reserved: ['172.17.0.110', '172.17.0.112', '172.17.0.40', '172.17.0.48-172.17.0.51', '172.17.0.75'],
        },
      ],
    })
  })

  it('imports one namespace only when it is named', () => {
    const { text = '' } = importCluster(snapshot, { name: 'live', namespaces: ['openstack2'] })
    expect((parse(text) as SiteFile).spec.clouds.map(({ namespace }) => namespace)).toEqual(['openstack2'])
  })

  it('gives the same file for any order of the objects', () => {
    const reversed = { ...snapshot, objects: [...snapshot.objects].reverse() }
    expect(importCluster(reversed, { name: 'live' })).toEqual(importCluster(snapshot, { name: 'live' }))
  })

  it('survives objects of any shape', () => {
    const odd = (kind: string, apiVersion: string, rest: object): KubeObject => ({
      apiVersion,
      kind,
      metadata: { name: 'x', namespace: 'y' },
      ...rest,
    })
    for (const spec of [null, [], 'text', { networks: [null, 3, { name: 'a', subnets: 'x' }] }, { config: '{' }]) {
      const objects = [
        odd('NetConfig', 'network.openstack.org/v1beta1', { spec }),
        odd('NetworkAttachmentDefinition', 'k8s.cni.cncf.io/v1', { spec }),
        odd('IPAddressPool', 'metallb.io/v1beta1', { spec }),
        odd('NodeNetworkConfigurationPolicy', 'nmstate.io/v1', { spec }),
        odd('Service', 'v1', { spec, status: spec }),
      ]
      expect(() => importCluster({ objects, unread: [] }, { name: 'x' })).not.toThrow()
    }
  })
})

function valuesWith(data: object): Imported {
  const text = stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'network-values' }, data })
  return importArchitecture([{ file: 'values.yaml', text }], { name: 'x' })
}

const internalapi = {
  iface: 'internalapi',
  base_iface: 'enp7s0',
  vlan: 20,
  subnets: [{ cidr: '172.17.0.0/24' }],
}

/** For every problem, something to import that has it. */
const triggers: Readonly<Record<keyof typeof problems, () => Imported>> = {
  notNetworkValues: () => importArchitecture([{ file: 'a.yaml', text: 'kind: Pod\n' }], { name: 'x' }),
  badAttachment: () => valuesWith({ internalapi: { ...internalapi, 'net-attach-def': '{' } }),
  valueLeftOut: () => valuesWith({ ctlplane: { ...internalapi, base_iface: undefined } }),
  subnetGuessed: () =>
    valuesWith({ internalapi: { ...internalapi, subnets: [], lb_addresses: ['172.34.0.80-172.34.0.90'] } }),
  noClouds: () => importCluster({ objects: [], unread: [] }, { name: 'x' }),
  poolForeign: () => importCluster(snapshot, { name: 'x' }),
  nicUnknown: () => valuesWith({ internalapi: { vlan: 20, subnets: [{ cidr: '172.17.0.0/24' }] } }),
  serviceUnpinned: () => importCluster(snapshot, { name: 'x' }),
}

describe('every problem of an import', () => {
  const listed = Object.entries(problems) as [keyof typeof problems, { readonly code: string }][]

  it.each(listed.map(([name, { code }]) => [code, name] as const))('%s is found', (code, name) => {
    expect(triggers[name]().findings.map((finding) => finding.code)).toContain(code)
  })
})
