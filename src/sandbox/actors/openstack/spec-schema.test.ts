import { describe, expect, it } from 'vitest'
import { serviceForSlot } from './service-names.ts'
import { findOverrideSlots, type Schema } from './spec-schema.ts'

const service: Schema = { properties: { metadata: { type: 'object' }, spec: { type: 'object' } } }
const endpoints: Schema = { properties: { service: { additionalProperties: service } } }
const schema: Schema = {
  properties: {
    keystone: {
      properties: { enabled: { type: 'boolean', default: true }, template: { properties: { override: endpoints } } },
    },
    heat: {
      properties: {
        enabled: { type: 'boolean', default: false },
        template: { properties: { heatAPI: { properties: { override: endpoints } } } },
      },
    },
    rabbitmq: {
      properties: {
        enabled: { type: 'boolean', default: true },
        templates: { additionalProperties: { properties: { override: { properties: { service } } } } },
      },
    },
  },
}

const names = (spec: unknown) => findOverrideSlots(schema, spec).map((place) => serviceForSlot(place)?.name)

describe('override slots', () => {
  it('belong to enabled services, using the default of the schema', () => {
    expect(names({})).toEqual(['keystone-internal', 'keystone-public'])
    expect(names({ keystone: { enabled: false }, heat: { enabled: true } })).toEqual([
      'heat-api-internal',
      'heat-api-public',
    ])
  })

  it('are found below names from the control plane', () => {
    const spec = { keystone: { enabled: false }, rabbitmq: { templates: { rabbitmq: {}, 'rabbitmq-cell1': {} } } }
    expect(names(spec)).toEqual(['rabbitmq', 'rabbitmq-cell1'])
  })

  it('contain only the fields of the override', () => {
    const metadata = { annotations: { 'metallb.io/address-pool': 'openstack-internalapi' } }
    const right = { keystone: { template: { override: { service: { internal: { metadata } } } } } }
    const wrong = { keystone: { override: { service: { internal: { metadata } } } } }
    expect(findOverrideSlots(schema, right)[0]?.override).toEqual({ metadata })
    expect(findOverrideSlots(schema, wrong)[0]?.override).toEqual({})
  })
})
