import { describe, expect, it } from 'vitest'
import { dnsMasq } from '../../../test/dns.ts'
import { buildDeployment } from './dnsmasq-deployment.ts'
import { configMapObjects, hostsConfigMaps, serviceObjects } from './dnsmasq-objects.ts'
import { nextRevision } from './hosts-revision.ts'
import { createSharder } from './shards.ts'

const endpoint = { ipAddressPool: 'ctlplane', loadBalancerIPs: ['192.168.122.80'] }

describe('serviceObjects', () => {
  it('has one Service per externalEndpoint, with a shared address by default', () => {
    const unshared = { ...endpoint, ipAddressPool: 'internalapi', loadBalancerIPs: [], sharedIP: false }
    const [first, second] = serviceObjects(dnsMasq('dns', 'ns', { externalEndpoints: [endpoint, unshared] }))
    expect(first).toMatchObject({
      metadata: {
        name: 'dnsmasq-dns-ctlplane',
        annotations: {
          'metallb.io/address-pool': 'ctlplane',
          'metallb.io/loadBalancerIPs': '192.168.122.80',
          'metallb.io/allow-shared-ip': 'ctlplane',
          'dnsmasq.network.openstack.org/hostname': 'dnsmasq-dns-ctlplane.ns.svc',
        },
      },
      spec: { type: 'LoadBalancer' },
    })
    expect(Object.keys(second?.metadata.annotations ?? {})).not.toContain('metallb.io/allow-shared-ip')
    expect(Object.keys(second?.metadata.annotations ?? {})).not.toContain('metallb.io/loadBalancerIPs')
  })

  it('has one Service with the override on UDP and TCP', () => {
    const service = {
      metadata: { annotations: { a: 'b' }, labels: { c: 'd' } },
      spec: { type: 'LoadBalancer' },
    }
    expect(serviceObjects(dnsMasq('dns', 'ns', { override: { service } }))).toMatchObject([
      {
        metadata: { name: 'dnsmasq-dns', annotations: { a: 'b' }, labels: { service: 'dnsmasq', c: 'd' } },
        spec: {
          type: 'LoadBalancer',
          ports: [
            { port: 53, protocol: 'UDP', targetPort: 5353 },
            { port: 53, protocol: 'TCP', targetPort: 5353 },
          ],
        },
      },
    ])
  })
})

describe('buildDeployment', () => {
  it('mounts every ConfigMap that may have hosts, so that no host changes the pod', () => {
    const owner = dnsMasq('dns')
    const served = createSharder().shard([{ name: 'a', text: '10.0.0.1 a\n' }])
    const parts = hostsConfigMaps(owner, nextRevision(undefined, served, 1))
    const mounted = JSON.stringify(buildDeployment(owner))
    for (const { metadata } of [...parts, ...configMapObjects(owner)]) expect(mounted).toContain(`"${metadata.name}"`)
  })

  it('differs with other options', () => {
    const deployment = buildDeployment(dnsMasq('dns'))
    expect(buildDeployment(dnsMasq('dns'))).toEqual(deployment)
    expect(buildDeployment(dnsMasq('dns', 'ns', { options: [] }))).not.toEqual(deployment)
  })
})

describe('configMapObjects', () => {
  it("keeps the cluster's own names local, and names the server of a zone", () => {
    const options = [{ key: 'auth-zone' as const, values: ['zone.test', '10.0.0.0/24'] }]
    const [config] = configMapObjects(dnsMasq('DNS', 'ns', { options }))
    expect(config).toMatchObject({
      metadata: { name: 'dns' },
      data: { DNS: 'auth-zone=zone.test,10.0.0.0/24\nlocal=/ns.svc/\nauth-server=zone.test\n' },
    })
  })
})
