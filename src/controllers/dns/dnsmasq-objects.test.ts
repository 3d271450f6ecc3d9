import { describe, expect, it } from 'vitest'
import { dnsMasq } from '../../../test/dns.ts'
import { buildDeployment } from './dnsmasq-deployment.ts'
import { configMapObjects, hostsConfigMaps, serviceObjects } from './dnsmasq-objects.ts'
import { covers, differing } from './ensure.ts'
import { nextRevision } from './hosts-revision.ts'
import { createSharder } from './shards.ts'

const endpoint = { ipAddressPool: 'ctlplane', loadBalancerIPs: ['192.168.122.80'] }

describe('the Services of a DNSMasq', () => {
  it('are one per endpoint in the form of 2023, shared unless said otherwise', () => {
    const own = { ...endpoint, ipAddressPool: 'internalapi', loadBalancerIPs: [], sharedIP: false }
    const [first, second] = serviceObjects(dnsMasq('dns', 'ns', { externalEndpoints: [endpoint, own] }))
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

  it('are one in the form of today, with what the override says, on UDP and TCP', () => {
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

describe('the pod of a DNSMasq', () => {
  it('mounts every ConfigMap that its hosts are spread over, so that no host changes it', () => {
    const owner = dnsMasq('dns')
    const served = createSharder().shard([{ name: 'a', text: '10.0.0.1 a\n' }])
    const parts = hostsConfigMaps(owner, nextRevision(undefined, served, 1))
    const mounted = JSON.stringify(buildDeployment(owner))
    for (const { metadata } of [...parts, ...configMapObjects(owner)]) expect(mounted).toContain(`"${metadata.name}"`)
  })

  it('is another one with another option', () => {
    const one = buildDeployment(dnsMasq('dns'))
    expect(buildDeployment(dnsMasq('dns'))).toEqual(one)
    expect(buildDeployment(dnsMasq('dns', 'ns', { options: [] }))).not.toEqual(one)
  })
})

describe('the configuration of a DNSMasq', () => {
  it("keeps the cluster's own names, and names the server of a zone", () => {
    const options = [{ key: 'auth-zone' as const, values: ['zone.test', '10.0.0.0/24'] }]
    const [config] = configMapObjects(dnsMasq('DNS', 'ns', { options }))
    expect(config).toMatchObject({
      metadata: { name: 'dns' },
      data: { DNS: 'auth-zone=zone.test,10.0.0.0/24\nlocal=/ns.svc/\nauth-server=zone.test\n' },
    })
  })
})

describe('what is written', () => {
  const wanted = serviceObjects(dnsMasq('dns'))[0]
  if (!wanted) throw new Error('no Service')

  it('is nothing where the wish is fulfilled, whatever the API server has added', () => {
    const live = differing(undefined, wanted)
    if (!live) throw new Error('nothing to write')
    const spec = { ...(live['spec'] as object), clusterIP: '10.96.0.1' }
    expect(differing({ ...live, spec, status: {} }, wanted)).toBeUndefined()
  })

  it('is the whole wish where something was changed, or is not wanted any more', () => {
    const live = differing(undefined, wanted)
    expect(differing({ ...wanted, spec: { type: 'NodePort' } }, wanted)).toBeDefined()
    const less = { ...wanted, spec: { type: 'ClusterIP' } }
    expect(differing(live, less)).toBeDefined()
  })

  it('takes an empty list and none for one thing', () => {
    expect(covers({}, { rules: [] })).toBe(true)
    expect(covers({ rules: [1] }, { rules: [] })).toBe(false)
  })
})
