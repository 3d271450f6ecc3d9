import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { addressesPart, registerCapacityMetrics } from './addresses-part.ts'

const pool = (namespace: string, network: string): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: `${namespace}-${network}`, namespace: 'metallb-system' },
  spec: { addresses: ['172.17.0.80-172.17.0.90'], serviceAllocation: { namespaces: [namespace] } },
})
const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'keystone', namespace: 'openstack' },
  status: { loadBalancer: { ingress: [{ ip: '172.17.0.80' }] } },
}

function serve(addressPools: readonly KubeObject[]): Promise<string> {
  const registry = new Registry()
  registerCapacityMetrics(registry, () => ({
    attachments: [],
    ipPools: [],
    addressPools,
    services: [service],
    netConfigs: [],
    reservations: [],
  }))
  return registry.metrics()
}

it('stackloom_addresses has the used and free addresses of a cloud', async () => {
  const text = await serve([pool('openstack', 'internalapi')])
  expect(text).toContain('stackloom_addresses{cloud="openstack",network="internalapi",role="vips",state="used"} 1')
  expect(text).toContain('stackloom_addresses{cloud="openstack",network="internalapi",role="vips",state="free"} 10')
})

it('stackloom_addresses has at most 100 networks of one namespace', async () => {
  const text = await serve(Array.from({ length: 150 }, (_, index) => pool('openstack', `network-${index}`)))
  expect(text.match(/^stackloom_addresses\{/gm)).toHaveLength(200)
})

it('the part may only read, and no Secrets', () => {
  const { rules } = addressesPart
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']))
  expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets')
})
