import { describe, expect, it } from 'vitest'
import { attachedWorkloads, podName, type Schema } from './spec-schema.ts'

const many: Schema = { properties: { networkAttachments: { type: 'array' } } }
const single: Schema = { properties: { networkAttachment: { type: 'string' } } }
const service = (template: Schema): Schema => ({
  properties: { enabled: { type: 'boolean', default: true }, template },
})
const schema: Schema = {
  properties: {
    neutron: service(many),
    glance: service({ properties: { glanceAPIs: { additionalProperties: many } } }),
    ovn: service({ properties: { ovnDBCluster: { additionalProperties: single }, ovnController: single } }),
    nova: service({ properties: { apiServiceTemplate: many } }),
  },
}

const found = (spec: object) =>
  attachedWorkloads(schema, spec).map((workload) => `${podName(workload)}: ${workload.networks.join(' ')}`)

describe('attached workloads', () => {
  it('are found wherever the schema allows networks, in both forms', () => {
    expect(
      found({
        neutron: { template: { networkAttachments: ['internalapi'] } },
        glance: { template: { glanceAPIs: { default: { networkAttachments: ['storage', 'internalapi'] } } } },
        ovn: {
          template: {
            ovnDBCluster: { 'ovndbcluster-nb': { networkAttachment: 'internalapi' } },
            ovnController: { networkAttachment: 'tenant' },
          },
        },
        nova: { template: { apiServiceTemplate: { networkAttachments: ['internalapi'] } } },
      }),
    ).toEqual([
      'neutron-0: internalapi',
      'glance-default-0: storage internalapi',
      'ovn-dbcluster-nb-0: internalapi',
      'ovn-controller-0: tenant',
      'nova-api-0: internalapi',
    ])
  })

  it('exclude disabled services and fields that are not in the schema', () => {
    const networks = { networkAttachments: ['internalapi'] }
    expect(found({ neutron: { enabled: false, template: networks } })).toEqual([])
    expect(found({ neutron: networks })).toEqual([])
  })
})
