import { describe, expect, it } from 'vitest'
import { planSpec } from '../../../test/site.ts'
import { asFields } from '../merge.ts'
import { renderDocuments } from '../render.ts'

/** Renders one cloud on one node, so that every service has one pod, with endpoints on internalapi. */
function render(endpoints: Readonly<Record<string, string>>, services = {}) {
  const internalapi = { endpoints: Object.entries(endpoints).map(([name, address]) => ({ name, address })) }
  const clouds = [{ name: 'rhoso1', namespace: 'openstack', services, networks: { internalapi } }]
  const { plan } = planSpec({ clouds })
  const objects = renderDocuments(plan).map(({ object }) => object)
  const spec = asFields(objects.find(({ kind }) => kind === 'OpenStackControlPlane')?.['spec'])
  const definitions = objects
    .filter(({ kind, metadata }) => kind === 'NetworkAttachmentDefinition' && metadata.name.includes('-static-'))
    .map((object) => [object.metadata.name, JSON.parse(String(asFields(object['spec'])['config']))] as const)
  return { spec, definitions: Object.fromEntries(definitions) as Readonly<Record<string, unknown>> }
}

describe('addEndpoints', () => {
  it('attaches the pod to a definition that holds its address', () => {
    const { spec, definitions } = render({ 'ovsdbserver-sb-0': '172.17.0.20' })
    const name = 'internalapi-static-ovsdbserver-sb-0'
    expect(spec['ovn']).toMatchObject({
      template: {
        ovnDBCluster: {
          'ovndbcluster-sb': { networkAttachment: name },
          'ovndbcluster-nb': { networkAttachment: 'internalapi' },
        },
      },
    })
    expect(definitions).toEqual({
      [name]: {
        cniVersion: '0.3.1',
        name,
        type: 'macvlan',
        master: 'enp6s0.20',
        ipam: { type: 'static', addresses: [{ address: '172.17.0.20/24' }] },
      },
    })
  })

  it('finds the pod by the names that its operator and the control plane have for it', () => {
    const { spec, definitions } = render(
      {
        neutron: '172.17.0.20',
        'cinder-api-0': '172.17.0.21',
        'nova-cell1-conductor-0': '172.17.0.22',
        'glance.default': '172.17.0.23',
      },
      { cinder: true },
    )
    expect(Object.keys(definitions)).toHaveLength(4)
    expect(spec).toMatchObject({
      neutron: { template: { networkAttachments: ['internalapi-static-neutron'] } },
      cinder: { template: { cinderAPI: { networkAttachments: ['internalapi-static-cinder-api-0'] } } },
      nova: {
        template: {
          cellTemplates: {
            cell1: { conductorServiceTemplate: { networkAttachments: ['internalapi-static-nova-cell1-conductor-0'] } },
          },
        },
      },
      glance: {
        template: { glanceAPIs: { default: { networkAttachments: ['storage', 'internalapi-static-glance-default'] } } },
      },
    })
  })

  it('annotates the pod of a RabbitMQ, which needs no definition of its own', () => {
    const { spec, definitions } = render({ 'rabbitmq-cell1': '172.17.0.20' })
    expect(definitions).toEqual({})
    expect(JSON.stringify(asFields(spec['rabbitmq'])['templates'])).toContain('172.17.0.20/24')
  })

  it('changes nothing for a name that no pod or several pods have', () => {
    const { spec, definitions } = render({ 'ovs-0': '172.17.0.20', conductor: '172.17.0.21' })
    expect(definitions).toEqual({})
    expect(spec).toEqual(render({}).spec)
  })
})
