import { describe, expect, it } from 'vitest'
import { testCloud } from '../../../test/cloud.ts'
import type { Cloud } from '../../site/site.ts'
import { builtInTable } from './built-in-crds.ts'
import { serviceCatalogue, unfilledSlots } from './service-catalogue.ts'
import { type SlotUses, slotUses } from './slot-uses.ts'
import type { SlotTable } from './slots.ts'

const today = builtInTable()

function usesOf(
  cloud: Cloud,
  { platform = 'openshift' as 'openshift' | 'kubernetes', table = today as SlotTable } = {},
): SlotUses {
  const locate = (path: readonly (string | number)[]) => ({ file: path.join('.'), line: 1, column: 1 })
  return slotUses({ cloud, platform, table, locate })
}

function names(uses: SlotUses): readonly string[] {
  return uses.uses.map((use) => use.name)
}

function problems(uses: SlotUses): readonly string[] {
  return uses.findings.map((finding) => `${finding.code} ${finding.message}`)
}

describe('the Services of a cloud', () => {
  it('are those of the default set, each with its path and network', () => {
    const { uses, findings } = usesOf(testCloud())
    expect(findings).toEqual([])
    expect(
      uses.map((use) => `${use.name} ${use.path.join('.')} ${use.network}${use.alone ? ' alone' : ''}`),
    ).toMatchInlineSnapshot(`
      [
        "rabbitmq.rabbitmq rabbitmq.templates.rabbitmq.override.service internalapi alone",
        "rabbitmq.rabbitmq-cell1 rabbitmq.templates.rabbitmq-cell1.override.service internalapi alone",
        "dns dns.template.override.service ctlplane",
        "keystone.internal keystone.template.override.service.internal internalapi",
        "placement.internal placement.template.override.service.internal internalapi",
        "glance.default.internal glance.template.glanceAPIs.default.override.service.internal internalapi",
        "neutron.internal neutron.template.override.service.internal internalapi",
        "nova.internal nova.template.apiServiceTemplate.override.service.internal internalapi",
        "nova.metadata nova.template.metadataServiceTemplate.override.service internalapi",
      ]
    `)
  })

  it('follow the cells, the glance APIs and the RabbitMQ clusters that the cloud names', () => {
    const cloud = testCloud({
      services: {
        nova: { cells: ['cell1', 'cell2'] },
        glance: { template: { keystoneEndpoint: 'central', glanceAPIs: { edge: {}, central: {} } } },
        rabbitmq: { template: { notifications: {} } },
      },
    })
    const found = usesOf(cloud).uses.filter((use) => /glance|rabbitmq/.test(use.name))
    expect(found.map((use) => `${use.name}${use.alone ? ' alone' : ''}`)).toEqual([
      'rabbitmq.rabbitmq alone',
      'rabbitmq.rabbitmq-cell1 alone',
      'rabbitmq.rabbitmq-cell2 alone',
      'rabbitmq.notifications alone',
      'glance.central.internal',
      'glance.edge.internal alone',
    ])
  })

  it('include public ones where the site uses VIPs, in a group that never shares with internal ones', () => {
    const uses = usesOf(testCloud({ public: { by: 'vip', network: 'storage' }, services: { horizon: true } }))
    const published = uses.uses.filter((use) => use.group === 'public')
    expect(published.map((use) => use.name)).toContain('keystone.public')
    expect(published.map((use) => use.name)).toContain('horizon')
    expect(new Set(published.map((use) => use.network))).toEqual(new Set(['storage']))
    expect(published.find((use) => use.name === 'nova.cell1.novnc')?.alone).toBe(true)
  })

  it('include one Service per replica of designate', () => {
    const template = { designateBackendbind9: { replicas: 2 } }
    const found = names(usesOf(testCloud({ services: { designate: { template } } })))
    expect(found.filter((name) => name.startsWith('designate.'))).toEqual([
      'designate.internal',
      'designate.bind9.0',
      'designate.bind9.1',
      'designate.mdns.0',
      'designate.unbound.0',
    ])
  })

  it('have the paths of 2023 with that CRD', () => {
    const { uses, findings } = usesOf(testCloud(), { table: builtInTable('2023') })
    expect(findings).toEqual([])
    const paths = Object.fromEntries(uses.map((use) => [use.name, use.path.join('.')]))
    expect(paths['glance.default.internal']).toBe('glance.template.glanceAPIInternal.externalEndpoints.internal')
    expect(paths['rabbitmq.rabbitmq-cell1']).toBe('rabbitmq.templates.rabbitmq-cell1.externalEndpoint')
    expect(paths['dns']).toBe('dns.template.externalEndpoints')
  })

  it('have equal names in both CRDs, so that a lock serves both', () => {
    const old = names(usesOf(testCloud(), { table: builtInTable('2023') }))
    expect(old).toEqual(names(usesOf(testCloud())))
  })

  it('include what a service needs, unless the file disables it', () => {
    const on = usesOf(testCloud({ services: { designate: true } }))
    expect(problems(on)).toEqual([])
    const off = usesOf(testCloud({ services: { placement: false } }))
    expect(problems(off)).toEqual(['SL3007 rhoso1: nova does not work without placement, which is disabled'])
  })

  it('include what a part of a service needs while the part is on', () => {
    const telemetry = { template: { autoscaling: { enabled: true } } }
    expect(names(usesOf(testCloud({ services: { telemetry } })))).toContain('heat.internal')
    expect(names(usesOf(testCloud({ services: { telemetry: true } })))).not.toContain('heat.internal')
    expect(problems(usesOf(testCloud({ services: { telemetry, heat: false } })))).toEqual([
      'SL3007 rhoso1: telemetry does not work without heat, which is disabled',
    ])
  })

  it('include the telemetry that watcher needs, unless the file disables it or a part of it', () => {
    expect(names(usesOf(testCloud({ services: { watcher: true } })))).toContain('telemetry.logging')
    expect(problems(usesOf(testCloud({ services: { watcher: true, telemetry: false } })))).toEqual([
      'SL3007 rhoso1: watcher does not work without telemetry, which is disabled',
    ])
    const telemetry = { template: { metricStorage: { enabled: false } } }
    expect(problems(usesOf(testCloud({ services: { watcher: true, telemetry } })))).toEqual([
      'SL3007 rhoso1: watcher does not work without telemetry.metricStorage, which is disabled',
    ])
  })
})

describe('a cloud is reported', () => {
  it('for an unknown service, with the closest name and its location', () => {
    const [found] = usesOf(testCloud({ services: { glence: true } })).findings
    expect(found?.message).toBe('rhoso1: there is no service glence; did you mean glance?')
    expect(found?.where).toEqual({ file: 'spec.clouds.0.services.glence', line: 1, column: 1 })
  })

  it('for a service that the CRD does not have', () => {
    const table = builtInTable('18.0-fr3')
    expect(problems(usesOf(testCloud({ services: { watcher: true } }), { table }))).toEqual([
      'SL3002 rhoso1: the control plane of 18.0-fr3 has no service watcher; 18.0-fr4 to main have it',
    ])
  })

  it('for a Service without a slot in the CRD', () => {
    expect(problems(usesOf(testCloud({ services: { swift: true } }), { table: builtInTable('2023') }))).toEqual([
      'SL3003 rhoso1: swift.internal needs a Service override, but the CRD has none at spec.swift.template.swiftProxy; 18.0-fr1 to main have it',
    ])
  })

  it('for a Service on a network without VIPs, or on one that it does not have', () => {
    const cloud = testCloud({
      services: { keystone: { network: 'storagemgmt' }, neutron: { network: 'nowhere' } },
    })
    expect(problems(usesOf(cloud))).toEqual([
      'SL3004 rhoso1: keystone.internal belongs on storagemgmt, which has no addresses for VIPs',
      'SL3004 rhoso1: neutron.internal belongs on nowhere, which has no addresses for VIPs',
    ])
  })

  it('once for all Services on one network without VIPs', () => {
    const services = { keystone: { network: 'storagemgmt' }, neutron: { network: 'storagemgmt' } }
    expect(problems(usesOf(testCloud({ services })))).toEqual([
      'SL3004 rhoso1: keystone.internal, neutron.internal belong on storagemgmt, which has no addresses for VIPs',
    ])
  })

  it('for a Route on plain Kubernetes, and for VIPs that replace it', () => {
    const silent = usesOf(testCloud(), { platform: 'kubernetes' })
    expect(silent.findings.map((finding) => finding.code)).toEqual(['SL3006'])
    expect(names(silent)).toContain('keystone.public')
    const stubborn = usesOf(testCloud({ services: { keystone: { public: 'route' } }, public: { by: 'vip' } }), {
      platform: 'kubernetes',
    })
    expect(stubborn.findings.map((finding) => finding.code)).toEqual(['SL3005'])
  })

  it('for an override that contradicts the services', () => {
    const cloud = testCloud({
      overrides: { controlPlane: { swift: { enabled: true }, nova: { enabled: true } } },
    })
    expect(usesOf(cloud).findings.map((finding) => finding.code)).toEqual(['SL3009'])
  })
})

describe('the catalogue of services', () => {
  it('has an endpoint or a reason for every slot of the pinned CRD', () => {
    const known = new Set(serviceCatalogue.flatMap((entry) => entry.endpoints.map((endpoint) => endpoint.path)))
    const owner = (path: string): string => path.replace(/\.(override\.services?|annotations)$/, '')
    const forgotten = today.slots
      .map((slot) => slot.path.join('.'))
      .filter((path) => !known.has(owner(path)) && !(path in unfilledSlots))
    expect(forgotten).toEqual([])
  })

  it('lets only endpoints with different ports share an address', () => {
    const sharing = serviceCatalogue.flatMap((entry) => entry.endpoints).filter((endpointEntry) => !endpointEntry.alone)
    const ports = sharing.flatMap((endpointEntry) => endpointEntry.ports)
    expect(new Set(ports).size).toBe(ports.length)
  })

  it('knows every service of both CRDs', () => {
    const known = serviceCatalogue.map((entry) => entry.name)
    expect(known).toEqual(expect.arrayContaining([...today.services, ...builtInTable('2023').services]))
  })

  it('enables the services of document 000 by default, and nothing else', () => {
    expect(serviceCatalogue.filter((entry) => entry.standard).map((entry) => entry.name)).toEqual([
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
  })
})
