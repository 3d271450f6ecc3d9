import { describe, expect, it } from 'vitest'
import { type PlanSettings, testPlan } from '../../../test/plan.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { builtInTable } from '../../plan/slots/built-in-crds.ts'
import { serviceCatalogue } from '../../plan/slots/service-catalogue.ts'
import { renderControlPlane } from './control-plane.ts'
import { resolveSlots } from './slot-values.ts'

interface Fields {
  readonly [name: string]: Fields
}

function specOf(cloud: Partial<SiteFileCloud> = {}, settings: PlanSettings = {}): Fields {
  const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', ...cloud }], ...settings })
  const [only] = plan.clouds
  const object = only && renderControlPlane(plan, only).at(-1)
  return (object as unknown as { spec: Fields }).spec
}

const keys = (pool: string, address: string, key?: string) => ({
  'metallb.universe.tf/address-pool': pool,
  'metallb.io/address-pool': pool,
  'metallb.universe.tf/loadBalancerIPs': address,
  'metallb.io/loadBalancerIPs': address,
  ...(key && { 'metallb.universe.tf/allow-shared-ip': key, 'metallb.io/allow-shared-ip': key }),
})

describe('renderControlPlane', () => {
  it('enables or disables every service of the CRD, and enables what document 000 lists', () => {
    const spec = specOf()
    const table = builtInTable()
    const written = table.services.map((name) => [name, spec[name]?.['enabled']])
    expect(written.filter(([, enabled]) => typeof enabled !== 'boolean')).toEqual([])
    const on = new Set(written.filter(([, enabled]) => enabled).map(([name]) => name))
    expect(on).toEqual(new Set(serviceCatalogue.filter((entry) => entry.standard).map((entry) => entry.name)))
  })

  it('has a database and a queue for the APIs and for each cell, with three replicas', () => {
    const spec = specOf({ services: { nova: { cells: ['cell1', 'cell2'] } } })
    expect(Object.keys(spec['galera']?.['templates'] ?? {})).toEqual([
      'openstack',
      'openstack-cell1',
      'openstack-cell2',
    ])
    expect(Object.keys(spec['rabbitmq']?.['templates'] ?? {})).toEqual(['rabbitmq', 'rabbitmq-cell1', 'rabbitmq-cell2'])
    expect(spec['galera']?.['templates']?.['openstack']).toMatchObject({ replicas: 3, secret: 'osp-secret' })
    expect(spec['nova']?.['template']?.['cellTemplates']?.['cell2']).toMatchObject({
      cellDatabaseInstance: 'openstack-cell2',
      cellMessageBusInstance: 'rabbitmq-cell2',
    })
  })

  it('has one replica of databases on fewer than three nodes', () => {
    const spec = specOf({}, { nodes: 2 })
    expect(spec['galera']?.['templates']?.['openstack']).toMatchObject({ replicas: 1 })
  })

  it("sets pool, sharing key and address in document 000's three paths", () => {
    const spec = specOf()
    const shared = {
      metadata: { annotations: keys('openstack-internalapi', '172.17.0.80', 'openstack-internalapi') },
      spec: { type: 'LoadBalancer' },
    }
    expect(spec['keystone']?.['template']?.['override']?.['service']?.['internal']).toEqual(shared)
    expect(spec['nova']?.['template']?.['apiServiceTemplate']?.['override']?.['service']?.['internal']).toEqual(shared)
    expect(spec['rabbitmq']?.['templates']?.['rabbitmq']?.['override']?.['service']).toEqual({
      metadata: { annotations: keys('openstack-internalapi', '172.17.0.85') },
      spec: { type: 'LoadBalancer' },
    })
  })

  it('leaves public endpoints to Routes unless the site requests VIPs', () => {
    expect(specOf()['keystone']?.['template']?.['override']?.['service']).not.toHaveProperty('public')
    const service = specOf({ public: { by: 'vip' } })['keystone']?.['template']?.['override']?.['service']
    expect(service?.['public']).toMatchObject({ spec: { type: 'LoadBalancer' } })
  })

  it('requests both families, except for logging, which has one', () => {
    const spec = specOf({ services: { telemetry: true } }, { families: [4, 6] })
    expect(spec['dns']?.['template']?.['override']?.['service']).toMatchObject({
      metadata: { annotations: { 'metallb.io/loadBalancerIPs': '192.168.122.80,fd00:0:1::50' } },
      spec: { ipFamilyPolicy: 'RequireDualStack' },
    })
    expect(spec['telemetry']?.['template']?.['logging']?.['annotations']).toMatchObject({
      'metallb.universe.tf/loadBalancerIPs': '172.17.0.80',
    })
  })

  it("overrides the CRD's default for logging, which is a foreign address", () => {
    const plan = {
      clouds: [
        { name: 'a', namespace: 'a' },
        { name: 'b', namespace: 'b', services: { telemetry: true } },
      ],
    }
    const built = testPlan(plan)
    const second = built.clouds[1]
    const object = second && renderControlPlane(built, second)[0]
    const spec = (object as unknown as { spec: Fields }).spec
    expect(spec['telemetry']?.['template']?.['logging']?.['annotations']).toEqual(
      keys('b-internalapi', '172.17.1.80', 'b-internalapi'),
    )
  })

  it('attaches pods to their standard networks, or to those of the site file', () => {
    expect(specOf()['neutron']?.['template']?.['networkAttachments']).toEqual(['internalapi'])
    expect(specOf()['glance']?.['template']?.['glanceAPIs']?.['default']?.['networkAttachments']).toEqual(['storage'])
    const named = specOf({ services: { neutron: { networkAttachments: ['internalapi', 'tenant'] } } })
    expect(named['neutron']?.['template']?.['networkAttachments']).toEqual(['internalapi', 'tenant'])
  })

  it("maps datacentre to the cloud's own bridge", () => {
    const built = testPlan({
      clouds: [
        { name: 'a', namespace: 'a' },
        { name: 'b', namespace: 'b' },
      ],
    })
    const bridges = built.clouds.map((cloud) => {
      const spec = (renderControlPlane(built, cloud)[0] as unknown as { spec: Fields }).spec
      return spec['ovn']?.['template']?.['ovnController']?.['nicMappings']
    })
    expect(bridges).toEqual([{ datacentre: 'ospbr' }, { datacentre: 'ospbr1' }])
  })

  it('forwards DNS to the servers of the cloud, or to those of the cluster', () => {
    expect(specOf()['dns']?.['template']?.['options']).toEqual([{ key: 'server', values: ['192.168.122.1'] }])
    const cloudDns = specOf({ dns: { servers: ['10.0.0.53'], options: [{ key: 'no-negcache', values: [] }] } })
    expect(cloudDns['dns']?.['template']?.['options']).toEqual([
      { key: 'server', values: ['10.0.0.53'] },
      { key: 'no-negcache', values: [] },
    ])
  })

  it('merges raw fields of a service and of the control plane last', () => {
    const spec = specOf({
      services: {
        keystone: {
          template: { region: 'two', override: { service: { internal: { endpointURL: 'http://k' } } } },
        },
      },
      overrides: {
        controlPlane: { keystone: { template: { apiTimeout: 90 } }, tls: { podLevel: { enabled: false } } },
      },
    })
    expect(spec['keystone']?.['template']).toMatchObject({
      region: 'two',
      apiTimeout: 90,
      databaseInstance: 'openstack',
    })
    expect(spec['keystone']?.['template']?.['override']?.['service']?.['internal']).toMatchObject({
      endpointURL: 'http://k',
      spec: { type: 'LoadBalancer' },
    })
    expect(spec['tls']).toEqual({ podLevel: { enabled: false } })
  })

  it('applies replicas of the site file to every database instance, or to the API', () => {
    const spec = specOf({
      services: { galera: { replicas: 1 }, glance: { replicas: 2 }, nova: { replicas: 4 } },
    })
    expect(spec['galera']?.['templates']?.['openstack-cell1']).toMatchObject({ replicas: 1 })
    expect(spec['glance']?.['template']?.['glanceAPIs']?.['default']).toMatchObject({ replicas: 2 })
    expect(spec['nova']?.['template']?.['apiServiceTemplate']).toMatchObject({ replicas: 4 })
  })

  it('renders the version of the site file before the control plane', () => {
    const plan = testPlan({ clouds: [{ name: 'a', namespace: 'a', version: '18.0.9' }] })
    const [only] = plan.clouds
    const kinds = only ? renderControlPlane(plan, only).map((object) => object.kind) : []
    expect(kinds).toEqual(['OpenStackVersion', 'OpenStackControlPlane'])
  })

  it('mounts the Ceph Secret and configures pools for cinder, glance and manila', () => {
    const spec = specOf({
      ceph: { secret: 'ceph-conf-files', fsid: '6b6a', pools: { cinder: 'vols' } },
      services: { cinder: true },
    })
    expect(spec['extraMounts']).toMatchObject([{ extraVol: [{ extraVolType: 'Ceph' }] }])
    expect(spec['cinder']?.['template']?.['cinderVolumes']?.['ceph']).toMatchObject({
      customServiceConfig: expect.stringMatching(/rbd_pool = vols\n[^]*rbd_secret_uuid = 6b6a\n/),
    })
    expect(spec['glance']?.['template']).toMatchObject({
      customServiceConfig: expect.stringContaining('rbd_store_pool = images\n'),
    })
  })
})

describe('renderControlPlane for the 2023 API', () => {
  it('has external endpoints with pool, address and the default sharing key', () => {
    const spec = specOf({}, { table: builtInTable('2023') })
    expect(spec['keystone']?.['template']?.['externalEndpoints']).toEqual([
      {
        endpoint: 'internal',
        ipAddressPool: 'openstack-internalapi',
        loadBalancerIPs: ['172.17.0.80'],
        sharedIP: true,
        sharedIPKey: '',
      },
    ])
    expect(spec['dns']?.['template']?.['externalEndpoints']).toEqual([
      {
        ipAddressPool: 'openstack-ctlplane',
        loadBalancerIPs: ['192.168.122.80'],
        sharedIP: true,
        sharedIPKey: '',
      },
    ])
  })

  it('has a separate address for each RabbitMQ', () => {
    const spec = specOf({}, { table: builtInTable('2023') })
    expect(spec['rabbitmq']?.['templates']?.['rabbitmq-cell1']?.['externalEndpoint']).toEqual({
      ipAddressPool: 'openstack-internalapi',
      loadBalancerIPs: ['172.17.0.86'],
      sharedIP: false,
    })
  })

  it('enables or disables exactly the services of its CRD', () => {
    const table = builtInTable('2023')
    const spec = specOf({}, { table })
    const switched = Object.keys(spec).filter((name) => typeof spec[name]?.['enabled'] === 'boolean')
    expect(switched.sort()).toEqual([...table.services].sort())
  })
})

describe.each([
  { crds: 'today', table: builtInTable() },
  { crds: '2023', table: builtInTable('2023') },
])('the slots of $crds', ({ table }) => {
  it('are filled exactly where the plan has addresses', () => {
    const everything = Object.fromEntries(table.services.map((name) => [name, true]))
    const plan = testPlan({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', services: everything }],
      table,
    })
    const [cloud] = plan.clouds
    if (!cloud) throw new TypeError('the plan has its cloud')
    const spec = renderControlPlane(plan, cloud).at(-1)?.['spec']
    expect(resolveSlots(cloud).length).toBeGreaterThan(table.services.length / 2)
    expect(pooled(spec)).toBe(resolveSlots(cloud).length)
  })
})

/** How often a pool is asked for, however the slot spells it. */
function pooled(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const count = 'metallb.io/address-pool' in value || 'ipAddressPool' in value ? 1 : 0
  return Object.values(value).reduce((sum: number, below) => sum + pooled(below), count)
}
