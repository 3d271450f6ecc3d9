import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { buildCatalogue } from './catalogue.ts'
import type { OverrideSlot } from './spec-schema.ts'

const both = (...path: string[]): readonly OverrideSlot[] =>
  ['internal', 'public'].map((endpoint) => ({ path, endpoint, override: {} }))
const service = (name: string, type: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'openstack' },
  spec: { type },
})
const nova = both('nova', 'template', 'apiServiceTemplate')
const keystone = both('keystone', 'template')

describe('buildCatalogue', () => {
  it('uses the Service for internal and the Route for public endpoints without an address', () => {
    const live = [service('nova-internal', 'LoadBalancer'), service('nova-public', 'ClusterIP')]
    const { routes, endpoints } = buildCatalogue(nova, 'openstack', live, 'apps.example.com')
    expect(endpoints).toMatchObject([
      {
        metadata: { name: 'nova', namespace: 'openstack' },
        spec: {
          serviceName: 'nova',
          endpoints: {
            internal: 'https://nova-internal.openstack.svc:8774/v2.1',
            public: 'https://nova-public-openstack.apps.example.com/v2.1',
          },
        },
      },
    ])
    expect(routes).toMatchObject([
      { metadata: { name: 'nova-public' }, spec: { host: 'nova-public-openstack.apps.example.com' } },
    ])
  })

  it('uses the public Service if it has an address or the cluster has no Routes', () => {
    const balanced = [service('nova-internal', 'LoadBalancer'), service('nova-public', 'LoadBalancer')]
    const plain = [service('nova-internal', 'LoadBalancer'), service('nova-public', 'ClusterIP')]
    for (const [live, domain] of [[balanced, 'apps.example.com'] as const, [plain, undefined] as const]) {
      const { routes, endpoints } = buildCatalogue(nova, 'openstack', live, domain)
      expect(routes).toEqual([])
      expect(endpoints).toMatchObject([
        { spec: { endpoints: { public: 'https://nova-public.openstack.svc:8774/v2.1' } } },
      ])
    }
  })

  it('registers nothing for keystone, and nothing before the Services exist', () => {
    const live = [service('keystone-internal', 'LoadBalancer'), service('keystone-public', 'ClusterIP')]
    expect(buildCatalogue(keystone, 'openstack', live, 'apps.example.com').endpoints).toEqual([])
    expect(buildCatalogue(nova, 'openstack', [], 'apps.example.com')).toEqual({ routes: [], endpoints: [] })
  })
})
