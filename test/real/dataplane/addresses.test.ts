/**
 * Runs the whole operator: a node requests addresses, receives them, has them in its inventory, and is registered by name.
 * Only the operator writes these objects.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import { netConfigs } from '../../../src/api/netconfig.ts'
import type { GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import { dnsDatas, dnsMasqs, services } from '../../../src/controllers/dns/dns-kinds.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../../../src/dataplane/kinds/data-plane.ts'
import { useCluster } from '../../cluster.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const soon = { timeout: 60_000, interval: 100 }
const namespace = 'openstack'
let operator: RunningOperator

const create = (object: KubeObject): Promise<KubeObject> =>
  cluster.client.create({ ...object, metadata: { ...object.metadata, namespace } }, { fieldManager: 'person' })
const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
  cluster.client.get({ ...kind, namespace, name })
const message = async (name: string, type: string): Promise<string | undefined> =>
  ((await get(dataPlaneNodes, name)) as DataPlaneNode | undefined)?.status?.conditions?.find(
    (condition) => condition.type === type,
  )?.message
const inventory = async (name: string): Promise<string> => {
  const data = (await get({ apiVersion: 'v1', kind: 'Secret' }, name))?.['data'] as
    | Readonly<Record<string, string>>
    | undefined
  return Buffer.from(data?.['inventory'] ?? '', 'base64').toString()
}

const network = (name: string, net: string, vlan?: number): object => ({
  name,
  mtu: 1500,
  dnsDomain: `${name}.example.org`,
  subnets: [
    {
      name: 'subnet1',
      cidr: `${net}.0/24`,
      gateway: `${net}.1`,
      allocationRanges: [{ start: `${net}.100`, end: `${net}.200` }],
      ...(vlan !== undefined && { vlan }),
    },
  ],
})

beforeAll(async () => {
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  operator = await startOperator(cluster)
  await create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SSH_SECRET },
    stringData: { 'ssh-privatekey': 'k' },
  } as KubeObject)
  const networks = [network('ctlplane', '192.168.122'), network('internalapi', '172.17.0', 20)]
  await create({ ...netConfigs, metadata: { name: 'netconfig' }, spec: { networks } })
  const override = { service: { spec: { type: 'LoadBalancer' } } }
  await create({ ...dnsMasqs, metadata: { name: 'dns' }, spec: { override } })
  const nodeTemplate = {
    ansibleSSHPrivateKeySecret: SSH_SECRET,
    networks: [{ name: 'ctlplane', subnetName: 'subnet1' }, { name: 'internalapi' }],
  }
  await create(dataPlaneRole('compute', { nodeTemplate, services: ['install-os'] }))
}, 600_000)
afterAll(() => operator?.stop())

describe('a node with managed addresses and names', () => {
  it('gets an IPSet, addresses in both inventories and a DNSData, which are deleted with it', async () => {
    await create(dataPlaneNode('edpm-compute-0', { role: 'compute', hostName: 'host-0' }))
    await expect.poll(() => message('edpm-compute-0', 'NodeIPReservationReady'), soon).toBe('Addresses granted')
    const ipSet = (await get(ipSets, 'host-0')) as IpSet
    expect(ipSet.metadata.ownerReferences).toMatchObject([
      { kind: 'OpenStackDataPlaneNode', name: 'edpm-compute-0', controller: true },
    ])
    expect(ipSet.spec.networks.map(({ name }) => name)).toEqual(['ctlplane', 'internalapi'])
    for (const [name, line] of [
      ['dataplanenode-edpm-compute-0', 'ansible_host: 192.168.122.100'],
      ['dataplanenode-edpm-compute-0', 'internalapi_ip: 172.17.0.100'],
      ['dataplanenode-edpm-compute-0', 'internalapi_vlan_id: 20'],
      ['dataplanenode-edpm-compute-0', 'canonical_hostname: host-0.ctlplane.example.org'],
      ['dataplanerole-compute', 'ansible_host: 192.168.122.100'],
      ['dataplanerole-compute', 'internalapi_ip: 172.17.0.100'],
    ] as const) {
      await expect.poll(() => inventory(name), soon).toContain(line)
    }
    await expect
      .poll(async () => (await get(dnsDatas, 'edpm-compute-0-dataplane'))?.['spec'], soon)
      .toMatchObject({
        hosts: [
          { ip: '192.168.122.100', hostnames: ['host-0.ctlplane.example.org', 'host-0.ctlplane', 'host-0'] },
          { ip: '172.17.0.100', hostnames: ['host-0.internalapi.example.org', 'host-0.internalapi'] },
        ],
      })
    // The server has no address here: the node reports that it waits, and continues when there is one.
    await expect.poll(() => message('edpm-compute-0', 'NodeDNSDataReady'), soon).toContain('Waiting for DNSMasq dns')
    const service = await get(services, 'dnsmasq-dns')
    if (!service) throw new Error('DNSMasq dns has no Service')
    const status = { loadBalancer: { ingress: [{ ip: '192.168.122.80' }] } }
    await cluster.client.update({ ...service, status }, { subresource: 'status' })
    await expect.poll(() => message('edpm-compute-0', 'NodeDNSDataReady'), soon).toBe('Names registered')
    await expect
      .poll(() => inventory('dataplanenode-edpm-compute-0'), soon)
      .toMatch(/ctlplane_dns_nameservers:\n +- 192\.168\.122\.80\n/)

    await cluster.client.delete({ ...dataPlaneNodes, namespace, name: 'edpm-compute-0' })
    await expect.poll(() => get(dataPlaneNodes, 'edpm-compute-0'), soon).toBeUndefined()
    await expect.poll(() => get(ipSets, 'host-0'), soon).toBeUndefined()
    await expect.poll(() => get(dnsDatas, 'edpm-compute-0-dataplane'), soon).toBeUndefined()
  }, 180_000)

  it('reports a network that does not exist, continues when it does, and names the holder of an address', async () => {
    const networks = [{ name: 'ctlplane' }, { name: 'storage' }]
    await create(dataPlaneNode('wrong', { role: 'compute', node: { networks } }))
    await expect.poll(() => message('wrong', 'SetupReady'), soon).toContain('SL7119')
    await expect.poll(() => message('wrong', 'SetupReady'), soon).toContain('has no network storage')
    expect(await get(ipSets, 'wrong')).toBeUndefined()
    const spec = {
      networks: [
        network('ctlplane', '192.168.122'),
        network('internalapi', '172.17.0', 20),
        network('storage', '172.18.0', 21),
      ],
    }
    await cluster.client.patch({ ...netConfigs, namespace, name: 'netconfig' }, { spec }, { type: 'merge' })
    await expect.poll(() => message('wrong', 'NodeIPReservationReady'), soon).toBe('Addresses granted')
    const taken = ((await get(ipSets, 'wrong')) as IpSet).status?.reservations?.[0]?.address
    await create(dataPlaneNode('second', { role: 'compute', ansibleHost: taken ?? '' }))
    const addressMessages = async (): Promise<string> =>
      `${await message('second', 'SetupReady')} ${await message('second', 'NodeIPReservationReady')}`
    await expect.poll(addressMessages, soon).toContain(taken)
  }, 180_000)
})
