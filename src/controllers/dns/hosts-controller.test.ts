import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dnsData, dnsMasq, host } from '../../../test/dns.ts'
import { manualClock, settled } from '../../../test/manual-clock.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createRuntime } from '../../kube/runtime.ts'
import { startDnsControllers } from './dns-controllers.ts'
import { configMaps, dnsDatas, pods } from './dns-kinds.ts'
import { podLabels } from './dnsmasq-deployment.ts'

const HOSTS = 'ConfigMap ns/dnsmasq-dns-hosts'

let cluster: ReturnType<typeof memoryCluster>
let stop: () => Promise<unknown>
/** Updates of this kind hang until they are released. */
let blockedKind: string | undefined
let release: () => void

beforeEach(async () => {
  cluster = memoryCluster()
  blockedKind = undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const client: KubeClient = {
    ...cluster.client,
    update: async (object, options) => {
      if (object.kind === blockedKind) await released
      return cluster.client.update(object, options)
    },
  }
  const runtime = createRuntime({ client, clock: manualClock() })
  startDnsControllers({ runtime, record: () => {} })
  const control = new AbortController()
  const running = runtime.run(control.signal)
  stop = () => {
    release()
    control.abort()
    return running
  }
  await cluster.client.create(dnsMasq('dns'))
  await cluster.client.create(dnsData('some', [host('10.0.0.1', 'moving.example.com')]))
  await untilQuiet()
})
afterEach(() => stop())

/** Waits until no more requests are sent. */
async function untilQuiet(): Promise<void> {
  for (let before = -1; before !== cluster.requests.length; ) {
    before = cluster.requests.length
    for (let tick = 0; tick < 5; tick += 1) await settled()
  }
}

async function change(address: string): Promise<void> {
  const live = (await cluster.client.get({ ...dnsDatas, namespace: 'ns', name: 'some' })) as DnsData
  const spec = { ...live.spec, hosts: [host(address, 'moving.example.com')] }
  await cluster.client.update({ ...live, spec })
}

const configMapText = (name: string): string => {
  const found = cluster.objects(configMaps.kind).find((object: KubeObject) => object.metadata.name === name)
  return Object.values((found?.['data'] ?? {}) as Record<string, string>).join('')
}

/** The writes since a position in the list of requests. */
const writesSince = (start: number): readonly string[] =>
  cluster.requests.slice(start).filter((request) => !/^(get|list|watch) /.test(request))

describe('a changed record', () => {
  it('causes four writes: the hosts first, and each status after what it reports', async () => {
    const start = cluster.requests.length
    await change('10.0.0.2')
    await untilQuiet()
    const [trigger, first, ...rest] = writesSince(start)
    expect([trigger, first]).toEqual(['update DNSData ns/some', `update ${HOSTS}`])
    expect(rest.toSorted()).toEqual(['update ConfigMap ns/some', 'update DNSData ns/some', 'update DNSMasq ns/dns'])
    expect(rest.indexOf('update ConfigMap ns/some')).toBeLessThan(rest.indexOf('update DNSData ns/some'))
  })

  it('does not wait for the status writes of the previous change', async () => {
    for (const kind of ['DNSMasq', 'DNSData']) {
      blockedKind = kind
      for (const address of ['10.0.0.3', '10.0.0.4']) {
        await change(address)
        await untilQuiet()
        expect(configMapText('dnsmasq-dns-hosts')).toContain(`${address} moving.example.com`)
      }
    }
  })

  it('is removed from the hosts first when its DNSData is deleted', async () => {
    const start = cluster.requests.length
    await cluster.client.delete({ ...dnsDatas, namespace: 'ns', name: 'some' })
    await untilQuiet()
    const [trigger, first, ...rest] = writesSince(start)
    expect([trigger, first]).toEqual(['delete DNSData ns/some', `update ${HOSTS}`])
    expect(rest.toSorted()).toEqual(['delete ConfigMap ns/some', 'update DNSMasq ns/dns'])
  })

  it('causes no hosts write when no name changes', async () => {
    const start = cluster.requests.length
    await change('10.0.0.1')
    await untilQuiet()
    expect(writesSince(start)).toEqual(['update DNSData ns/some'])
  })
})

it('a pod is annotated once per change, and not when a reconcile changes nothing', async () => {
  const dnsMasqObject = cluster.objects('DNSMasq')[0] as DnsMasq
  const labels = podLabels(dnsMasqObject)
  await cluster.client.create({ ...pods, metadata: { name: 'server', namespace: 'ns', labels } })
  await untilQuiet()
  const countPatches = async (work: () => Promise<void>): Promise<number> => {
    const start = cluster.requests.length
    await work()
    await untilQuiet()
    return writesSince(start).filter((request) => request === 'patch Pod ns/server').length
  }
  expect(await countPatches(() => change('10.0.0.5'))).toBe(1)
  expect(await countPatches(() => change('10.0.0.5'))).toBe(0)
  // The DNSMasq itself is updated, with the same hosts.
  expect(
    await countPatches(
      async () => void (await cluster.client.update({ ...(cluster.objects('DNSMasq')[0] as DnsMasq) })),
    ),
  ).toBe(0)
})

it('the hosts of a deleted DNSMasq are deleted', async () => {
  await cluster.client.delete({ ...dnsMasq('dns'), namespace: 'ns', name: 'dns' })
  await untilQuiet()
  expect(cluster.objects(configMaps.kind).map(({ metadata }) => metadata.name)).toEqual(['some', 'dns-svc'])
})

describe('a labelled ConfigMap', () => {
  const hostMap = (name: string, selector: string, text: string): KubeObject => ({
    ...configMaps,
    metadata: { name, namespace: 'ns', labels: { dnsmasqhosts: selector } },
    data: { [name]: text },
  })
  const readsOf = (name: string): number =>
    cluster.requests.filter((request) => request === `get ConfigMap ns/${name}`).length

  it('is read once per change, and only where a DNSMasq serves it', async () => {
    await cluster.client.create(hostMap('served', 'dnsdata', '10.0.0.8 served.example.com\n'))
    await cluster.client.create(hostMap('other', 'another', '10.0.0.9 other.example.com\n'))
    await untilQuiet()
    await change('10.0.0.6')
    await untilQuiet()
    expect(configMapText('dnsmasq-dns-hosts')).toContain('10.0.0.8 served.example.com')
    expect([readsOf('served'), readsOf('other')]).toEqual([1, 0])
  })

  it('is not served when all together are larger than what can be published, and the old hosts stay', async () => {
    const text = '10.0.0.8 large.example.com\n'.padEnd(1_000_000, '#')
    for (let index = 0; index < 17; index += 1) {
      await cluster.client.create(hostMap(`large${index}`, 'dnsdata', text))
    }
    await untilQuiet()
    const message = JSON.stringify(cluster.objects('DNSMasq')[0]?.['status'])
    expect(message).toContain('SL6003')
    expect(configMapText('dnsmasq-dns-hosts')).toContain('10.0.0.1 moving.example.com')
  })
})
