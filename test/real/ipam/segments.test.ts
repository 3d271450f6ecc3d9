/** Attacks the addresses of a namespace from another one, through a real API server and with the operator running. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type IpSet, ipSets, reservations } from '../../../src/api/ipset.ts'
import { useCluster } from '../../cluster.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { type RunningOperator, startOperator } from './operator.ts'

const cluster = useCluster({ crds: 'own' })
const soon = { timeout: 60_000, interval: 100 }
let operator: RunningOperator | undefined

beforeAll(async () => {
  operator = await startOperator(cluster, { segmentOwners: ['lab/vlan-20=tenant', 'lab/vlan-20=partner'] })
  for (const name of ['victim', 'attacker', 'tenant', 'partner', 'exhauster']) {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
}, 120_000)
afterAll(() => operator?.stop())

const read = async (namespace: string, name: string): Promise<IpSet | undefined> =>
  (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet | undefined
const ready = async (namespace: string, name: string): Promise<string | undefined> =>
  (await read(namespace, name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status

it('does not let a namespace exhaust the addresses of another by a copy of its NetConfig', async () => {
  // The segment annotation is copied as well: it is no secret.
  const config = netConfig(threeNetworks, { 'stackloom.dev/segment': 'rack' })
  const inNamespace = (namespace: string) => ({ ...config, metadata: { ...config.metadata, namespace } })
  await cluster.client.create(inNamespace('victim'))
  await cluster.client.create(ipSet('a', [{}], 'victim'))
  await expect.poll(() => ready('victim', 'a'), soon).toBe('True')
  await cluster.client.create(inNamespace('attacker'))
  const attacks = Array.from({ length: 110 }, (_, index) => `x${index}`)
  await Promise.all(attacks.map((name) => cluster.client.create(ipSet(name, [{}], 'attacker'))))
  const refused = async (): Promise<number> =>
    (await cluster.client.list(ipSets, { namespace: 'attacker' })).items.filter((object) =>
      JSON.stringify(object['status'] ?? {}).includes('namespace victim uses these addresses'),
    ).length
  await expect.poll(refused, soon).toBe(attacks.length)
  await cluster.client.create(ipSet('b', [{}], 'victim'))
  await expect.poll(() => ready('victim', 'b'), soon).toBe('True')
  const held = (await cluster.client.list(ipSets, { namespace: 'attacker' })).items as unknown as readonly IpSet[]
  expect(held.flatMap(({ status }) => status?.reservations ?? [])).toEqual([])
}, 240_000)

it('gives a segment only to the namespaces of the list, also when another one comes first', async () => {
  const config = netConfig(threeNetworks, { 'stackloom.dev/segment': 'lab' })
  const inNamespace = (namespace: string) => ({ ...config, metadata: { ...config.metadata, namespace } })
  for (const namespace of ['exhauster', 'tenant', 'partner']) await cluster.client.create(inNamespace(namespace))
  const attacks = Array.from({ length: 110 }, (_, index) => `x${index}`)
  await Promise.all(attacks.map((name) => cluster.client.create(ipSet(name, [{}], 'exhauster'))))
  const refused = async (): Promise<number> =>
    (await cluster.client.list(ipSets, { namespace: 'exhauster' })).items.filter((object) =>
      JSON.stringify(object['status'] ?? {}).includes('the administrator gave segment lab/vlan-20 to namespace tenant'),
    ).length
  await expect.poll(refused, soon).toBe(attacks.length)
  // Two namespaces of the list use one subnet without an annotation.
  for (const namespace of ['tenant', 'partner']) {
    await cluster.client.create(ipSet('a', [{}], namespace))
    await expect.poll(() => ready(namespace, 'a'), soon).toBe('True')
  }
}, 240_000)

it('does not let a Reservation or a fixedIP take an address outside of its subnet', async () => {
  const victim = netConfig(threeNetworks)
  const elsewhere = threeNetworks.networks.slice(0, 1).map((network) => ({
    ...network,
    subnets: network.subnets.map(({ vlan, name }) => {
      const allocationRanges = [{ start: '10.200.0.10', end: '10.200.0.20' }]
      return { name, cidr: '10.200.0.0/24', allocationRanges, ...(vlan !== undefined && { vlan }) }
    }),
  }))
  const names = ['owner', 'reserver']
  for (const name of names) {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await cluster.client.create({ ...victim, metadata: { ...victim.metadata, namespace: 'owner' } })
  const attack = netConfig({ networks: elsewhere })
  await cluster.client.create({ ...attack, metadata: { ...attack.metadata, namespace: 'reserver' } })
  await cluster.client.create({
    ...reservations,
    metadata: { name: 'x', namespace: 'reserver' },
    spec: { ipSetRef: {}, reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address: '172.17.0.150' } } },
  })
  await cluster.client.create(ipSet('x', [{}], 'reserver'))
  const message = async (): Promise<string> => JSON.stringify((await read('reserver', 'x'))?.status ?? {})
  await expect.poll(message, soon).toContain('172.17.0.150 is not in subnet subnet1 of net-1')
  await cluster.client.create(ipSet('a', [{ fixedIP: '172.17.0.150' }], 'owner'))
  await expect.poll(() => ready('owner', 'a'), soon).toBe('True')
}, 240_000)
