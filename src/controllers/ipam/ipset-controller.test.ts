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
import { ipSetController } from './ipset-controller.ts'
import { createWorld, type World } from './world.ts'

let cluster: MemoryCluster
let stops: (() => Promise<void>)[] = []
let happened: EventRecord[]

beforeEach(() => {
  cluster = memoryCluster()
  stops = []
  happened = []
})

afterEach(async () => {
  for (const stop of stops) await stop()
})

/** Starts a controller; the answer stops it. Nothing elects it: two may run at once. */
function operator(): {
  readonly world: World
  readonly stop: () => Promise<void>
  /** How many looks have ended well. */
  readonly looks: () => Promise<number>
} {
  const metrics = createMetrics({ clock: systemClock })
  const runtime = createRuntime({ client: cluster.client, freeze: true, metrics })
  const record = (happening: EventRecord): void => void happened.push(happening)
  const world = createWorld({ runtime, form: async () => 'today', record })
  const running = runtime.add(ipSetController(world))
  world.wake.enqueue = running.enqueue
  const control = new AbortController()
  const done = runtime.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await done
  }
  stops.push(stop)
  const looks = async (): Promise<number> => {
    const figures = await metrics.registry.getSingleMetric('controller_runtime_reconcile_total')?.get()
    return figures?.values.find(({ labels }) => labels['result'] === 'success')?.value ?? 0
  }
  return { world, stop, looks }
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
  throw new Error(`never happened: ${what}`)
}
const ready = (name: string): Promise<void> => until(`${name} is ready`, () => condition(name)?.status === 'True')
const make = (spec: NetConfigSpec): Promise<unknown> => cluster.client.create(netConfig(spec))
const ask = (name: string, ...networks: readonly { name?: string; fixedIP?: string }[]): Promise<unknown> =>
  cluster.client.create(ipSet(name, networks.length > 0 ? networks : [{}]))

/** One free address only. */
const narrow: NetConfigSpec = {
  networks: threeNetworks.networks.map((network) => ({
    ...network,
    subnets: network.subnets.map((subnet) => ({
      ...subnet,
      allocationRanges: [{ start: subnet.cidr.replace('0/24', '100'), end: subnet.cidr.replace('0/24', '100') }],
    })),
  })),
}

describe('The IPSet controller', () => {
  it('gives addresses, writes a Reservation as upstream does, and says that it is done', async () => {
    await make(threeNetworks)
    await ask('a', { name: 'Net-1' }, { name: 'net-2', fixedIP: '172.18.0.150' })
    operator()
    await ready('a')
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

  it('writes nothing more once everything is right, and nothing after a restart', async () => {
    await make(threeNetworks)
    await ask('a')
    const first = operator()
    await ready('a')
    await until('it rests', () => reservation('a') !== undefined)
    await first.stop()
    const before = cluster.requests.length
    const { looks } = operator()
    await expect.poll(looks).toBeGreaterThan(0)
    const writes = cluster.requests.slice(before).filter((request) => /^(create|update|patch|delete) /.test(request))
    expect(writes).toEqual([])
  })

  it('spends three writes per IPSet and a share of the ledger, where no webhook puts the finalizer on', async () => {
    await make(threeNetworks)
    for (let n = 0; n < 50; n += 1) await ask(`host-${n}`, { name: 'net-1' }, { name: 'net-2' }, { name: 'net-3' })
    const before = cluster.requests.length
    operator()
    for (let n = 0; n < 50; n += 1) await ready(`host-${n}`)
    const writes = cluster.requests.slice(before).filter((request) => /^(create|update|patch|delete) /.test(request))
    expect(writes.filter((write) => write.includes('AddressBlock')).length).toBeLessThanOrEqual(12)
    expect(writes.filter((write) => !write.includes('AddressBlock'))).toHaveLength(150)
  })

  it('says why there is no address, and gives it as soon as one is free, to the oldest', async () => {
    await make(narrow)
    operator()
    await ask('a')
    await ready('a')
    await ask('b')
    await until('b waits', () => condition('b')?.status === 'False')
    expect(condition('b', 'ReservationReady')?.message).toBe(
      'Reservation error occured no ip address could be created for net-1 in subnet subnet1: all 1 addresses of its allocationRanges are in use, 1 of them by namespace ns',
    )
    expect(happened[0]).toMatchObject({ type: 'Warning', regarding: { metadata: { name: 'b' } } })
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await ready('b')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(reservation('a')).toBeUndefined()
  })

  it('keeps what an IPSet got on its other networks while it waits for one', async () => {
    await make(narrow)
    operator()
    await ask('a', { name: 'net-2' })
    await ready('a')
    await ask('b', { name: 'net-1' }, { name: 'net-2' })
    await until('b waits', () => condition('b')?.status === 'False')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(held()).toEqual(['172.17.0.100', '172.18.0.100'])
  })

  it('releases by its own hand when an IPSet is deleted, and needs no garbage collection', async () => {
    await make(threeNetworks)
    operator()
    await ask('a')
    await ready('a')
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await until('all is gone', () => !stored('a') && !reservation('a') && held().length === 0)
    expect(cluster.objects('AddressBlock')).toEqual([])
  })

  it('gives and takes back the same addresses again and again, block by block gone and made anew', async () => {
    await make(threeNetworks)
    operator()
    operator()
    for (let round = 0; round < 5; round += 1) {
      for (const name of ['a', 'b']) await ask(name, { name: 'net-1' }, { name: 'net-2' })
      for (const name of ['a', 'b']) await ready(name)
      expect(held()).toEqual(['172.17.0.100', '172.17.0.101', '172.18.0.100', '172.18.0.101'])
      for (const name of ['a', 'b']) await cluster.client.delete({ ...ipSets, namespace: 'ns', name })
      await until('all is gone', () => !stored('a') && !stored('b') && held().length === 0)
    }
    await until('no block is left', () => cluster.objects('AddressBlock').length === 0)
  })

  it('recognises the finalizer of 2023', async () => {
    await make(threeNetworks)
    const old = ipSet('a', [{}])
    await cluster.client.create({ ...old, metadata: { ...old.metadata, finalizers: ['IPSet'] } })
    operator()
    await ready('a')
    expect(stored('a')?.metadata.finalizers).toEqual(['IPSet'])
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await until('all is gone', () => !stored('a') && held().length === 0)
  })

  it('adopts a Reservation that was restored before its IPSet, and gives its address to nobody else', async () => {
    await make(threeNetworks)
    await cluster.client.create({
      ...reservations,
      metadata: { name: 'b', namespace: 'ns' },
      spec: {
        ipSetRef: {},
        reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' } },
      },
    })
    operator()
    await ask('a')
    await ready('a')
    expect(addresses('a')).toEqual(['172.17.0.101'])
    await ask('b')
    await ready('b')
    expect(addresses('b')).toEqual(['172.17.0.100'])
    expect(reservation('b')?.metadata.ownerReferences).toMatchObject([{ uid: stored('b')?.metadata.uid }])
  })

  it('tells where a Reservation and the ledger disagree, and moves nobody', async () => {
    await make(threeNetworks)
    operator()
    await ask('a')
    await ready('a')
    const entry = { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' }
    await cluster.client.create({
      ...reservations,
      metadata: { name: 'b', namespace: 'ns' },
      spec: { ipSetRef: {}, reservation: { 'net-1': entry } },
    })
    await ask('b')
    await until('b is told', () => condition('b')?.status === 'False')
    expect(condition('b', 'ReservationReady')?.message).toContain('which the ledger says ns/a holds')
    expect(addresses('a')).toEqual(['172.17.0.100'])
  })

  it('repairs on start what a crash left: addresses of the gone, and Reservations without an IPSet', async () => {
    await make(threeNetworks)
    const first = operator()
    await ask('a')
    await ask('b')
    await ready('a')
    await ready('b')
    await first.stop()
    // As if the finalizer had been taken off by force while nobody worked.
    const a = stored('a')
    if (a) await cluster.client.update({ ...a, metadata: { ...a.metadata, finalizers: [] } })
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    operator()
    await until('a is forgotten', () => held().join() === '172.17.0.101' && !reservation('a'))
    await ask('c')
    await ready('c')
    expect(addresses('c')).toEqual(['172.17.0.100'])
  })

  it('goes on when the API server comes back, and loses nothing that was asked for meanwhile', async () => {
    await make(narrow)
    const { world } = operator()
    await ask('a')
    await ready('a')
    await ask('b')
    await until('b waits', () => world.allocator.waiting().length === 1)
    cluster.reachable(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    cluster.reachable(true)
    await cluster.client.delete({ ...ipSets, namespace: 'ns', name: 'a' })
    await ready('b')
    expect(held()).toEqual(['172.17.0.100'])
  })

  it('says that the NetConfig is missing, and goes on when it comes', async () => {
    operator()
    await ask('a')
    await until('a is told', () => condition('a')?.status === 'False')
    expect(condition('a', 'InputReady')?.message).toBe('NetConfig missing in namespace ns')
    await make(threeNetworks)
    await ready('a')
  })

  it('gives one address once, and loses none, with two controllers at once', async () => {
    await make(threeNetworks)
    operator()
    operator()
    const names = Array.from({ length: 60 }, (_, n) => `host-${n}`)
    await Promise.all(names.map((name) => ask(name, { name: 'net-1' }, { name: 'net-2' })))
    for (const name of names) await ready(name)
    const given = names.flatMap((name) => addresses(name))
    expect(new Set(given).size).toBe(120)
    await until('the ledger is exact', () => held().join() === [...given].sort().join())
    await Promise.all(names.map((name) => cluster.client.delete({ ...ipSets, namespace: 'ns', name })))
    await until('nothing is left', () => held().length === 0 && cluster.objects('IPSet').length === 0)
    expect(cluster.objects('Reservation')).toEqual([])
  })

  it('gives one address of a segment once, whatever namespace asks', async () => {
    await make(threeNetworks)
    await cluster.client.create({
      ...netConfig(threeNetworks),
      apiVersion: networkVersion,
      metadata: { name: 'netconfig', namespace: 'ns2' },
    })
    operator()
    await ask('a')
    await ready('a')
    await cluster.client.create(ipSet('a', [{}], 'ns2'))
    await until('the other has one', () => addresses('a', 'ns2').length === 1)
    expect(addresses('a', 'ns2')).toEqual(['172.17.0.101'])
  })
})
