import { describe, expect, it } from 'vitest'
import { type PlanSettings, testPlan } from '../../test/plan.ts'
import { planSpec } from '../../test/site.ts'
import type { SiteFileCloud } from '../api/site.ts'
import type { Finding } from '../errors/finding.ts'
import type { Plan } from '../plan/plan.ts'
import { lintDocuments } from './lints.ts'

const two = (second: Partial<SiteFileCloud>) => [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2', ...second },
]

function findingsOf(plan: Plan): Promise<readonly Finding[]> {
  const locate = (path: readonly (string | number)[]) => ({ file: path.join('.'), line: 1, column: 1 })
  return lintDocuments(plan, locate)
}

async function messages(second: Partial<SiteFileCloud>, settings: PlanSettings = {}): Promise<readonly string[]> {
  return (await findingsOf(testPlan({ clouds: two(second), ...settings }))).map(
    (finding) => `${finding.code} ${finding.message}`,
  )
}

function override(service: Record<string, unknown>): Partial<SiteFileCloud> {
  return {
    overrides: { controlPlane: { keystone: { template: { override: { service: { internal: service } } } } } },
  }
}

const cluster = {
  dns: ['192.168.122.1'],
  nodes: ['worker-0', 'worker-1', 'worker-2'].map((name) => ({ name, nic: 'enp6s0' })),
}

describe('lintDocuments', () => {
  it('reports nothing for a correct site', async () => {
    expect(await messages({ services: { keystone: { template: { region: 'two' } } } })).toEqual([])
  })

  it('reports what stays with another tool', async () => {
    expect(await messages({ keep: ['attachments'] })).toEqual([
      'SL3209 rhoso2: the network attachments stay with the tool that deployed them (`keep`): they are neither rendered nor applied',
    ])
  })

  it('refuses a NetConfig that its webhook would refuse', async () => {
    const { plan } = planSpec({ networks: { ctlplane: { dnsDomain: 'ctlplane' } } })
    const refused = (await findingsOf(plan)).filter(({ code }) => code === 'SL3229')
    expect(refused.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^the NetConfig of rhoso1 would be refused: spec\.networks\[0\]\.dnsDomain: /),
    ])
  })

  it('says what is wrong with the shape of a NetConfig', async () => {
    const { plan } = planSpec({ networks: { ctlplane: { dnsDomain: `${'a.'.repeat(130)}com` } } })
    const refused = (await findingsOf(plan)).filter(({ code }) => code === 'SL3229')
    expect(refused.map(({ message }) => message)).toEqual([
      'the NetConfig of rhoso1 would be refused: spec.networks.0.dnsDomain: Too big: expected string to have <=253 characters',
    ])
  })

  it('refuses a hosts-only network with the subnet of another', async () => {
    const hostsOnly = { nic: false as const, attach: 'none' as const, roles: ['hosts' as const] }
    const networks = {
      external: { ...hostsOnly, subnets: [{ cidr: '10.0.0.0/24', spans: { hosts: '10.0.0.10-10.0.0.20' } }] },
      backup: { ...hostsOnly, subnets: [{ cidr: '10.0.0.0/24', spans: { hosts: '10.0.0.200-10.0.0.210' } }] },
    }
    const { plan } = planSpec({ cluster, networks })
    expect(plan.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(await findingsOf(plan)).toMatchObject([
      {
        code: 'SL3229',
        where: { file: 'spec.networks.backup.subnets' },
        message: expect.stringContaining('10.0.0.0/24'),
      },
    ])
  })

  it('reports a misspelt raw field with a suggestion and its position', async () => {
    const template = { networkAttachents: ['storage'] }
    const [found] = await findingsOf(testPlan({ clouds: two({ services: { placement: { template } } }) }))
    expect(found?.message).toBe(
      'rhoso2: the control plane has no field spec.placement.template.networkAttachents; did you mean networkAttachments?',
    )
    expect(found?.where).toMatchObject({
      file: 'spec.clouds.1.services.placement.template.networkAttachents',
    })
  })

  it('reports an invalid configuration snippet', async () => {
    const template = { customServiceConfig: 'debug = true\n' }
    const found = await findingsOf(testPlan({ clouds: two({ services: { keystone: { template } } }) }))
    expect(found).toHaveLength(1)
    expect(found[0]?.where).toMatchObject({
      file: 'spec.clouds.1.services.keystone.template.customServiceConfig',
    })
  })

  it('reports a pool without the prefix of the namespace', async () => {
    const annotations = { 'metallb.universe.tf/address-pool': 'internalapi' }
    expect(await messages(override({ metadata: { annotations } }))).toEqual([
      "SL3102 rhoso2: spec.keystone.template.override.service.internal.metadata.annotations.metallb.universe.tf/address-pool names internalapi, which is not this cloud's",
    ])
  })

  it('reports an address of another cloud', async () => {
    const annotations = { 'metallb.io/loadBalancerIPs': '172.17.0.80' }
    const [found] = await messages(override({ metadata: { annotations } }))
    expect(found).toContain('SL3103')
    expect(found).toContain('requests 172.17.0.80, which belongs to rhoso1/internalapi vips')
  })

  it('reports a planned Service whose address, type or override is overridden', async () => {
    const moved = await messages(
      override({ metadata: { annotations: { 'metallb.io/loadBalancerIPs': '172.17.1.88' } } }),
    )
    expect(moved).toEqual([
      'SL3104 rhoso2: the raw fields make the address of keystone.internal 172.17.1.88; the plan says 172.17.1.80',
    ])
    expect(await messages(override({ spec: { type: 'ClusterIP' } }))).toEqual([
      'SL3104 rhoso2: the raw fields make the type of keystone.internal ClusterIP; the plan says LoadBalancer',
    ])
    const gone = await messages({ overrides: { controlPlane: { keystone: { template: { override: null } } } } })
    expect(gone).toHaveLength(3)
  })

  it('reports single replicas, missing DNS servers, and prerequisites of plain Kubernetes', async () => {
    expect(await messages({}, { nodes: 1 })).toEqual([
      'SL3201 databases and queues get 1 replica instead of 3, because the site has 1 node',
    ])
    expect((await messages({}, { cluster: { dns: [] } })).map((message) => message.slice(0, 6))).toEqual([
      'SL3202',
      'SL3202',
    ])
    expect((await messages({}, { platform: 'kubernetes' })).map((message) => message.slice(0, 6))).toEqual(['SL3203'])
  })

  it('reports a service that cannot be attached to networks', async () => {
    expect(await messages({ services: { heat: { networkAttachments: ['storage'] } } })).toEqual([
      'SL3105 rhoso2: the control plane has no network attachments for heat',
    ])
  })

  it('reports an endpoint that no pod has, and one that several pods would share', async () => {
    const endpoints = [
      { name: 'ovs-0', address: '172.17.0.96' },
      { name: 'rabbitmq', address: '172.17.0.97' },
      { name: 'ovsdbserver-sb-0', address: '172.17.0.98' },
      { name: 'neutron', address: '172.17.0.99' },
    ]
    const found = await findingsOf(planSpec({ cluster, networks: { internalapi: { endpoints } } }).plan)
    expect(found.map((finding) => finding.code)).toEqual(['SL3204', 'SL3205', 'SL3205'])
    expect(found[0]?.message).toContain('"ips":["172.17.0.96/24"]')
    expect(found[0]?.remedy).toContain('ovn.ovndbcluster-sb')
  })

  it('reports an endpoint whose attachment raw fields replace', async () => {
    const internalapi = { endpoints: [{ name: 'neutron', address: '172.17.0.99' }] }
    const services = { neutron: { template: { networkAttachments: ['internalapi'] } } }
    const clouds = [{ name: 'rhoso1', namespace: 'openstack', services }]
    const found = await findingsOf(planSpec({ cluster, clouds, networks: { internalapi } }).plan)
    expect(found.map((finding) => finding.code)).toEqual(['SL3204'])
  })

  it('reports Cinder and Manila without a backend, and names the field to write', async () => {
    const found = await findingsOf(testPlan({ clouds: two({ services: { cinder: true, manila: { enabled: true } } }) }))
    expect(found.map(({ code, where, remedy }) => [code, where, remedy.split(' ')[3]])).toEqual([
      [
        'SL3230',
        { file: 'spec.clouds.1.services.cinder', line: 1, column: 1 },
        'services.cinder.template.cinderVolumes',
      ],
      [
        'SL3230',
        { file: 'spec.clouds.1.services.manila', line: 1, column: 1 },
        'services.manila.template.manilaShares',
      ],
    ])
  })

  it('reports no missing backend where Ceph or raw fields give one', async () => {
    const backend = { customServiceConfig: '[DEFAULT]\nenabled_backends = a\n', replicas: 1 }
    const services = {
      cinder: { template: { cinderVolumes: { a: backend } } },
      manila: { template: { manilaShares: { a: backend } } },
    }
    expect(await messages({ services })).toEqual([])
    expect(await messages({ services: { cinder: true, manila: true }, ceph: { fsid: 'a', secret: 'ceph' } })).toEqual(
      [],
    )
  })
})
