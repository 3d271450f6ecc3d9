/** Defines a cloud for tests and benches that need no control plane object: all services, with one address. */
import type { CloudDefinition } from '../src/sandbox/openstack/cloud-definition.ts'

export const CLOUD_PASSWORD = 'password'

const apis = [
  { service: 'keystone', type: 'identity', port: 5000, path: '' },
  { service: 'placement', type: 'placement', port: 8778, path: '' },
  { service: 'glance', type: 'image', port: 9292, path: '' },
  { service: 'neutron', type: 'network', port: 9696, path: '' },
  { service: 'nova', type: 'compute', port: 8774, path: '/v2.1' },
]
const METADATA = 8775
const AMQP = 5672

const passwords = ['Admin', 'DbRoot', 'Placement', 'Glance', 'Neutron', 'Nova'].map((name) => `${name}Password`)

export interface CloudRequest {
  readonly network: string
  readonly vip: string
  readonly clientAddress: string
  readonly cells: readonly string[]
}

export function defineTestCloud({ network, vip, clientAddress, cells }: CloudRequest): CloudDefinition {
  const frontend = (port: number, mode: 'http' | 'tcp') => ({ address: vip, port, localPort: port, mode })
  return {
    namespace: 'openstack',
    cloud: 'rhoso1',
    tls: true,
    services: apis.map(({ service }) => service),
    simulated: [],
    cells,
    networks: [{ name: network, prefixLength: 24, addresses: [vip], clientAddress }],
    frontends: [
      ...[...apis.map(({ port }) => port), METADATA].map((port) => frontend(port, 'http')),
      { ...frontend(AMQP, 'tcp'), port: 5671 },
    ],
    routes: [],
    names: [],
    catalogue: apis.map(({ service, type, port, path }) => {
      const url = `https://${vip}:${port}${path}`
      return { service, type, urls: { internal: url, public: url } }
    }),
    passwords: Object.fromEntries([...passwords, 'MetadataSecret'].map((key) => [key, CLOUD_PASSWORD])),
  }
}
