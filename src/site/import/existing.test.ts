import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { smallSite } from '../../../test/site-files.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFile } from '../../api/site.ts'
import type { Snapshot } from '../../api/snapshot.ts'
import { readYamlStream } from '../../yaml/read.ts'
import { readSite } from '../read.ts'
import { importArchitecture } from './architecture.ts'
import { selectValuesFiles } from './architecture-values.ts'
import { importCluster } from './cluster.ts'
import * as problems from './findings/existing.ts'
import { addClouds, type Imported } from './imported-site.ts'

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
    expect(findings.map(({ code }) => code)).toEqual(['SL2095', 'SL2097', 'SL2099', 'SL2099'])
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

  it('takes the nodes from their policies where the dump has no Nodes', () => {
    const nodesOf = (objects: readonly KubeObject[]): readonly string[] => {
      const { text = '' } = importCluster({ objects, unread: [] }, { name: 'live' })
      expect(readSite(text, 'site.yaml').findings).toEqual([])
      return (parse(text) as SiteFile).spec.cluster.nodes?.map(({ name }) => name) ?? []
    }
    const withoutNodes = snapshot.objects.filter(({ kind }) => kind !== 'Node')
    expect(withoutNodes.length).toBeLessThan(snapshot.objects.length)
    expect(nodesOf(withoutNodes)).toEqual(nodesOf(snapshot.objects))
  })

  it('imports one namespace only when it is named', () => {
    const { text = '' } = importCluster(snapshot, { name: 'live', namespaces: ['openstack2'] })
    expect((parse(text) as SiteFile).spec.clouds.map(({ namespace }) => namespace)).toEqual(['openstack2'])
  })

  it('gives the same file for any order of the objects', () => {
    const reversed = { ...snapshot, objects: [...snapshot.objects].reverse() }
    expect(importCluster(reversed, { name: 'live' })).toEqual(importCluster(snapshot, { name: 'live' }))
  })

  /** The fixture with other interfaces in every policy, by node. */
  const withInterfaces = (change: (interfaces: object[], node: string) => unknown): Imported => {
    const objects = snapshot.objects.map((object) => {
      if (object.kind !== 'NodeNetworkConfigurationPolicy') return object
      const { spec } = structuredClone(object) as unknown as {
        spec: { nodeSelector: Record<string, string>; desiredState: { interfaces: object[] } }
      }
      const interfaces = change(spec.desiredState.interfaces, spec.nodeSelector['kubernetes.io/hostname'] ?? '')
      return {
        ...object,
        spec: { ...spec, desiredState: { interfaces, routes: { config: [{ destination: '::/0' }] } } },
      }
    })
    return importCluster({ objects, unread: [] }, { name: 'live' })
  }
  const nic = (ip: string) => ({ name: 'enp6s0', type: 'ethernet', mtu: 1500, ipv4: { address: [{ ip }] } })

  it('keeps the address of a node that its NIC has below the bridge', () => {
    const { text = '', findings } = withInterfaces((interfaces, node) => [
      ...interfaces.map((each) => ({ ...each, ...('bridge' in each && { ipv4: { enabled: false } }) })),
      nic(node === 'worker-0' ? '192.168.122.10' : '192.168.122.11'),
    ])
    expect((parse(text) as SiteFile).spec.clouds[0]?.networks?.['ctlplane']).toMatchObject({
      nodes: { 'worker-0': '192.168.122.10', 'worker-1': '192.168.122.11' },
    })
    expect(findings.filter(({ code }) => code === 'SL2038')).toHaveLength(2)
  })

  it('reports an MTU, an address and any field of a policy that it does not import', () => {
    const { findings } = withInterfaces((interfaces) => [...interfaces, nic('10.99.0.5')])
    const messages = findings.filter(({ code }) => code === 'SL2092').map(({ message }) => message)
    expect(messages).toEqual([
      expect.stringContaining('10.99.0.5 (worker-0), 10.99.0.5 (worker-1) on enp6s0'),
      expect.stringContaining('NodeNetworkConfigurationPolicy enp6s0-worker-0: spec.desiredState.routes'),
      expect.stringContaining('NodeNetworkConfigurationPolicy enp6s0-worker-1: spec.desiredState.routes'),
      expect.stringContaining('the MTU 1500 of enp6s0'),
    ])
  })

  it('gives a network that only NetConfig has no VLAN and no interface on the nodes', () => {
    const subnets = [
      { name: 'subnet1', cidr: '10.0.0.0/24', allocationRanges: [{ start: '10.0.0.5', end: '10.0.0.9' }] },
    ]
    const netConfig = {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'NetConfig',
      metadata: { name: 'more', namespace: 'openstack' },
      spec: { networks: [{ name: 'external', subnets }] },
    } as unknown as KubeObject
    const { text = '' } = importCluster({ objects: [...snapshot.objects, netConfig], unread: [] }, { name: 'live' })
    const external = (parse(text) as SiteFile).spec.clouds[0]?.networks?.['external']
    expect(external).toMatchObject({ nic: false, attach: 'none', roles: ['hosts'] })
    expect(external).not.toHaveProperty('vlan')
  })

  it('reports unknown fields of pools and attachments', () => {
    const object = (apiVersion: string, kind: string, spec: object): KubeObject =>
      ({ apiVersion, kind, metadata: { name: 'x', namespace: 'openstack' }, spec }) as unknown as KubeObject
    const config = '{"type": "macvlan", "master": "storage", "mode": "private", "ipam": {}}'
    const more = [
      object('metallb.io/v1beta1', 'IPAddressPool', { addresses: ['172.17.0.91/32'], avoidBuggyIPs: true }),
      object('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition', { config }),
    ]
    const { findings } = importCluster({ objects: [...snapshot.objects, ...more], unread: [] }, { name: 'live' })
    const messages = findings.filter(({ code }) => code === 'SL2092').map(({ message }) => message)
    expect(messages.map((message) => message.replace(/ was left out: .*/, ''))).toEqual([
      'NetworkAttachmentDefinition x: spec.config: mode',
      'IPAddressPool x: spec.avoidBuggyIPs',
    ])
  })

  describe('with BGP', () => {
    const object = (kind: string, name: string, spec: object, version = 'v1beta1'): KubeObject =>
      ({
        apiVersion: `metallb.io/${version}`,
        kind,
        metadata: { name, namespace: 'metallb-system' },
        spec,
      }) as unknown as KubeObject
    const peer = (name: string, spec: object): KubeObject => object('BGPPeer', name, spec, 'v1beta2')
    const router = { myASN: 64999, peerASN: 65000, peerAddress: '192.168.100.1' }
    const all = object('BGPAdvertisement', 'all', {})
    const withoutLayer2 = snapshot.objects.filter(({ kind }) => kind !== 'L2Advertisement')
    const importing = (...more: readonly KubeObject[]) => {
      const { text = '', findings } = importCluster({ objects: more, unread: [] }, { name: 'live' })
      const leftOut = findings.filter(({ code }) => code === 'SL2092').map(({ message }) => message)
      return { text, metallb: (parse(text) as SiteFile).spec.cluster.metallb, leftOut }
    }

    it('takes the routers over, with their names, and the nodes that their selectors match', () => {
      const secret = { peerPort: 1179, passwordSecret: { name: 'p' }, bfdProfile: 'fast', ebgpMultiHop: true }
      const selector = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['worker-1'] }] }
      const { text, metallb, leftOut } = importing(
        ...withoutLayer2,
        all,
        peer('left', { ...router, ...secret, nodeSelectors: [selector] }),
        peer('right', { ...router, peerAddress: '192.168.100.2', nodeSelectors: [{}], holdTime: '9s' }),
      )
      expect(readSite(text, 'site.yaml').findings).toEqual([])
      const port = { port: 1179, passwordSecret: 'p', bfdProfile: 'fast', ebgpMultiHop: true }
      expect(metallb).toEqual({
        mode: 'bgp',
        asn: 64999,
        peers: [
          { name: 'left', address: '192.168.100.1', asn: 65000, nodes: ['worker-1'], ...port },
          { name: 'right', address: '192.168.100.2', asn: 65000 },
        ],
      })
      expect(leftOut).toEqual([expect.stringMatching(/^BGPPeer right: spec.holdTime was left out/)])
    })

    it('keeps layer 2 where only L2Advertisements announce the pools', () => {
      const { metallb, leftOut } = importing(...snapshot.objects, peer('other', router))
      expect(metallb).toBeUndefined()
      expect(leftOut).toEqual([expect.stringMatching(/^BGPPeer other was left out: L2Advertisements announce/)])
    })

    it('takes BGP where the pools are announced both ways, as install_yamls does, and says so', () => {
      const { metallb, leftOut } = importing(...snapshot.objects, all, peer('a', router))
      expect(metallb?.mode).toBe('bgp')
      expect(leftOut).not.toEqual([])
      expect(leftOut.every((message) => /^L2Advertisement \S+ was left out: a site has one mode/.test(message))).toBe(
        true,
      )
    })

    it('reports routers that a site file cannot have', () => {
      const { metallb, leftOut } = importing(
        ...withoutLayer2,
        peer('a', router),
        peer('b', { ...router, myASN: 64998 }),
        peer('c', { ...router, peerASN: undefined, dynamicASN: 'external' }),
        peer('d', { ...router, nodeSelectors: [{ matchLabels: { rack: 'none' } }] }),
      )
      expect(metallb?.peers?.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(leftOut.map((message) => message.replace(/ was left out: .*/, ''))).toEqual([
        'BGPPeer c',
        'BGPPeer d',
        'BGPPeer b spec.myASN: 64998',
        'BGPPeer c: spec.dynamicASN',
      ])
    })

    it('writes the namespace of MetalLB where it is another one', () => {
      const moved = withoutLayer2.map((each) =>
        each.kind === 'IPAddressPool' ? { ...each, metadata: { ...each.metadata, namespace: 'metallb' } } : each,
      )
      expect(importing(...moved).metallb).toEqual({ namespace: 'metallb' })
    })
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

describe('what a network-values file has and a site file may not have', () => {
  const site = (data: object): SiteFile => parse(valuesWith(data).text ?? '') as SiteFile
  const leftOut = (data: object): readonly string[] =>
    valuesWith(data).findings.flatMap(({ code, message }) => (code === 'SL2092' ? [message] : []))

  it('names nodes as the cluster does', () => {
    const node = { name: 'master-0', node_name: 'master-0.ocp.example.com', internalapi_ip: '172.17.0.5' }
    const { cluster, clouds } = site({ node_0: node, internalapi }).spec
    expect(cluster.nodes.map(({ name }) => name)).toEqual(['master-0.ocp.example.com'])
    expect(clouds[0]?.networks?.['internalapi']).toMatchObject({ nodes: { 'master-0.ocp.example.com': '172.17.0.5' } })
  })

  it('keeps the AS number of the routers of each node', () => {
    const nodes = {
      node_0: { name: 'a', bgp_peers: ['10.1.0.1'] },
      node_1: { name: 'b', bgp_peers: ['10.1.0.1', '10.2.0.1'], peer_asn: 65_000 },
    }
    const { metallb } = site({ ...nodes, internalapi, bgp: { asn: 64_999, peer_asn: 64_998 } }).spec.cluster
    expect(metallb).toEqual({
      mode: 'bgp',
      asn: 64_999,
      peers: [
        { address: '10.1.0.1', asn: 64_998, nodes: ['a'] },
        { address: '10.1.0.1', asn: 65_000, nodes: ['b'] },
        { address: '10.2.0.1', asn: 65_000, nodes: ['b'] },
      ],
    })
  })

  it('gives a network that only NetConfig has no VLAN and no interface on the nodes', () => {
    const external = { mtu: 1500, subnets: [{ cidr: '10.0.0.0/24', gateway: '10.0.0.1' }] }
    const { networks } = site({ internalapi, external }).spec.clouds[0] ?? {}
    expect(networks?.['external']).toMatchObject({ nic: false, attach: 'none', roles: ['hosts'] })
    expect(networks?.['external']).not.toHaveProperty('vlan')
  })

  it('puts a network with a base interface and no VLAN on that interface', () => {
    const ironic = { iface: 'ironic', base_iface: 'enp8s0', subnets: [{ cidr: '172.20.1.0/24' }] }
    const { networks } = site({ internalapi, ironic }).spec.clouds[0] ?? {}
    expect(networks?.['ironic']).toMatchObject({ vlan: 'untagged', nic: 'enp8s0' })
  })

  it('imports the gateway of a network into its subnet, and reports one that is in none', () => {
    const { networks } = site({ internalapi: { ...internalapi, gateway: '172.17.0.1' } }).spec.clouds[0] ?? {}
    expect(networks?.['internalapi']).toMatchObject({ subnets: [{ gateway: '172.17.0.1' }] })
    expect(leftOut({ internalapi: { ...internalapi, gateway: '10.0.0.1' } })).toEqual([
      expect.stringContaining('data.internalapi.gateway'),
    ])
  })

  it('keeps DNS servers and options of each cloud, and the image of the operator', () => {
    const resolver = { config: { server: ['10.0.0.1'] }, options: [{ key: 'server', values: ['/b.test/10.0.0.2'] }] }
    const imported = site({ internalapi, 'dns-resolver': resolver, 'openstack-operator-image': 'r.test/index:1' })
    expect(imported.spec.cluster).toMatchObject({
      dns: ['10.0.0.1'],
      operators: { openstack: { image: 'r.test/index:1' } },
    })
    expect(imported.spec.clouds[0]?.dns).toEqual({ options: [{ key: 'server', values: ['/b.test/10.0.0.2'] }] })
  })

  it('reports everything that it does not read with its path', () => {
    const node = { name: 'a', bgp_ip: ['100.64.0.10'], loopback_ip: '99.99.0.3', routes: { config: [{ metric: 1 }] } }
    const config = '{"type": "macvlan", "master": "internalapi", "mode": "bridge", "ipam": {"gateway": "172.17.0.1"}}'
    const data = {
      node_0: node,
      node_1: { ...node, name: 'b' },
      internalapi: { ...internalapi, 'net-attach-def': config, 'prefix-length': 25, colour: 'red' },
      routes: { config: [{ destination: '0.0.0.0/0', 'next-hop-address': '192.168.122.1' }] },
      'dns-resolver': { config: { server: [], search: ['a.test'] } },
      unheard: { of: 3 },
    }
    expect(leftOut(data).map((message) => message.replace(/ was left out: .*/, ''))).toEqual([
      'data.internalapi.net-attach-def: mode, ipam',
      'data.internalapi.prefix-length',
      'data.node_0, data.node_1: bgp_ip, loopback_ip, routes',
      'data.internalapi.colour',
      'data: routes, dns-resolver, unheard',
    ])
  })

  it('leaves placeholders to the planner and reports them once', () => {
    const placeholders = { ...internalapi, iface: 'CHANGEME_IFACE', vlan: 'CHANGEME_VLAN', mtu: '_unused_' }
    const { text = '', findings } = valuesWith({ internalapi: placeholders, node_0: { name: 'CHANGEME_NODE' } })
    expect(findings.map(({ code }) => code)).toEqual(['SL2036'])
    expect(text).not.toMatch(/CHANGEME|_unused_/)
    expect(readSite(text, 'site.yaml').findings).toEqual([])
  })

  it('leaves placeholders inside ranges and attachment definitions to the planner, too', () => {
    const definition = JSON.stringify({
      type: 'macvlan',
      master: 'internalapi',
      ipam: { type: 'whereabouts', range: '_replaced_/24' },
    })
    const placeholders = { ...internalapi, lb_addresses: ['_replaced_-_replaced_'], 'net-attach-def': definition }
    const { text = '', findings } = valuesWith({ internalapi: placeholders })
    expect(findings.map(({ code }) => code)).toEqual(['SL2036'])
    expect(text).not.toContain('_replaced_')
  })
})

/** A node with an address on the NIC that is the port of the bridge. */
function withNicAddress(): Snapshot {
  const policy = {
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    metadata: { name: 'more' },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': 'worker-0' },
      desiredState: { interfaces: [{ name: 'enp6s0', ipv4: { address: [{ ip: '192.168.122.20' }] } }] },
    },
  } as unknown as KubeObject
  return { objects: [...snapshot.objects, policy], unread: [] }
}

/** A dump that does not mention a kind of the core API. */
function withoutKind(kind: string): Snapshot {
  const objects = snapshot.objects.filter((object) => object.kind !== kind)
  return { objects, unread: [{ apiVersion: 'v1', kind, reason: 'the dump has none', cause: 'not-dumped' }] }
}

describe('what another tool deployed', () => {
  const keepOf = (objects: readonly KubeObject[], unread: Snapshot['unread'] = []) => {
    const { text = '' } = importCluster({ objects, unread }, { name: 'live' })
    return (parse(text) as SiteFile).spec.clouds.map(({ keep }) => keep)
  }
  const controlPlane = (labels = {}): KubeObject => ({
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackControlPlane',
    metadata: { name: 'sample', namespace: 'openstack', labels },
  })

  it('is kept: attachments, and the control plane where there is one', () => {
    expect(keepOf([...snapshot.objects, controlPlane()])).toEqual([['attachments', 'control-plane'], ['attachments']])
  })

  it('includes a control plane that was not read, if keystone has a Service', () => {
    const unread = [{ ...controlPlane(), reason: 'forbidden', cause: 'forbidden' as const }]
    expect(keepOf(snapshot.objects, unread)[0]).toEqual(['attachments', 'control-plane'])
  })

  it('does not include what Stackloom deployed', () => {
    const labels = { 'app.kubernetes.io/managed-by': 'stackloom' }
    const ours = [...snapshot.objects, controlPlane()].map((object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
    }))
    expect(keepOf(ours)).toEqual([undefined, undefined])
  })
})

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
  hostAddressesChosen: () => {
    const [first] = values
    if (!first) throw new Error('there is a values file')
    const { data } = parse(first.text) as { data: Record<string, { subnets: object[] }> }
    data['internalapi']?.subnets.push({
      name: 'subnet2',
      cidr: '172.40.1.0/24',
      allocationRanges: [{ start: '172.40.1.100', end: '172.40.1.120' }],
    })
    const nodes = { 'compute-0': { networks: [{ name: 'internalapi', subnetName: 'subnet2' }] } }
    const texts = [
      { metadata: { name: 'network-values' }, data },
      { metadata: { name: 'nodeset-values' }, data: { nodeset: { nodes } } },
    ]
    return importArchitecture(
      texts.map((text, index) => ({ file: `${index}.yaml`, text: stringify(text) })),
      { name: 'x' },
    )
  },
  segmentUnknown: () => valuesWith({ designate: { lb_addresses: ['172.34.0.80-172.34.0.90'] } }),
  placeholdersLeft: () => valuesWith({ internalapi: { ...internalapi, mtu: 'CHANGEME' } }),
  addressBelowBridge: () => importCluster(withNicAddress(), { name: 'x' }),
  nicNotInSite: () => {
    const clouds = ['a', 'b'].map((name) => ({ name, namespace: name }))
    return addClouds({ file: 'site.yaml', text: smallSite }, importArchitecture(values, { name: 'x', clouds }))
  },
  platformGuessed: () => importCluster(withoutKind('Node'), { name: 'x' }),
  vipsUnpinned: () => importCluster(withoutKind('Service'), { name: 'x' }),
  ipSetWithoutHost: () => {
    const ipSet = {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'IPSet',
      metadata: { name: 'edpm-compute-0', namespace: 'openstack' },
      spec: { networks: [{ name: 'internalapi', fixedIP: '172.17.0.107' }] },
    }
    return importCluster({ ...snapshot, objects: [...snapshot.objects, ipSet] }, { name: 'x' })
  },
  keptByImport: () => importCluster(snapshot, { name: 'x' }),
  filesLeftOut: () => selectValuesFiles('tree', [...values, { file: 'tree/other.yaml', text: 'kind: Pod\n' }]),
}

describe('every problem of an import', () => {
  const listed = Object.entries(problems) as [keyof typeof problems, { readonly code: string }][]

  it.each(listed.map(([name, { code }]) => [code, name] as const))('%s is found', (code, name) => {
    expect(triggers[name]().findings.map((finding) => finding.code)).toContain(code)
  })
})
