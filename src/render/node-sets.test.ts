import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import type { SiteFileCloud } from '../api/site.ts'
import { renderDnsData } from './netconfig.ts'
import { renderDataPlane } from './node-sets.ts'

const hosts = [{ name: 'edpm-compute-0' }, { name: 'edpm-compute-1' }]

function rendered(cloud: Partial<SiteFileCloud> = { hosts }): readonly KubeObject[] {
  const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', ...cloud }] })
  const [only] = plan.clouds
  return only ? renderDataPlane(plan, only) : []
}

function nodeSet(cloud?: Partial<SiteFileCloud>) {
  const object = rendered(cloud).find((candidate) => candidate.kind === 'OpenStackDataPlaneNodeSet')
  return object?.['spec'] as {
    readonly nodes: Readonly<Record<string, { readonly networks: readonly unknown[] }>>
    readonly nodeTemplate: { readonly ansible: { readonly ansibleVars: Readonly<Record<string, unknown>> } }
    readonly services: readonly string[]
    readonly networkAttachments: readonly string[]
  }
}

const deploymentName = (objects: readonly KubeObject[]) => objects.at(-1)?.metadata.name

describe('renderDataPlane', () => {
  it('renders nothing without hosts', () => {
    expect(rendered({})).toEqual([])
  })

  it('fixes every planned address of every host', () => {
    expect(nodeSet().nodes['edpm-compute-1']).toEqual({
      hostName: 'edpm-compute-1',
      ansible: { ansibleHost: '192.168.122.101' },
      networks: [
        { name: 'ctlplane', subnetName: 'subnet1', defaultRoute: true, fixedIP: '192.168.122.101' },
        { name: 'internalapi', subnetName: 'subnet1', fixedIP: '172.17.0.101' },
        { name: 'storage', subnetName: 'subnet1', fixedIP: '172.18.0.101' },
        { name: 'tenant', subnetName: 'subnet1', fixedIP: '172.19.0.101' },
        { name: 'storagemgmt', subnetName: 'subnet1', fixedIP: '172.20.0.101' },
      ],
    })
    expect(nodeSet().networkAttachments).toEqual(['ctlplane'])
  })

  it('renders the network of the hosts: VLANs, MTUs, one bridge', () => {
    const template = String(nodeSet().nodeTemplate.ansible.ansibleVars['edpm_network_config_template'])
    const filled = template.replace(/\{\{ \w+_host_routes \}\}|\{\{ \w+_(?:nameservers|domains) \}\}/g, '[]')
    const { network_config: config } = load(filled.replace(/\{\{ (\w+) \}\}/g, '$1')) as {
      network_config: readonly { members: readonly Record<string, unknown>[] }[]
    }
    expect(config[0]).toMatchObject({
      type: 'ovs_bridge',
      name: 'br-ex',
      addresses: [{ ip_netmask: 'ctlplane_ip/ctlplane_cidr' }],
    })
    expect(config[0]?.members.map((member) => member['vlan_id'])).toEqual([undefined, 20, 21, 22, 23])
    expect(config[0]?.members[1]).toMatchObject({
      mtu: 1500,
      addresses: [{ ip_netmask: 'internalapi_ip/internalapi_cidr' }],
    })
  })

  it("sets the cloud's own DNS on the hosts", () => {
    expect(nodeSet().nodeTemplate.ansible.ansibleVars['ctlplane_dns_nameservers']).toEqual(['192.168.122.80'])
  })

  it('renders a NodeSet and a nova service for each cell with hosts', () => {
    const objects = rendered({
      services: { nova: { cells: ['cell1', 'cell2'] } },
      hosts: [{ name: 'a' }, { name: 'b', cell: 'cell2' }],
    })
    expect(objects.map((object) => `${object.kind} ${object.metadata.name}`).slice(0, -1)).toEqual([
      'OpenStackDataPlaneService nova-cell1',
      'OpenStackDataPlaneService nova-cell2',
      'OpenStackDataPlaneNodeSet edpm-cell1',
      'OpenStackDataPlaneNodeSet edpm-cell2',
    ])
    expect(objects.at(-1)?.['spec']).toEqual({ nodeSets: ['edpm-cell1', 'edpm-cell2'] })
  })

  it('names a Deployment after the hash of what it deploys', () => {
    expect(deploymentName(rendered())).toBe(deploymentName(rendered()))
    expect(deploymentName(rendered())).toMatch(/^edpm-[0-9a-f]{10}$/)
    expect(deploymentName(rendered({ hosts: hosts.slice(0, 1) }))).not.toBe(deploymentName(rendered()))
    expect(deploymentName(rendered({ hosts, dataPlane: { ntp: ['a'] } }))).not.toBe(deploymentName(rendered()))
  })

  it('uses Secret names, NTP, registry and raw variables of the site file', () => {
    const spec = nodeSet({
      hosts,
      dataPlane: {
        sshSecret: 'keys',
        ntp: ['pool.example.com'],
        registry: { url: 'registry.example.com', tag: 'one' },
        ansibleVars: { edpm_debug: true },
      },
    })
    expect(spec.nodeTemplate).toMatchObject({
      ansibleSSHPrivateKeySecret: 'keys',
      ansible: {
        ansibleVars: {
          timesync_ntp_servers: [{ hostname: 'pool.example.com' }],
          registry_url: 'registry.example.com',
          image_tag: 'one',
          edpm_debug: true,
        },
      },
    })
  })

  it('renders the Ceph configuration of nova', () => {
    const objects = rendered({ hosts, ceph: { secret: 'ceph', fsid: '6b6a' } })
    const config = objects.find((object) => object.kind === 'ConfigMap')?.['data'] as Record<string, string>
    expect(config['03-ceph-nova.conf']).toContain('rbd_secret_uuid = 6b6a\n')
    expect(nodeSet({ hosts, ceph: { secret: 'ceph', fsid: '6b6a' } }).services).toContain('ceph-client')
  })
})

describe('renderDataPlane with declared node sets', () => {
  const sets = (cloud: Partial<SiteFileCloud>) =>
    Object.fromEntries(
      rendered(cloud)
        .filter(({ kind }) => kind === 'OpenStackDataPlaneNodeSet')
        .map((object) => [object.metadata.name, object['spec'] as ReturnType<typeof nodeSet>]),
    )
  const names = (cloud: Partial<SiteFileCloud>) =>
    rendered(cloud).map(({ kind, metadata }) => `${kind} ${metadata.name}`)

  it('gives each set its own services, variables and networks, and deploys all of them together', () => {
    const cloud: Partial<SiteFileCloud> = {
      hosts: [
        { name: 'a', nodeSet: 'compute' },
        { name: 'n', nodeSet: 'networker' },
      ],
      nodeSets: [
        { name: 'compute' },
        { name: 'networker', role: 'networker', nic: 'eno2', ansibleVars: { edpm_debug: null, own: 1 } },
      ],
      dataPlane: { ntp: ['pool.example.com'], ansibleVars: { edpm_debug: true } },
    }
    const { compute, networker } = sets(cloud)
    expect(Object.keys(compute?.nodes ?? {})).toEqual(['a'])
    expect(Object.keys(networker?.nodes ?? {})).toEqual(['n'])
    expect(compute?.services).toEqual(expect.arrayContaining(['libvirt', 'nova-cell1']))
    expect(networker?.services.at(-1)).toBe('neutron-metadata')
    expect(compute?.nodeTemplate.ansible.ansibleVars).toMatchObject({ edpm_debug: true })
    expect(networker?.nodeTemplate.ansible.ansibleVars).toMatchObject({
      own: 1,
      edpm_enable_chassis_gw: true,
      neutron_public_interface_name: 'eno2',
      timesync_ntp_servers: [{ hostname: 'pool.example.com' }],
    })
    expect(networker?.nodeTemplate.ansible.ansibleVars).not.toHaveProperty('edpm_debug')
    expect(rendered(cloud).at(-1)?.['spec']).toEqual({ nodeSets: ['compute', 'networker'] })
  })

  it('keeps the bytes of a cloud whose hosts name their default set', () => {
    const named = hosts.map((host) => ({ ...host, nodeSet: 'edpm-cell1' }))
    expect(rendered({ hosts: named })).toEqual(rendered())
    expect(rendered({ hosts, nodeSets: [{ name: 'edpm-cell1' }] })).toEqual(rendered())
  })

  it('renders the nova services that sets run, and the Ceph configuration once', () => {
    const cloud: Partial<SiteFileCloud> = {
      services: { nova: { cells: ['cell1', 'cell2'] } },
      ceph: { secret: 'ceph', fsid: '6b6a' },
      hosts: [
        { name: 'a', nodeSet: 'one' },
        { name: 'b', nodeSet: 'two' },
        { name: 'n', nodeSet: 'networker' },
      ],
      nodeSets: [
        { name: 'one' },
        { name: 'two', cell: 'cell2', novaConfig: '[compute]\ncpu_dedicated_set = 4-7\n' },
        { name: 'networker', role: 'networker', cell: 'cell2' },
      ],
    }
    expect(names(cloud).slice(0, -1)).toEqual([
      'ConfigMap ceph-nova',
      'OpenStackDataPlaneService nova-cell1',
      'ConfigMap two-nova-config',
      'OpenStackDataPlaneService nova-of-two',
      'OpenStackDataPlaneNodeSet one',
      'OpenStackDataPlaneNodeSet two',
      'OpenStackDataPlaneNodeSet networker',
    ])
    const service = rendered(cloud).find(({ metadata }) => metadata.name === 'nova-of-two')
    expect(service?.['spec']).toMatchObject({
      dataSources: [
        { secretRef: { name: 'nova-cell2-compute-config' } },
        { secretRef: { name: 'nova-migration-ssh-key' } },
        { configMapRef: { name: 'ceph-nova' } },
        { configMapRef: { name: 'two-nova-config' } },
      ],
    })
    expect(sets(cloud)['networker']?.nodeTemplate).not.toHaveProperty('extraMounts')
  })

  it('provisions bare metal, with raw fields of the set and of single hosts', () => {
    const spec = sets({
      hosts: [{ name: 'a', nodeSet: 'metal', overrides: { bmhLabelSelector: { rack: 'a1' } } }],
      nodeSets: [
        {
          name: 'metal',
          sshSecret: 'keys',
          baremetalSetTemplate: { ctlplaneInterface: 'eno1' },
          overrides: { tlsEnabled: false },
        },
      ],
      overrides: { nodeSet: { tlsEnabled: true, env: [] } },
    })['metal']
    expect(spec).toMatchObject({
      preProvisioned: false,
      tlsEnabled: false,
      env: [],
      baremetalSetTemplate: {
        ctlplaneInterface: 'eno1',
        deploymentSSHSecret: 'keys',
        cloudUserName: 'cloud-admin',
      },
      nodes: { a: { hostName: 'a', bmhLabelSelector: { rack: 'a1' } } },
    })
  })
})

describe('renderDnsData', () => {
  it('has the names of the hosts on every network', () => {
    const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts }] })
    const [only] = plan.clouds
    const [data] = only ? renderDnsData(plan, only) : []
    expect(data?.['spec']).toMatchObject({
      hosts: expect.arrayContaining([
        { hostnames: ['edpm-compute-1.ctlplane', 'edpm-compute-1'], ip: '192.168.122.101' },
        { hostnames: ['edpm-compute-0.internalapi'], ip: '172.17.0.100' },
      ]),
    })
  })
})
