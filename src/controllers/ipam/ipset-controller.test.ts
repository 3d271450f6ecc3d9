import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ipSet, netConfig, networkVersion, threeNetworks } from '../../../test/ipam.ts'
import { type MemoryCluster, memoryCluster } from '../../../test/memory-cluster.ts'
import type { AddressBlock } from '../../api/address-block.ts'
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import type { NetConfigSpec } from '../../api/netconfig.ts'
import { systemClock } from '../../clock/clock.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { createMetrics } from '../../kube/metrics.ts'
import { createRuntime } from '../../kube/runtime.ts'
import { startIpSetController } from './ipset-controller.ts'

let cluster: MemoryCluster
let stops: (() => Promise<void>)[] = []
let events: EventRecord[]

beforeEach(() => {
  cluster = memoryCluster()
  stops = []
  events = []
})

afterEach(async () => {
  for (const stop of stops) await stop()
})

/** Starts a controller without leader election: two may run at once. */
function startOperator(): {
  readonly stop: () => Promise<void>
  /** How many reconciles have succeeded. */
  readonly reconciles: () => Promise<number>
} {
  const metrics = createMetrics({ clock: systemClock })
  const runtime = createRuntime({ client: cluster.client, freeze: true, metrics })
  startIpSetController({ runtime, statusForm: async () => 'current', record: (event) => void events.push(event) })
  const control = new AbortController()
  const done = runtime.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await done
  }
  stops.push(stop)
  const reconciles = async (): Promise<number> => {
    const counts = await metrics.registry.getSingleMetric('controller_runtime_reconcile_total')?.get()
    return counts?.values.find(({ labels }) => labels['result'] === 'success')?.value ?? 0
  }
  return { stop, reconciles }
}

const stored = (name: string, namespace = 'ns'): IpSet | undefined =>
  (cluster.objects('IPSet') as readonly IpSet[]).find(
    ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
  )
const addresses = (name: string, namespace = 'ns'): readonly string[] =>
  (stored(name, namespace)?.status?.reservations ?? []).map(({ address }) => address)
const condition = (name: string, type = 'Ready'): { status: string; message: string } | undefined =>
  stored(name)?.status?.conditions?.find((condition) => condition.type === type) as never
const held = (): readonly string[] =>
  (cluster.objects('AddressBlock') as readonly AddressBlock[]).flatMap(({ spec }) => Object.keys(spec.holders)).sort()
const reservation = (name: string): Reservation | undefined =>
  (cluster.objects('Reservation') as readonly Reservation[]).find(({ metadata }) => metadata.name === name)

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error(`timed out: ${what}`)
}
const untilReady = (name: string): Promise<void> => until(`${name} is ready`, () => condition(name)?.status === 'True')
const createConfig = (spec: NetConfigSpec): Promise<unknown> => cluster.client.create(netConfig(spec))
const createIpSet = (name: string, ...networks: readonly { name?: string; fixedIP?: string }[]): Promise<unknown> =>
  cluster.client.create(ipSet(name, networks.length > 0 ? networks : [{}]))

/** One free address per subnet. */
const narrow: NetConfigSpec = {
  networks: threeNetworks.networks.map((network) => ({
    ...network,
    subnets: network.subnets.map((subnet) => ({
      ...subnet,
      allocationRanges: [{ start: subnet.cidr.replace('0/24', '100'), end: subnet.cidr.replace('0/24', '100') }],
    })),
  })),
}

describe('the IPSet controller', () => {
  it('assigns addresses, writes a Reservation like upstream, and reports Ready', async () => {
    await createConfig(threeNetworks)
    await createIpSet('a', { name: 'Net-1' }, { name: 'net-2', fixedIP: '172.18.0.150' })
    startOperator()
    await untilReady('a')
    expect(addresses('a')).toEqual(['172.17.0.100', '172.18.0.150'])
    expect(stored('a')?.metadata.finalizers).toEqual(['openstack.org/ipset'])
    expect(reservation('a')).toMatchObject({
      metadata: {
        labels: {
          'ipam.network.openstack.org/net-1': 'subnet1',
          'ipam.network.openstack.org/net-2': 'subnet1',
        },
        finalizers: ['openstack.org/ipset'],
        ownerReferences: [{ kind: 'IPSet', name: 'a', uid: stored('a')?.metadata.uid, controller: true }],
      },
      spec: {
        ipSetRef: { kind: 'IPSet', name: 'a', namespace: 'ns' },
        reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' } },
      },
    })
    expect(held()).toEqual(['172.17.0.100', '172.18.0.150'])
  })

  it('writes nothing when everything is up to date, also after a restart', async () => {
    await createConfig(threeNetworks)
    await createIpSet('a')
    const first = startOperator()
    await untilReady('a')
    await until('the Reservation is written', () => reservation('a') !== undefined)
    await first.stop()
    const before = cluster.requests.length
    const { reconciles } = startOperator()
    await expect.poll(reconciles).toBeGreaterThan(0)
    const writes = cluster.requests.slice(before).filter((request) => /^(create|update|patch|delete) /.test(request))
    expect(writes).toEqual([])
  })

  it('needs three writes per IPSet beside the shared ledger when no webhook adds the finalizer', async () => {
    await createConfig(threeNetworks)
    for (let n = 0; n < 50; n += 1)
      await createIpSet(`host-${n}`, { name: 'net-1' }, { name: 'net-2' }, { name: 'net-3' })
    const before = cluster.requests.length
    startOperator()
    for (let n = 0; n < 50; n += 1) await untilReady(`host-${n}`)
    const writes = cluster.requests.slice(before).filter((request) => /^(create|update|patch|delete) /.test(request))
    expect(writes.filter((write) => write.includes('AddressBlock')).length).toBeLessThanOrEqual(12)
    expect(writes.filter((write) => !write.includes('AddressBlock'))).toHaveLength(150)
  })

  it('reports why an IPSet has no address, and assigns one as soon as it is free', async () => {
    await createConfig(narrow)
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    await createIpSet('b')
    await until('b waits', () => condition('b')?.status === 'False')
    expect(condition('b', 'ReservationReady')?.message).toBe(
      'Reservation error occured no ip address could be created for net-1 in subnet subnet1: all 1 addresses of its allocationRanges are in use, 1 of them by namespace ns',
    )
    expect(events[0]).toMatchObject({ type: 'Warning', regarding: { metadata: { name: 'b' } } })
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await untilReady('b')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(reservation('a')).toBeUndefined()
  })

  it('keeps the addresses of other networks while an IPSet waits for one', async () => {
    await createConfig(narrow)
    startOperator()
    await createIpSet('a', { name: 'net-2' })
    await untilReady('a')
    await createIpSet('b', { name: 'net-1' }, { name: 'net-2' })
    await until('b waits', () => condition('b')?.status === 'False')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(held()).toEqual(['172.17.0.100', '172.18.0.100'])
  })

  it('releases addresses of a deleted IPSet without garbage collection', async () => {
    await createConfig(threeNetworks)
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await until('everything is deleted', () => !stored('a') && !reservation('a') && held().length === 0)
    expect(cluster.objects('AddressBlock')).toEqual([])
  })

  it('assigns and releases the same addresses repeatedly while blocks are deleted and created again', async () => {
    await createConfig(threeNetworks)
    startOperator()
    startOperator()
    for (let round = 0; round < 5; round += 1) {
      for (const name of ['a', 'b']) await createIpSet(name, { name: 'net-1' }, { name: 'net-2' })
      for (const name of ['a', 'b']) await untilReady(name)
      expect(held()).toEqual(['172.17.0.100', '172.17.0.101', '172.18.0.100', '172.18.0.101'])
      for (const name of ['a', 'b']) await cluster.client.delete({ ...ipSets, namespace: 'ns', name })
      await until('everything is deleted', () => !stored('a') && !stored('b') && held().length === 0)
    }
    await until('no block is left', () => cluster.objects('AddressBlock').length === 0)
  })

  it('recognises the finalizer of the first API version', async () => {
    await createConfig(threeNetworks)
    const old = ipSet('a', [{}])
    await cluster.client.create({ ...old, metadata: { ...old.metadata, finalizers: ['IPSet'] } })
    startOperator()
    await untilReady('a')
    expect(stored('a')?.metadata.finalizers).toEqual(['IPSet'])
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await until('everything is deleted', () => !stored('a') && held().length === 0)
  })

  it('adopts a Reservation that was restored before its IPSet, and assigns its address to no other', async () => {
    await createConfig(threeNetworks)
    await cluster.client.create({
      ...reservations,
      metadata: { name: 'b', namespace: 'ns' },
      spec: {
        ipSetRef: {},
        reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' } },
      },
    })
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    expect(addresses('a')).toEqual(['172.17.0.101'])
    await createIpSet('b')
    await untilReady('b')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(reservation('b')?.metadata.ownerReferences).toMatchObject([{ uid: stored('b')?.metadata.uid }])
  })

  it('reports where a Reservation and the ledger disagree, and moves no address', async () => {
    await createConfig(threeNetworks)
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    const entry = { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' }
    await cluster.client.create({
      ...reservations,
      metadata: { name: 'b', namespace: 'ns' },
      spec: { ipSetRef: {}, reservation: { 'net-1': entry } },
    })
    await createIpSet('b')
    await until('b reports the conflict', () => condition('b')?.status === 'False')
    expect(condition('b', 'ReservationReady')?.message).toContain('which the ledger says ns/a holds')
    expect(addresses('a')).toEqual(['172.17.0.100'])
  })

  it('releases addresses and Reservations of deleted IPSets at the start', async () => {
    await createConfig(threeNetworks)
    const first = startOperator()
    await createIpSet('a')
    await createIpSet('b')
    await untilReady('a')
    await untilReady('b')
    await first.stop()
    // The finalizer was removed by force while no controller ran.
    const a = stored('a')
    if (a) await cluster.client.update({ ...a, metadata: { ...a.metadata, finalizers: [] } })
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    startOperator()
    await until('a is released', () => held().join() === '172.17.0.101' && !reservation('a'))
    await createIpSet('c')
    await untilReady('c')
    expect(addresses('c')).toEqual(['172.17.0.100'])
  })

  it('continues when the API server comes back, and serves the IPSets that waited', async () => {
    await createConfig(narrow)
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    await createIpSet('b')
    await until('b waits', () => condition('b')?.status === 'False')
    cluster.reachable(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    cluster.reachable(true)
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await untilReady('b')
    expect(held()).toEqual(['172.17.0.100'])
  })

  it('reports a missing NetConfig, and continues when it is created', async () => {
    startOperator()
    await createIpSet('a')
    await until('a reports it', () => condition('a')?.status === 'False')
    expect(condition('a', 'InputReady')?.message).toBe('NetConfig missing in namespace ns')
    await createConfig(threeNetworks)
    await untilReady('a')
  })

  it('assigns every address once while two controllers run', async () => {
    await createConfig(threeNetworks)
    startOperator()
    startOperator()
    const names = Array.from({ length: 60 }, (_, n) => `host-${n}`)
    await Promise.all(names.map((name) => createIpSet(name, { name: 'net-1' }, { name: 'net-2' })))
    for (const name of names) await untilReady(name)
    const assigned = names.flatMap((name) => addresses(name))
    expect(new Set(assigned).size).toBe(120)
    await until('the ledger is exact', () => held().join() === [...assigned].sort().join())
    await Promise.all(names.map((name) => cluster.client.delete({ ...ipSets, namespace: 'ns', name })))
    await until('nothing is left', () => held().length === 0 && cluster.objects('IPSet').length === 0)
    expect(cluster.objects('Reservation')).toEqual([])
  })

  it('assigns an address of a segment once across namespaces that share it', async () => {
    await cluster.client.create(netConfig(threeNetworks, { 'stackloom.dev/shared-with': 'ns1, ns2' }))
    await cluster.client.create({
      ...netConfig(threeNetworks),
      apiVersion: networkVersion,
      metadata: { name: 'netconfig', namespace: 'ns2' },
    })
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    await cluster.client.create(ipSet('a', [{}], 'ns2'))
    await until('the other IPSet has one', () => addresses('a', 'ns2').length === 1)
    expect(addresses('a', 'ns2')).toEqual(['172.17.0.101'])
  })

  it('assigns no address of a segment that another namespace uses, until that shares it', async () => {
    await createConfig(threeNetworks)
    startOperator()
    await createIpSet('a')
    await untilReady('a')
    const copy = netConfig(threeNetworks)
    await cluster.client.create({ ...copy, metadata: { ...copy.metadata, namespace: 'ns2' } })
    await cluster.client.create(ipSet('b', [{}], 'ns2'))
    const said = (): string => JSON.stringify(cluster.objects('IPSet').map((object) => object['status']))
    await until('the copy is refused', () => said().includes('namespace ns uses these addresses'))
    expect(addresses('b', 'ns2')).toEqual([])
    const ref = { apiVersion: networkVersion, kind: 'NetConfig', namespace: 'ns', name: 'netconfig' }
    const change = { metadata: { annotations: { 'stackloom.dev/shared-with': 'ns2' } } }
    await cluster.client.patch(ref, change, { type: 'merge' })
    await until('the other namespace has one', () => addresses('b', 'ns2').length === 1)
  })
})

describe('a NetConfig that no webhook has checked', () => {
  const expression = "{{ lookup('pipe', 'id') }}"
  type Subnet = NetConfigSpec['networks'][number]['subnets'][number]
  const withSubnet = (change: Partial<Subnet>): NetConfigSpec => ({
    networks: threeNetworks.networks.map((network) => ({
      ...network,
      subnets: network.subnets.map((subnet) => ({ ...subnet, ...change })),
    })),
  })
  const cases: readonly (readonly [string, NetConfigSpec])[] = [
    [
      'dnsDomain of a network',
      { networks: threeNetworks.networks.map((network) => ({ ...network, dnsDomain: expression })) },
    ],
    ['dnsDomain of a subnet', withSubnet({ dnsDomain: expression })],
    ['gateway', withSubnet({ gateway: expression })],
    ['destination', withSubnet({ routes: [{ destination: expression, nexthop: '172.17.0.1' }] })],
    ['nexthop', withSubnet({ routes: [{ destination: '10.0.0.0/8', nexthop: expression }] })],
    ['cidr', withSubnet({ cidr: expression })],
    ['excludeAddresses', withSubnet({ excludeAddresses: [expression] })],
    ['allocationRanges', withSubnet({ allocationRanges: [{ start: expression, end: '172.17.0.20' }] })],
  ]

  it.each(cases)('gives no address when its %s has an expression', async (_, spec) => {
    await createConfig(spec)
    startOperator()
    await createIpSet('edpm-0')
    await until('the problem is reported', () => condition('edpm-0', 'InputReady')?.status === 'False')
    expect(condition('edpm-0', 'InputReady')?.message).toContain('NetConfig netconfig is invalid: ')
    expect(addresses('edpm-0')).toEqual([])
  })

  it('gives no address of a network that contradicts another one, and serves that one', async () => {
    const [first, second] = threeNetworks.networks
    if (!first || !second) throw new Error('there are three networks')
    await createConfig({ networks: [first, { ...second, dnsDomain: first.dnsDomain }] })
    startOperator()
    await createIpSet('edpm-0')
    await untilReady('edpm-0')
    await cluster.client.create(ipSet('edpm-1', [{ name: second.name }]))
    await until('the problem is reported', () => condition('edpm-1', 'InputReady')?.status === 'False')
    expect(condition('edpm-1', 'InputReady')?.message).toContain('dnsDomain of net-2/subnet1: DNSDoman name')
    expect(addresses('edpm-1')).toEqual([])
  })
})
