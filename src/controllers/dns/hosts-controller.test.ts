import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dnsData, dnsMasq, host } from '../../../test/dns.ts'
import { manualClock, settled } from '../../../test/manual-clock.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createRuntime } from '../../kube/runtime.ts'
import { configMaps, dnsDatas, pods } from './dns-kinds.ts'
import { dnsDataController } from './dnsdata-controller.ts'
import { dnsMasqController } from './dnsmasq-controller.ts'
import { podLabels } from './dnsmasq-deployment.ts'
import { hostsController } from './hosts-controller.ts'
import { createDnsWorld } from './world.ts'

const HOSTS = 'ConfigMap ns/dnsmasq-dns-hosts'

let cluster: ReturnType<typeof memoryCluster>
let stop: () => Promise<unknown>
/** The kind of which updates hang until they are let go. */
let held: string | undefined
let letGo: () => void

beforeEach(async () => {
  cluster = memoryCluster()
  held = undefined
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const client: KubeClient = {
    ...cluster.client,
    update: async (object, options) => {
      if (object.kind === held) await released
      return cluster.client.update(object, options)
    },
  }
  const runtime = createRuntime({ client, clock: manualClock() })
  const world = createDnsWorld({ runtime })
  const servers = runtime.add(dnsMasqController(world))
  runtime.add(hostsController(world, servers.enqueue))
  runtime.add(dnsDataController(world))
  const control = new AbortController()
  const running = runtime.run(control.signal)
  stop = () => {
    letGo()
    control.abort()
    return running
  }
  await cluster.client.create(dnsMasq('dns'))
  await cluster.client.create(dnsData('some', [host('10.0.0.1', 'moving.example.com')]))
  await quiet()
})
afterEach(() => stop())

/** Until nothing more is asked for. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== cluster.requests.length; ) {
    before = cluster.requests.length
    for (let turn = 0; turn < 5; turn += 1) await settled()
  }
}

async function change(address: string): Promise<void> {
  const live = (await cluster.client.get({ ...dnsDatas, namespace: 'ns', name: 'some' })) as DnsData
  const spec = { ...live.spec, hosts: [host(address, 'moving.example.com')] }
  await cluster.client.update({ ...live, spec })
}

const textOf = (name: string): string => {
  const found = cluster.objects(configMaps.kind).find((object: KubeObject) => object.metadata.name === name)
  return Object.values((found?.['data'] ?? {}) as Record<string, string>).join('')
}

/** What was written since, without what the test itself wrote. */
const writesSince = (start: number): readonly string[] =>
  cluster.requests.slice(start).filter((request) => !/^(get|list|watch) /.test(request))

describe('a change of a record', () => {
  it('is four writes, of which the one that servers read comes first, and a status after what it tells of', async () => {
    const start = cluster.requests.length
    await change('10.0.0.2')
    await quiet()
    const [own, first, ...rest] = writesSince(start)
    expect([own, first]).toEqual(['update DNSData ns/some', `update ${HOSTS}`])
    expect(rest.toSorted()).toEqual(['update ConfigMap ns/some', 'update DNSData ns/some', 'update DNSMasq ns/dns'])
    expect(rest.indexOf('update ConfigMap ns/some')).toBeLessThan(rest.indexOf('update DNSData ns/some'))
  })

  it('does not wait for the statuses of the one before', async () => {
    for (const kind of ['DNSMasq', 'DNSData']) {
      held = kind
      for (const address of ['10.0.0.3', '10.0.0.4']) {
        await change(address)
        await quiet()
        expect(textOf('dnsmasq-dns-hosts')).toContain(`${address} moving.example.com`)
      }
    }
  })

  it('that takes a DNSData away comes first, too', async () => {
    const start = cluster.requests.length
    await cluster.client.delete({ ...dnsDatas, namespace: 'ns', name: 'some' })
    await quiet()
    const [own, first, ...rest] = writesSince(start)
    expect([own, first]).toEqual(['delete DNSData ns/some', `update ${HOSTS}`])
    expect(rest.toSorted()).toEqual(['delete ConfigMap ns/some', 'update DNSMasq ns/dns'])
  })

  it('that changes no name writes no hosts', async () => {
    const start = cluster.requests.length
    await change('10.0.0.1')
    await quiet()
    expect(writesSince(start)).toEqual(['update DNSData ns/some'])
  })
})

it('a pod is told once of each change, and not of looks that change nothing', async () => {
  const server = cluster.objects('DNSMasq')[0] as DnsMasq
  const labels = podLabels(server)
  await cluster.client.create({ ...pods, metadata: { name: 'server', namespace: 'ns', labels } })
  await quiet()
  const toldIn = async (work: () => Promise<void>): Promise<number> => {
    const start = cluster.requests.length
    await work()
    await quiet()
    return writesSince(start).filter((one) => one === 'patch Pod ns/server').length
  }
  expect(await toldIn(() => change('10.0.0.5'))).toBe(1)
  expect(await toldIn(() => change('10.0.0.5'))).toBe(0)
  // Another look at the same hosts: the server itself was written to.
  expect(
    await toldIn(async () => void (await cluster.client.update({ ...(cluster.objects('DNSMasq')[0] as DnsMasq) }))),
  ).toBe(0)
})

it('hosts of a DNSMasq that is gone go with it', async () => {
  await cluster.client.delete({ ...dnsMasq('dns'), namespace: 'ns', name: 'dns' })
  await quiet()
  expect(cluster.objects(configMaps.kind).map(({ metadata }) => metadata.name)).toEqual(['some'])
})
