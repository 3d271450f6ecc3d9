import { describe, expect, it } from 'vitest'
import { hashSchema } from '../release/read-crd.ts'
import type { Schema } from '../release/schema-graph.ts'
import { builtInTable } from './built-in-crds.ts'
import { readSlotTable } from './slot-table.ts'
import { detectEra, type SlotTable } from './slots.ts'

const override = { properties: { metadata: {}, spec: {} } }

function crdWith(spec: Schema, kind = 'OpenStackControlPlane'): unknown {
  const schema = { openAPIV3Schema: { properties: { spec } } }
  const versions = [
    { name: 'v1alpha1', storage: false },
    { name: 'v1beta1', storage: true, schema },
  ]
  return { kind: 'CustomResourceDefinition', spec: { names: { kind }, versions } }
}

function tableOf(spec: Schema): SlotTable {
  const read = readSlotTable(crdWith(spec), 'crd.yaml')
  if (read.kind === 'refused') throw new Error(read.findings[0]?.message)
  return read.table
}

function shapes(spec: Schema): Readonly<Record<string, string>> {
  return Object.fromEntries(tableOf(spec).slots.map((slot) => [slot.path.join('.'), slot.shape]))
}

describe('the slot table', () => {
  it('finds a map of endpoints, a single override and a list, below names that a cloud chooses', () => {
    const spec: Schema = {
      properties: {
        keystone: {
          properties: { override: { properties: { service: { additionalProperties: override } } } },
        },
        rabbitmq: {
          properties: {
            templates: {
              additionalProperties: {
                properties: {
                  override: { properties: { service: override } },
                  podOverride: { properties: { services: { items: override } } },
                },
              },
            },
          },
        },
        designate: { properties: { override: { properties: { services: { items: override } } } } },
      },
    }
    expect(shapes(spec)).toEqual({
      'keystone.override.service': 'endpoints',
      'rabbitmq.templates.*.override.service': 'single',
      'rabbitmq.templates.*.podOverride.services': 'list',
      'designate.override.services': 'list',
    })
  })

  it('ignores other fields called `service`: a password selector, a Route, a plain string', () => {
    const spec: Schema = {
      properties: {
        keystone: {
          properties: {
            passwordSelectors: { properties: { service: { type: 'string' } } },
            override: { properties: { service: { type: 'string' } } },
            apiOverride: { properties: { route: override } },
          },
        },
      },
    }
    expect(shapes(spec)).toEqual({})
  })

  it('finds every slot of the default release: three shapes and the annotations of logging', () => {
    const table = builtInTable()
    expect(detectEra(table)).toBe('today')
    expect(table.slots.map((slot) => `${slot.path.join('.')} ${slot.shape}`)).toMatchInlineSnapshot(`
      [
        "barbican.template.barbicanAPI.override.service endpoints",
        "cinder.template.cinderAPI.override.service endpoints",
        "designate.template.designateAPI.override.service endpoints",
        "designate.template.designateBackendbind9.override.services list",
        "designate.template.designateMdns.override.services list",
        "designate.template.designateUnbound.override.services list",
        "dns.template.override.service single",
        "glance.template.glanceAPIs.*.override.service endpoints",
        "heat.template.heatAPI.override.service endpoints",
        "heat.template.heatCfnAPI.override.service endpoints",
        "horizon.template.override.service single",
        "ironic.template.ironicAPI.override.service endpoints",
        "ironic.template.ironicInspector.override.service endpoints",
        "keystone.template.override.service endpoints",
        "manila.template.manilaAPI.override.service endpoints",
        "neutron.template.override.service endpoints",
        "nova.template.apiServiceTemplate.override.service endpoints",
        "nova.template.cellTemplates.*.metadataServiceTemplate.override.service single",
        "nova.template.cellTemplates.*.noVNCProxyServiceTemplate.override.service single",
        "nova.template.metadataServiceTemplate.override.service single",
        "octavia.template.octaviaAPI.override.service endpoints",
        "ovn.template.ovnDBCluster.*.override.service single",
        "placement.template.override.service endpoints",
        "rabbitmq.templates.*.override.service single",
        "rabbitmq.templates.*.podOverride.services list",
        "swift.template.swiftProxy.override.service endpoints",
        "telemetry.template.autoscaling.aodh.override.service endpoints",
        "telemetry.template.cloudkitty.cloudKittyAPI.override.service endpoints",
        "telemetry.template.logging.annotations annotations",
        "watcher.template.apiServiceTemplate.override.service endpoints",
      ]
    `)
    expect(table.services).toContain('redis')
    expect(table.services).not.toContain('tls')
  })

  it('finds the 15 external endpoints of the 2023 form', () => {
    const table = builtInTable('2023')
    const external = table.slots.filter((slot) => slot.shape.startsWith('external-'))
    expect(detectEra(table)).toBe('2023')
    expect(external).toHaveLength(15)
    expect(external.find((slot) => slot.service === 'dns')?.shape).toBe('external-list')
    expect(external.find((slot) => slot.service === 'rabbitmq')?.shape).toBe('external-single')
  })

  it('has one hash for one schema, independent of key order and descriptions', () => {
    const one = hashSchema({
      type: 'object',
      description: 'a',
      properties: { a: {}, description: { type: 'string' } },
    })
    const other = hashSchema({
      properties: { description: { type: 'string' }, a: {} },
      description: 'b',
      type: 'object',
    })
    expect(one).toBe(other)
    expect(one).not.toBe(hashSchema({ type: 'object', properties: { a: {} } }))
  })

  it.each([
    ['text', 'it is not a CustomResourceDefinition'],
    [undefined, 'it is not a CustomResourceDefinition'],
    [{ kind: 'ConfigMap' }, 'it is not a CustomResourceDefinition'],
    [crdWith({ properties: {} }, 'NetConfig'), 'it defines NetConfig, not OpenStackControlPlane'],
    [{ kind: 'CustomResourceDefinition', spec: {} }, 'it defines nothing, not OpenStackControlPlane'],
    [crdWith({ type: 'object' }), 'its stored version has no schema with a spec'],
  ])('refuses what is not the CRD: %j', (crd, reason) => {
    const read = readSlotTable(crd, 'crd.yaml')
    const messages = read.kind === 'refused' ? read.findings.map((finding) => finding.message) : []
    expect(messages).toEqual([`crd.yaml does not define the control plane's slots: ${reason}`])
  })
})
