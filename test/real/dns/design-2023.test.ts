/** Runs the DNS example of the 2023 networking design with its CRDs and without webhooks, so that the controller checks. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DnsData } from '../../../src/api/dnsdata.ts'
import type { DnsMasq, DnsOption } from '../../../src/api/dnsmasq.ts'
import type { Condition } from '../../../src/api/object.ts'
import { configMaps, deployments, dnsDatas, dnsMasqs } from '../../../src/controllers/dns/dns-kinds.ts'
import { useCluster } from '../../cluster.ts'
import { dnsData, dnsMasq, someHosts } from '../../dns.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'
import { addressesOf, missingPrograms } from './ask.ts'
import { type ClusterPod, clusterPod } from './cluster-pod.ts'

const cluster = useCluster({ crds: '2023', metallb: true })
const soon = { timeout: 60_000, interval: 50 }
const missing = missingPrograms()
let operator: RunningOperator
let number = 0
let namespace = ''
const running: ClusterPod[] = []

beforeAll(async () => {
  operator = await launchOperator(cluster, { noWebhooks: true, parts: ['dns'] })
}, 600_000)
afterAll(() => operator?.stop())
beforeEach(async (context) => {
  if (missing !== undefined) context.skip(missing)
  number += 1
  namespace = `design-${number}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})
afterEach(async () => {
  for (const pod of running.splice(0)) await pod.stop()
})

const masq = async (): Promise<DnsMasq> =>
  (await cluster.client.get({ ...dnsMasqs, namespace, name: 'dns' })) as DnsMasq
const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)
const configOf = async (): Promise<unknown> =>
  (await cluster.client.get({ ...configMaps, namespace, name: 'dns' }))?.['data']
const server: DnsOption = { key: 'server', values: ['192.168.122.1'] }

describe('the DNS of the 2023 design', { timeout: 120_000 }, () => {
  it('has an address of its pool and answers for every host', async () => {
    const metadata = { name: 'ctlplane', namespace: 'metallb-system' }
    const spec = { addresses: ['192.168.122.80-192.168.122.90'], autoAssign: false }
    await cluster.client.create({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata, spec })
    const endpoint = { ipAddressPool: 'ctlplane', loadBalancerIPs: ['192.168.122.80'] }
    await cluster.client.create(dnsMasq('dns', namespace, { options: [server], externalEndpoints: [endpoint] }))
    await cluster.client.create(dnsData('somehosts', someHosts, namespace))
    const pod = await clusterPod(cluster.client, { namespace, name: 'dns' })
    running.push(pod)
    for (const { ip, hostnames } of someHosts) {
      for (const name of hostnames) await expect.poll(() => addressesOf(pod.server, name), soon).toEqual([ip])
    }
    await expect.poll(async () => (await masq()).status?.dnsAddresses, soon).toEqual(['192.168.122.80'])
    expect(await configOf()).toEqual({ dns: `server=192.168.122.1\nlocal=/${namespace}.svc/\n` })
    const { conditions, hash } = (await masq()).status ?? {}
    expect(hash).toEqual({ input: expect.stringMatching(/./) })
    expect(conditionOf(conditions, 'ServiceConfigReady')?.status).toBe('True')
    const hosts = async (): Promise<DnsData> =>
      (await cluster.client.get({ ...dnsDatas, namespace, name: 'somehosts' })) as DnsData
    await expect.poll(async () => conditionOf((await hosts()).status?.conditions, 'Ready')?.status, soon).toBe('True')
  })

  it('ignores an option with a directive in its value, and keeps its configuration', async () => {
    await cluster.client.create(dnsMasq('dns', namespace, { options: [server] }))
    const good = { dns: `server=192.168.122.1\nlocal=/${namespace}.svc/\n` }
    await expect.poll(configOf, soon).toEqual(good)
    const template = async (): Promise<unknown> =>
      (await cluster.client.get({ ...deployments, namespace, name: 'dnsmasq-dns' }))?.['spec']
    await expect.poll(template, soon).toBeDefined()
    const before = await template()
    const change = (options: readonly DnsOption[]): Promise<unknown> =>
      cluster.client.patch({ ...dnsMasqs, namespace, name: 'dns' }, { spec: { options } }, { type: 'merge' })
    await change([{ key: 'server', values: ['192.168.122.1\ndhcp-script=/bin/sh'] }])
    const configCondition = async (): Promise<Condition | undefined> =>
      conditionOf((await masq()).status?.conditions, 'ServiceConfigReady')
    await expect.poll(async () => (await configCondition())?.status, soon).toBe('False')
    expect((await configCondition())?.message).toContain('SL6001')
    expect((await configCondition())?.message).toContain('a line break would start another directive')
    expect(conditionOf((await masq()).status?.conditions, 'Ready')?.status).toBe('False')
    expect(await configOf()).toEqual(good)
    expect(await template()).toEqual(before)
    await change([{ key: 'server', values: ['192.168.122.2'] }])
    await expect.poll(async () => (await configCondition())?.status, soon).toBe('True')
    await expect.poll(configOf, soon).toEqual({ dns: `server=192.168.122.2\nlocal=/${namespace}.svc/\n` })
  })
})
