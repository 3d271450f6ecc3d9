/**
 * Tests the way from an object to a DNS answer: the operator on a real API server, the real MetalLB, a simulated kubelet
 * that writes the volumes, and the real dnsmasq in the pod of the Deployment.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import {
  configMaps,
  deployments,
  dnsDatas,
  dnsMasqs,
  HOSTNAME_ANNOTATION,
  services,
} from '../../../src/controllers/dns/dns-kinds.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { dnsData, dnsMasq, host, someHosts } from '../../dns.ts'
import { testIo } from '../../io.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'
import { addressesOf, missingPrograms, namesOf } from './ask.ts'
import { type ClusterPod, clusterPod } from './cluster-pod.ts'
import { startOperatorProcess } from './operator-process.ts'

const cluster = useCluster({ crds: 'own', metallb: true })
const soon = { timeout: 60_000, interval: 20 }
const missing = missingPrograms()
/** The soak runs together with other work. */
const patience = { timeout: count({ test: 600_000, soak: 1_800_000 }) }
let operator: RunningOperator
let number = 0
let namespace = ''
const running: ClusterPod[] = []

beforeAll(async () => {
  operator = await startOperator(cluster)
}, 600_000)
afterAll(() => operator?.stop())
beforeEach(async (context) => {
  if (missing !== undefined) context.skip(missing)
  number += 1
  namespace = `answers-${number}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})
afterEach(async () => {
  for (const pod of running.splice(0)) await pod.stop()
})

async function start(name: string, delayMs?: () => number): Promise<ClusterPod> {
  const pod = await clusterPod(cluster.client, { namespace, name, ...(delayMs && { delayMs }) })
  running.push(pod)
  return pod
}
const answer = (pod: ClusterPod, name: string): Promise<readonly string[]> => addressesOf(pod.server, name)
const create = (...objects: Parameters<typeof cluster.client.create>[0][]): Promise<unknown> =>
  Promise.all(objects.map((object) => cluster.client.create(object)))

/** Queries without pause until stopped, and collects missing answers. */
function asking(pod: ClusterPod, name: string) {
  const wrong: string[] = []
  let over = false
  let asked = 0
  const running = (async () => {
    while (!over) {
      const got = await answer(pod, name).catch((error: unknown) => [String(error)])
      asked += 1
      if (!got.some((address) => address.startsWith('10.'))) wrong.push(`${asked}: ${got.join(' ') || 'no answer'}`)
    }
  })()
  return {
    stop: async (): Promise<readonly string[]> => {
      over = true
      await running
      return wrong
    },
  }
}

describe('names', { timeout: 240_000 }, () => {
  it('of DNSData are added, changed and removed without a change of the Deployment', async () => {
    await create(dnsMasq('dns', namespace), dnsData('somehosts', someHosts, namespace))
    const pod = await start('dns')
    for (const { ip, hostnames } of someHosts) {
      for (const name of hostnames) await expect.poll(() => answer(pod, name), soon).toEqual([ip])
    }
    const before = await cluster.client.get({ ...deployments, namespace, name: 'dnsmasq-dns' })
    await create(
      dnsData('more', [host('10.0.0.1', 'more.example.com'), host('fd00::1', 'more.example.com')], namespace),
    )
    await expect.poll(() => answer(pod, 'more.example.com'), soon).toEqual(['10.0.0.1'])
    expect(await addressesOf(pod.server, 'more.example.com', 6)).toEqual(['fd00::1'])
    const patch = { spec: { hosts: [host('10.0.0.2', 'more.example.com', 'second.example.com')] } }
    await cluster.client.patch({ ...dnsDatas, namespace, name: 'more' }, patch, { type: 'merge' })
    await expect.poll(() => answer(pod, 'second.example.com'), soon).toEqual(['10.0.0.2'])
    await expect.poll(() => answer(pod, 'more.example.com'), soon).toEqual(['10.0.0.2'])
    expect(await namesOf(pod.server, '10.0.0.2')).toEqual(['more.example.com'])
    await cluster.client.delete({ ...dnsDatas, namespace, name: 'more' })
    await expect.poll(() => answer(pod, 'more.example.com'), soon).toEqual([])
    const after = await cluster.client.get({ ...deployments, namespace, name: 'dnsmasq-dns' })
    expect(after?.metadata.generation).toBe(before?.metadata.generation)
    expect(after?.['spec']).toEqual(before?.['spec'])
  })

  it('of labelled ConfigMaps follow the label when it is added, changed or removed', async () => {
    await create(dnsMasq('first', namespace), dnsMasq('second', namespace, { dnsDataLabelSelectorValue: 'Second' }), {
      ...configMaps,
      metadata: { name: 'by-hand', namespace },
      data: { 'by-hand': '10.0.0.7 hand.example.com\n' },
    })
    const [first, second] = [await start('first'), await start('second')]
    const label = (value: string | null): Promise<unknown> =>
      cluster.client.patch(
        { ...configMaps, namespace, name: 'by-hand' },
        { metadata: { labels: { dnsmasqhosts: value } } },
        { type: 'merge' },
      )
    expect(await answer(first, 'hand.example.com')).toEqual([])
    await label('dnsdata')
    await expect.poll(() => answer(first, 'hand.example.com'), soon).toEqual(['10.0.0.7'])
    expect(await answer(second, 'hand.example.com')).toEqual([])
    await label('second')
    await expect.poll(() => answer(second, 'hand.example.com'), soon).toEqual(['10.0.0.7'])
    await expect.poll(() => answer(first, 'hand.example.com'), soon).toEqual([])
    await label(null)
    await expect.poll(() => answer(second, 'hand.example.com'), soon).toEqual([])
  })

  it("of Services resolve to MetalLB's address, in both forms in which a DNSMasq is exposed", async () => {
    const metadata = { name: `${namespace}-ctlplane`, namespace: 'metallb-system' }
    const spec = { addresses: ['192.168.122.80-192.168.122.90'], autoAssign: false }
    await create({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata, spec })
    const annotations = {
      'metallb.io/address-pool': metadata.name,
      'metallb.io/loadBalancerIPs': '192.168.122.80',
    }
    await create(
      dnsMasq('dns', namespace, {
        override: { service: { metadata: { annotations }, spec: { type: 'LoadBalancer' } } },
      }),
      {
        ...services,
        metadata: {
          name: 'keystone-internal',
          namespace,
          annotations: {
            'metallb.io/address-pool': metadata.name,
            'metallb.io/loadBalancerIPs': '192.168.122.81',
            [HOSTNAME_ANNOTATION]: `keystone-internal.${namespace}.svc`,
          },
        },
        spec: { type: 'LoadBalancer', ports: [{ name: 'api', port: 5000 }] },
      },
    )
    const pod = await start('dns')
    const given = async (name: string): Promise<unknown> => {
      const service = await cluster.client.get({ ...services, namespace, name })
      return (service?.['status'] as { loadBalancer?: { ingress?: { ip: string }[] } } | undefined)?.loadBalancer
        ?.ingress?.[0]?.ip
    }
    await expect.poll(() => answer(pod, `keystone-internal.${namespace}.svc`), soon).toEqual(['192.168.122.81'])
    const addresses = async (): Promise<unknown> => {
      const found = await cluster.client.get({ ...dnsMasqs, namespace, name: 'dns' })
      return (found?.['status'] as { readonly dnsAddresses?: unknown } | undefined)?.dnsAddresses
    }
    await expect.poll(addresses, soon).toEqual(['192.168.122.80'])
    const pool = { ipAddressPool: metadata.name, loadBalancerIPs: ['192.168.122.85'], sharedIP: false }
    await create(dnsMasq('old', namespace, { externalEndpoints: [pool] }))
    await expect.poll(() => given(`dnsmasq-old-${metadata.name}`), soon).toBe('192.168.122.85')
    const io = testIo()
    const words = [
      'dns',
      'status',
      '-n',
      namespace,
      '--kubeconfig',
      cluster.kubeconfig,
      '--query',
      '--server',
      `${pod.server.address}:5353`,
    ]
    expect(await main(words, io)).toBe(0)
    expect(io.out()).toMatch(/keystone-internal.* 192\.168\.122\.81 +the same/)
  })

  it('of an IPSet that requests it resolve to its addresses on every network', async () => {
    await create(dnsMasq('dns', namespace))
    const pod = await start('dns')
    const config = netConfig(threeNetworks, { 'stackloom.dev/segment': namespace })
    await create({ ...config, metadata: { ...config.metadata, namespace } })
    const wish = ipSet('edpm-compute-0', [{ name: 'net-1' }, { name: 'net-2' }], namespace)
    await create({ ...wish, metadata: { ...wish.metadata, annotations: { 'stackloom.dev/dns': 'true' } } })
    await expect.poll(() => answer(pod, 'edpm-compute-0.net-1.example.com'), soon).toEqual(['172.17.0.100'])
    await expect.poll(() => answer(pod, 'edpm-compute-0.net-2'), soon).toEqual(['172.18.0.100'])
    await cluster.client.delete({
      apiVersion: wish.apiVersion,
      kind: 'IPSet',
      namespace,
      name: 'edpm-compute-0',
    })
    await expect.poll(() => answer(pod, 'edpm-compute-0.net-2'), soon).toEqual([])
  })

  it('survive restarts of the operator, a killed API server, and a late kubelet', async () => {
    await create(dnsMasq('dns', namespace), dnsData('moving', [host('10.0.0.1', 'moving.example.com')], namespace))
    const pod = await start('dns', () => Math.round(Math.random() * 200))
    await expect.poll(() => answer(pod, 'moving.example.com'), soon).toEqual(['10.0.0.1'])
    const questions = asking(pod, 'moving.example.com')
    for (let round = 2; round < count({ test: 6, soak: 40 }); round += 1) {
      if (round % 3 === 0) await operator.stop()
      if (round % 4 === 0) await cluster.restart('kube-apiserver')
      const patch = { spec: { hosts: [host(`10.0.0.${round}`, 'moving.example.com')] } }
      await cluster.client.patch({ ...dnsDatas, namespace, name: 'moving' }, patch, { type: 'merge' })
      if (round % 3 === 0) operator = await startOperator(cluster)
      await expect
        .poll(() => answer(pod, 'moving.example.com'), { ...soon, timeout: 60_000 })
        .toEqual([`10.0.0.${round}`])
    }
    expect(await questions.stop()).toEqual([])
  }, 600_000)

  it('survive operators that are killed in the middle of changes', patience, async () => {
    await create(dnsMasq('dns', namespace), dnsData('moving', [host('10.0.0.1', 'moving.example.com')], namespace))
    const pod = await start('dns')
    await expect.poll(() => answer(pod, 'moving.example.com'), soon).toEqual(['10.0.0.1'])
    await operator.stop()
    const questions = asking(pod, 'moving.example.com')
    let last = 1
    const change = async (): Promise<void> => {
      last += 1
      const patch = { spec: { hosts: [host(`10.0.${last >> 7}.${last & 127}`, 'moving.example.com')] } }
      await cluster.client.patch({ ...dnsDatas, namespace, name: 'moving' }, patch, { type: 'merge' })
    }
    const arrived = (): Promise<void> =>
      expect
        .poll(() => answer(pod, 'moving.example.com'), { timeout: 120_000, interval: 20 })
        .toEqual([`10.0.${last >> 7}.${last & 127}`])
    for (let round = 0; round < count({ test: 2, soak: 20 }); round += 1) {
      const mortal = startOperatorProcess(cluster)
      await change()
      await arrived()
      for (let changes = 0; changes < 5; changes += 1) await change()
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
      await mortal.kill()
      await change()
    }
    operator = await startOperator(cluster)
    await arrived()
    expect(await questions.stop()).toEqual([])
  })
})
