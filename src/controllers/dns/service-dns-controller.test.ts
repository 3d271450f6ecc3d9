import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { HOSTNAME_ANNOTATION } from './dns-kinds.ts'
import { hostsForServices } from './service-dns-controller.ts'

function service(
  name: string,
  hostname: string | undefined,
  ingress: readonly object[],
  type = 'LoadBalancer',
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: 'ns',
      annotations: hostname === undefined ? {} : { [HOSTNAME_ANNOTATION]: hostname },
    },
    spec: { type },
    status: { loadBalancer: { ingress } },
  }
}

describe('hostsForServices', () => {
  it('merges the names of Services that share an address, sorted by address', () => {
    const { hosts } = hostsForServices([
      service('nova', 'nova-internal.ns.svc', [{ ip: '172.17.0.80' }]),
      service('keystone', 'keystone-internal.ns.svc', [{ ip: '172.17.0.80' }, { ip: 'fd00:17::80' }]),
      service('dns', 'dns.ns.svc', [{ ip: '172.17.0.9' }]),
    ])
    expect(hosts).toEqual([
      { ip: '172.17.0.9', hostnames: ['dns.ns.svc'] },
      { ip: '172.17.0.80', hostnames: ['keystone-internal.ns.svc', 'nova-internal.ns.svc'] },
      { ip: 'fd00:17::80', hostnames: ['keystone-internal.ns.svc'] },
    ])
  })

  it('accepts several names', () => {
    const { hosts } = hostsForServices([service('a', 'one.ns.svc, two.ns.svc one.ns.svc', [{ ip: '10.0.0.1' }])])
    expect(hosts).toEqual([{ ip: '10.0.0.1', hostnames: ['one.ns.svc', 'two.ns.svc'] }])
  })

  it('skips an ingress without an address, reports it, and continues', () => {
    const { hosts, skipped } = hostsForServices([
      service('elsewhere', 'a.ns.svc', [{ hostname: 'lb.example.com' }, { ip: '10.0.0.1' }]),
      service('here', 'b.ns.svc', [{ ip: '10.0.0.2' }]),
    ])
    expect(hosts.map((host) => host.ip)).toEqual(['10.0.0.1', '10.0.0.2'])
    expect(skipped).toMatchObject([{ service: { metadata: { name: 'elsewhere' } }, finding: { code: 'SL6005' } }])
  })

  it('registers only LoadBalancers with the annotation', () => {
    const ingress = [{ ip: '10.0.0.1' }]
    expect(
      hostsForServices([service('a', undefined, ingress), service('b', 'b.ns.svc', ingress, 'ClusterIP')]).hosts,
    ).toEqual([])
  })
})
