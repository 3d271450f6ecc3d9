/**
 * Defines the functional cases of infra-operator's own suite for IPSet and NetConfig, for a cluster on which our webhooks and
 * controllers run, wherever that is. The unit cases of the rules are in `src/api`.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { type IpReservation, type IpSet, type IpSetNetwork, ipSets, reservations } from '../../../src/api/ipset.ts'
import { type NetConfigSpec, netConfigs } from '../../../src/api/netconfig.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'

const [net1] = threeNetworks.networks

const upper = { name: 'Net-1', subnetName: 'Subnet1' }

export interface ConformanceCase {
  readonly namespace: () => string
  /** Creates the NetConfig of a case, on its own segment, so that cases do not share addresses. */
  readonly configure: () => Promise<void>
  readonly ask: (name: string) => Promise<unknown>
}

/** Each case has a namespace of its own, also those that the caller defines beside these. */
export function defineConformance(
  cluster: { readonly client: KubeClient },
  soon: { readonly timeout: number; readonly interval: number },
): ConformanceCase {
  let count = 0
  let namespace = ''

  beforeEach(async () => {
    count += 1
    namespace = `case-${count}`
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  })

  /** The NetConfig of a case, on its own segment, so that cases do not share addresses. */
  async function configure(spec: NetConfigSpec = threeNetworks): Promise<void> {
    const made = netConfig(spec, { 'stackloom.dev/segment': namespace })
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
  }
  const ask = (name: string, networks: readonly Partial<IpSetNetwork>[], immutable = false): Promise<unknown> => {
    const made = ipSet(name, networks, namespace)
    return cluster.client.create({ ...made, spec: { ...made.spec, immutable } })
  }
  const read = async (name: string): Promise<IpSet> =>
    (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet
  const condition = async (name: string, type: string): Promise<string | undefined> =>
    (await read(name)).status?.conditions?.find((condition) => condition.type === type)?.status
  const given = async (name: string): Promise<readonly IpReservation[]> => (await read(name)).status?.reservations ?? []
  const settles = (name: string, ready: 'True' | 'False'): Promise<void> =>
    expect.poll(() => condition(name, 'Ready'), soon).toBe(ready)

  describe('IPSet (functional)', () => {
    it('1: is refused without a NetConfig', async () => {
      await expect(ask('a', [upper])).rejects.toThrow('no NetConfig found in namespace')
    })

    it('2, 3: gets the first address, ignoring the case of names, and is Ready', async () => {
      await configure()
      await ask('a', [upper])
      await settles('a', 'True')
      expect(await given('a')).toMatchObject([
        { network: 'net-1', address: '172.17.0.100', dnsDomain: 'net-1.example.com', serviceNetwork: 'net-1' },
      ])
    })

    it('4, 5: gets a fixedIP inside the range', async () => {
      await configure()
      await ask('a', [{ ...upper, fixedIP: '172.17.0.150' }])
      await settles('a', 'True')
      expect(await given('a')).toMatchObject([{ address: '172.17.0.150' }])
    })

    it('6, 7, 8, 9: gets a fixedIP outside the range, and one route with defaultRoute', async () => {
      await configure()
      await ask('a', [{ ...upper, fixedIP: '172.17.0.220', defaultRoute: true }])
      await settles('a', 'True')
      const [first] = await given('a')
      expect(first).toMatchObject({
        address: '172.17.0.220',
        routes: [{ destination: '0.0.0.0/0', nexthop: '172.17.0.1' }],
      })
    })

    it('10 to 13, 24: stays without an address for an excluded fixedIP, with the cause in the condition', async () => {
      await configure()
      await ask('a', [{ ...upper, fixedIP: '172.17.0.201' }])
      await settles('a', 'False')
      expect(await given('a')).toEqual([])
      expect(await condition('a', 'InputReady')).toBe('True')
      expect(await condition('a', 'ReservationReady')).toBe('False')
      const reserved = (await read('a')).status?.conditions?.find(({ type }) => type === 'ReservationReady')
      expect(reserved?.message).toBe('Reservation error occured FixedIP 172.17.0.201 is in ExcludeAddresses')
    })

    it("14, 15: has the subnet's dnsDomain where there is one", async () => {
      if (!net1) throw new Error('no network')
      const subnets = net1.subnets.map((subnet) => ({ ...subnet, dnsDomain: 'subnet1.net-1.example.com' }))
      await configure({ networks: [{ ...net1, subnets }] })
      await ask('a', [upper])
      await settles('a', 'True')
      expect(await given('a')).toMatchObject([{ address: '172.17.0.100', dnsDomain: 'subnet1.net-1.example.com' }])
    })

    it('16: lists ctlplane first, the rest as requested, and can be updated with the same object', async () => {
      const networks = threeNetworks.networks.map((network) =>
        network.name === 'net-2' ? { ...network, serviceNetwork: 'ctlplane' } : network,
      )
      await configure({ networks })
      await ask('a', [{ name: 'net-3' }, { name: 'net-1' }, { name: 'net-2' }])
      await settles('a', 'True')
      expect((await given('a')).map(({ network }) => network)).toEqual(['net-2', 'net-3', 'net-1'])
      await cluster.client.update(await read('a'))
    })

    it('17: keeps its address when another IPSet is deleted, whose address goes to the next', async () => {
      await configure()
      await ask('a', [upper])
      await settles('a', 'True')
      await ask('b', [upper])
      await settles('b', 'True')
      expect(await given('b')).toMatchObject([{ address: '172.17.0.101' }])
      await cluster.client.delete({ ...ipSets, namespace, name: 'b' })
      await expect.poll(() => cluster.client.get({ ...reservations, namespace, name: 'b' }), soon).toBeUndefined()
      await cluster.client.patch(
        { ...ipSets, namespace, name: 'a' },
        { metadata: { annotations: { touched: 'yes' } } },
        { type: 'merge' },
      )
      await ask('c', [upper])
      await settles('c', 'True')
      expect(await given('a')).toMatchObject([{ address: '172.17.0.100' }])
      expect(await given('c')).toMatchObject([{ address: '172.17.0.101' }])
    })

    it('18 to 21: keeps its networks while it is immutable', async () => {
      await configure()
      await ask('a', [{ ...upper, fixedIP: '172.17.0.220' }], true)
      await settles('a', 'True')
      const change = (spec: object): Promise<unknown> =>
        cluster.client.patch({ ...ipSets, namespace, name: 'a' }, { spec }, { type: 'merge' })
      const networks = [...(await read('a')).spec.networks, { name: 'net-2', subnetName: 'subnet1' }]
      const refusal = 'Forbidden: Invalid value: "object": Spec.Networks is immutable'
      await expect(change({ networks })).rejects.toThrow(refusal)
      await change({ immutable: false })
      await change({ networks })
      await expect.poll(async () => (await given('a')).length, soon).toBe(2)
    })
  })

  describe('NetConfig (functional)', () => {
    it('22, 23: can be created once in a namespace', async () => {
      await configure()
      const second = netConfig(threeNetworks)
      const other = { ...second, metadata: { name: 'second', namespace } }
      await expect(cluster.client.create(other)).rejects.toThrow('there can only be one')
    })

    it('25: cannot be deleted while an IPSet exists', async () => {
      await configure()
      await ask('a', [upper])
      await settles('a', 'True')
      const name = { ...netConfigs, namespace, name: 'netconfig' }
      await expect(cluster.client.delete(name)).rejects.toThrow('still 1 IPSets')
      await cluster.client.delete({ ...ipSets, namespace, name: 'a' })
      await expect.poll(() => cluster.client.get({ ...ipSets, namespace, name: 'a' }), soon).toBeUndefined()
      expect(await cluster.client.delete(name)).toBe(true)
    })
  })

  return { namespace: () => namespace, configure: () => configure(), ask: (name) => ask(name, [upper]) }
}
