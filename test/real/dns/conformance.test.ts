/**
 * Runs the functional cases of infra-operator's own suite for DNSMasq, DNSData and Services against a real API server
 * with upstream's CRDs. A case that cannot fail is replaced by one that can; where upstream expects a rollout for a
 * record, the answer changes and the pod template does not (`answers.test.ts`).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DnsData } from '../../../src/api/dnsdata.ts'
import type { DnsMasq, DnsMasqSpec } from '../../../src/api/dnsmasq.ts'
import type { Condition, GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import {
  configMaps,
  deployments,
  dnsDatas,
  dnsMasqs,
  HOSTNAME_ANNOTATION,
  serviceAccounts,
  services,
  topologies,
} from '../../../src/controllers/dns/dns-kinds.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { useCluster } from '../../cluster.ts'
import { dnsData, dnsMasq, host } from '../../dns.ts'
import { podSpec } from '../../dns-pod.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'today' })
const soon = { timeout: 60_000, interval: 50 }
let operator: RunningOperator
let number = 0
let namespace = ''

beforeAll(async () => {
  for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
  await vi.waitFor(async () => {
    const kind = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'AddressBlock' }
    if (!(await cluster.client.resource(kind))) throw new Error('not served yet')
  }, soon)
  operator = await startOperator(cluster)
}, 600_000)
afterAll(() => operator?.stop())

beforeEach(async () => {
  number += 1
  namespace = `dns-${number}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
  cluster.client.get({ ...kind, namespace, name })
const masq = async (): Promise<DnsMasq> => (await get(dnsMasqs, 'dns')) as DnsMasq
const data = async (name: string): Promise<DnsData> => (await get(dnsDatas, name)) as DnsData
const conditionOf = (object: { status?: { conditions?: readonly Condition[] } }, type: string) =>
  object.status?.conditions?.find((condition) => condition.type === type)
const condition = async (type: string): Promise<Condition | undefined> => conditionOf(await masq(), type)
const loadBalancer: Partial<DnsMasqSpec> = {
  override: {
    service: {
      metadata: {
        annotations: {
          'metallb.universe.tf/address-pool': 'ctlplane',
          'metallb.universe.tf/allow-shared-ip': 'ctlplane',
          'metallb.universe.tf/loadBalancerIPs': '192.168.122.80',
        },
      },
      spec: { type: 'LoadBalancer' },
    },
  },
}
const create = (spec: Partial<DnsMasqSpec> = {}): Promise<unknown> =>
  cluster.client.create(dnsMasq('dns', namespace, { ...loadBalancer, ...spec }))
const change = (spec: object): Promise<unknown> =>
  cluster.client.patch({ ...dnsMasqs, namespace, name: 'dns' }, { spec }, { type: 'merge' })

async function giveAddress(name: string, ...ips: string[]): Promise<void> {
  await expect.poll(() => get(services, name), soon).toBeDefined()
  const status = { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } }
  await cluster.client.patch({ ...services, namespace, name }, { status }, { type: 'merge', subresource: 'status' })
}

/** Simulates the Deployment controller. */
async function rollOut(status: object): Promise<void> {
  await expect.poll(() => get(deployments, 'dnsmasq-dns'), soon).toBeDefined()
  const { generation } = (await get(deployments, 'dnsmasq-dns'))?.metadata ?? {}
  const whole = { observedGeneration: generation, ...status }
  const ref = { ...deployments, namespace, name: 'dnsmasq-dns' }
  await cluster.client.patch(ref, { status: whole }, { type: 'merge', subresource: 'status' })
}

const template = async (): Promise<Record<string, unknown>> =>
  podSpec((await get(deployments, 'dnsmasq-dns')) as KubeObject) as unknown as Record<string, unknown>

describe('DNSMasq', { timeout: 240_000 }, () => {
  it('26 to 29, 35: has an account without permissions, its configuration and a hash', async () => {
    await create({
      options: [
        { key: 'server', values: ['1.1.1.1'] },
        { key: 'no-negcache', values: [] },
      ],
    })
    await expect
      .poll(() => condition('ServiceConfigReady'), soon)
      .toMatchObject({ status: 'True', message: 'Service config create completed' })
    expect((await masq()).spec.containerImage).toBe('test-dnsmasq-container-image')
    expect(await get(serviceAccounts, 'dnsmasq-dns')).toBeDefined()
    for (const type of ['ServiceAccountReady', 'RoleReady', 'RoleBindingReady']) {
      expect(await condition(type)).toMatchObject({ status: 'True' })
    }
    expect(await get(configMaps, 'dns')).toMatchObject({
      metadata: { labels: { 'dnsmasq.openstack.org/name': 'dns' } },
      data: { dns: `server=1.1.1.1\nno-negcache\nlocal=/${namespace}.svc/\n` },
    })
    expect((await masq()).status).toMatchObject({
      readyCount: 0,
      hash: { input: expect.stringMatching(/./) },
    })
    await change({ options: [{ key: 'local', values: ['/my.svc/'] }] })
    await expect.poll(async () => (await get(configMaps, 'dns'))?.['data'], soon).toEqual({ dns: 'local=/my.svc/\n' })
  })

  it('30, 31: reports a pending address, then has it; the Deployment exists all the time', async () => {
    await create()
    await expect
      .poll(() => condition('CreateServiceReady'), soon)
      .toMatchObject({
        status: 'False',
        message: 'Create service error occurred dnsmasq-dns LoadBalancer IP still pending',
      })
    await giveAddress('dnsmasq-dns', '192.168.122.80')
    await expect
      .poll(() => condition('CreateServiceReady'), soon)
      .toMatchObject({ status: 'True', message: 'Create service completed' })
    expect((await masq()).status).toMatchObject({
      dnsAddresses: ['192.168.122.80'],
      dnsClusterAddresses: [expect.any(String)],
    })
    expect((await get(services, 'dnsmasq-dns'))?.metadata).toMatchObject({
      labels: { service: 'dnsmasq' },
      annotations: { 'metallb.universe.tf/address-pool': 'ctlplane' },
    })
    expect(await condition('DeploymentReady')).toMatchObject({
      status: 'False',
      reason: 'Requested',
      message: 'Deployment in progress',
    })
    const { containers, initContainers } = podSpec((await get(deployments, 'dnsmasq-dns')) as KubeObject)
    expect(containers).toMatchObject([
      {
        image: 'test-dnsmasq-container-image',
        livenessProbe: { tcpSocket: { port: 5353 } },
        readinessProbe: { tcpSocket: { port: 5353 } },
      },
    ])
    expect(initContainers).toHaveLength(1)
    expect((await get(deployments, 'dnsmasq-dns'))?.['spec']).toMatchObject({ replicas: 1 })
  })

  it('32, 33: changes its hash with every record, and its Deployment with none', async () => {
    await create()
    await expect.poll(async () => (await masq()).status?.hash?.['input'], soon).toBeDefined()
    await expect.poll(() => get(deployments, 'dnsmasq-dns'), soon).toBeDefined()
    const before = await get(deployments, 'dnsmasq-dns')
    const hash = async (): Promise<string | undefined> => (await masq()).status?.hash?.['input']
    const first = await hash()
    const metadata = { name: 'some-dnsdata', namespace, labels: { dnsmasqhosts: 'dnsdata' } }
    await cluster.client.create({ ...configMaps, metadata, data: { 'some-dnsdata': '10.0.0.1 a\n' } })
    await expect.poll(hash, soon).not.toBe(first)
    const second = await hash()
    await cluster.client.delete({ ...configMaps, namespace, name: 'some-dnsdata' })
    await expect.poll(hash, soon).toBe(first)
    expect(second).not.toBe(first)
    expect((await get(deployments, 'dnsmasq-dns'))?.metadata.generation).toBe(before?.metadata.generation)
  })

  it('34: is deleted with its ConfigMaps', async () => {
    await create()
    const own = async (): Promise<readonly string[]> =>
      (await cluster.client.list(configMaps, { namespace })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name !== 'kube-root-ca.crt')
    await expect.poll(own, soon).toContain('dns')
    await cluster.client.delete({ ...dnsMasqs, namespace, name: 'dns' })
    // Its DNSData is left to garbage collection, which this cluster does not have.
    await expect.poll(own, soon).toEqual(['dns-svc'])
  })

  it('36 to 38: is ready when the rollout is complete, and reports why not', async () => {
    await create()
    await giveAddress('dnsmasq-dns', '192.168.122.80')
    await rollOut({ replicas: 1, unavailableReplicas: 1 })
    await expect.poll(() => condition('DeploymentReady'), soon).toMatchObject({ status: 'False' })
    expect(await condition('Ready')).toMatchObject({ status: 'False' })
    const stuck = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'it took too long',
    }
    await rollOut({ replicas: 1, unavailableReplicas: 1, conditions: [stuck] })
    await expect
      .poll(() => condition('Ready'), soon)
      .toMatchObject({
        status: 'False',
        message: 'Deployment error occurred it took too long',
      })
    await rollOut({
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      updatedReplicas: 1,
      unavailableReplicas: 0,
      conditions: [],
    })
    await expect.poll(() => condition('Ready'), soon).toMatchObject({ status: 'True', message: 'Setup complete' })
    expect(await condition('DeploymentReady')).toMatchObject({
      status: 'True',
      message: 'Deployment completed',
    })
    expect((await masq()).status?.readyCount).toBe(1)
  })

  it('39 to 42: sets, changes and removes the node selector of its pods', async () => {
    await create({ nodeSelector: { foo: 'bar' } })
    await expect.poll(() => get(deployments, 'dnsmasq-dns'), soon).toBeDefined()
    expect((await template())['nodeSelector']).toEqual({ foo: 'bar' })
    await change({ nodeSelector: { foo: null, foo2: 'bar2' } })
    await expect.poll(async () => (await template())['nodeSelector'], soon).toEqual({ foo2: 'bar2' })
    await change({ nodeSelector: { foo2: null } })
    await expect.poll(async () => (await template())['nodeSelector'], soon).toBeUndefined()
    await change({ nodeSelector: { foo: 'bar' } })
    await expect.poll(async () => (await template())['nodeSelector'], soon).toEqual({ foo: 'bar' })
    await change({ nodeSelector: null })
    await expect.poll(async () => (await template())['nodeSelector'], soon).toBeUndefined()
  })

  it('43 to 47: uses the constraints of its Topology, and holds and releases it', async () => {
    const constraints = [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }]
    for (const name of ['topology', 'other']) {
      await cluster.client.create({
        ...topologies,
        metadata: { name, namespace },
        spec: { topologySpreadConstraints: constraints },
      })
    }
    const finalizers = async (name: string): Promise<readonly string[]> =>
      (await get(topologies, name))?.metadata.finalizers ?? []
    await create({ topologyRef: { name: 'topology' } })
    await expect
      .poll(async () => (await masq()).status?.lastAppliedTopology, soon)
      .toEqual({ name: 'topology', namespace })
    expect(await finalizers('topology')).toEqual(['openstack.org/dnsmasq-dns'])
    expect(await template()).toMatchObject({ topologySpreadConstraints: constraints })
    expect((await template())['affinity']).toBeUndefined()
    await change({ topologyRef: { name: 'other' } })
    await expect.poll(() => finalizers('other'), soon).toEqual(['openstack.org/dnsmasq-dns'])
    await expect.poll(() => finalizers('topology'), soon).toEqual([])
    await change({ topologyRef: null })
    await expect.poll(() => finalizers('other'), soon).toEqual([])
    await expect.poll(async () => (await masq()).status?.lastAppliedTopology, soon).toBeUndefined()
    expect((await template())['topologySpreadConstraints']).toBeUndefined()
  })

  it('is refused with a directive in a value', async () => {
    const smuggled = create({ options: [{ key: 'server', values: ['1.1.1.1\ndhcp-script=/bin/sh'] }] })
    await expect(smuggled).rejects.toThrow('a line break would start another directive')
  })

  it('selects only its own pods in a namespace with several DNSMasqs', async () => {
    await create()
    await cluster.client.create(dnsMasq('second', namespace, { dnsDataLabelSelectorValue: 'second' }))
    const selector = async (name: string): Promise<unknown> =>
      ((await get(services, name))?.['spec'] as { selector?: unknown } | undefined)?.selector
    await expect.poll(() => selector('dnsmasq-second'), soon).toMatchObject({ 'dnsmasq.openstack.org/name': 'second' })
    await expect.poll(() => selector('dnsmasq-dns'), soon).toMatchObject({ 'dnsmasq.openstack.org/name': 'dns' })
  })
})

describe('DNSData', { timeout: 240_000 }, () => {
  const make = (): Promise<unknown> =>
    cluster.client.create(
      dnsData('some', [host('host-ip-1', 'host1'), host('host-ip-2', 'host3', 'host2')], namespace, 'someselector'),
    )

  it('48 to 51: is copied to a ConfigMap, has a hash, and is ready', async () => {
    await make()
    await expect.poll(async () => conditionOf(await data('some'), 'Ready')?.status, soon).toBe('True')
    const { spec, status } = await data('some')
    expect(spec).toMatchObject({ dnsDataLabelSelectorValue: 'someselector', hosts: [{}, {}] })
    expect(status?.hash).toMatch(/./)
    expect(conditionOf(await data('some'), 'ServiceConfigReady')).toMatchObject({
      status: 'True',
      message: 'Input data complete',
    })
    expect(await get(configMaps, 'some')).toMatchObject({
      metadata: { labels: { dnsmasqhosts: 'someselector' } },
      data: { some: 'host-ip-1 host1\nhost-ip-2 host2 host3\n' },
    })
    expect(conditionOf(await data('some'), 'HostsUsable')?.message).toContain('SL6002')
  })

  it('is split over several ConfigMaps when it is too large, and deleted with all of them', async () => {
    const label = 'x'.repeat(60)
    const hosts = Array.from({ length: 5_000 }, (_, at) =>
      host(`10.1.${at >> 7}.${at & 127}`, `host-${at}.${label}.${label}.${label}`),
    )
    await cluster.client.create(dnsData('large', hosts, namespace))
    await expect.poll(async () => conditionOf(await data('large'), 'Ready')?.status, soon).toBe('True')
    const texts = await Promise.all(
      ['large', 'large.part-2'].map(async (name) =>
        Object.values(((await get(configMaps, name))?.['data'] ?? {}) as Record<string, string>).join(''),
      ),
    )
    expect(texts.every((text) => text.length > 0 && text.length <= 1_000_000)).toBe(true)
    const lines = texts.join('').split('\n').filter(Boolean)
    expect(lines).toEqual(hosts.map(({ ip, hostnames }) => `${ip} ${hostnames.join(' ')}`))
    await cluster.client.delete({ ...dnsDatas, namespace, name: 'large' })
    await expect.poll(() => get(configMaps, 'large.part-2'), soon).toBeUndefined()
    await expect.poll(() => get(configMaps, 'large'), soon).toBeUndefined()
  })

  it('52: is deleted with its ConfigMap', async () => {
    await make()
    await expect.poll(() => get(configMaps, 'some'), soon).toBeDefined()
    await cluster.client.delete({ ...dnsDatas, namespace, name: 'some' })
    await expect.poll(() => get(configMaps, 'some'), soon).toBeUndefined()
  })

  it('does not overwrite a ConfigMap that was created manually', async () => {
    await cluster.client.create({ ...configMaps, metadata: { name: 'some', namespace }, data: { mine: 'x' } })
    await make()
    await expect.poll(async () => conditionOf(await data('some'), 'Ready')?.message, soon).toContain('SL6004')
    expect((await get(configMaps, 'some'))?.['data']).toEqual({ mine: 'x' })
  })
})

describe('Services', { timeout: 240_000 }, () => {
  const register = async (annotations: Readonly<Record<string, string>>): Promise<void> => {
    await create()
    const metadata = { name: 'some-service', namespace, annotations }
    const ports = [{ name: 'http', port: 80 }]
    await cluster.client.create({ ...services, metadata, spec: { type: 'LoadBalancer', ports } })
    await giveAddress('some-service', '172.20.0.80')
  }
  const hosts = async (): Promise<unknown> => (await data('dns-svc'))?.spec.hosts

  it('53, 54: are registered with their address until they are deleted', async () => {
    const name = `some-service.${namespace}.svc`
    await register({ [HOSTNAME_ANNOTATION]: name })
    await expect.poll(hosts, soon).toEqual([{ ip: '172.20.0.80', hostnames: [name] }])
    expect((await data('dns-svc')).spec.dnsDataLabelSelectorValue).toBe('dnsdata')
    await giveAddress('some-service', '172.20.0.81', '172.20.0.82')
    await expect.poll(hosts, soon).toMatchObject([{ ip: '172.20.0.81' }, { ip: '172.20.0.82' }])
    await cluster.client.delete({ ...services, namespace, name: 'some-service' })
    await expect.poll(hosts, soon).toBeUndefined()
    expect(await data('dns-svc')).toBeDefined()
  })

  it('55: are not registered without the annotation, until they have it', async () => {
    await register({})
    await expect.poll(() => data('dns-svc'), soon).toBeDefined()
    expect(await hosts()).toBeUndefined()
    const metadata = { annotations: { [HOSTNAME_ANNOTATION]: 'late.svc' } }
    await cluster.client.patch({ ...services, namespace, name: 'some-service' }, { metadata }, { type: 'merge' })
    await expect.poll(hosts, soon).toEqual([{ ip: '172.20.0.80', hostnames: ['late.svc'] }])
  })

  it('with a host name instead of an address are skipped with an Event; others are registered', async () => {
    await register({ [HOSTNAME_ANNOTATION]: 'good.svc' })
    const metadata = { name: 'elsewhere', namespace, annotations: { [HOSTNAME_ANNOTATION]: 'bad.svc' } }
    await cluster.client.create({
      ...services,
      metadata,
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    })
    const status = { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }] } }
    await cluster.client.patch(
      { ...services, namespace, name: 'elsewhere' },
      { status },
      { type: 'merge', subresource: 'status' },
    )
    await expect.poll(hosts, soon).toEqual([{ ip: '172.20.0.80', hostnames: ['good.svc'] }])
    const events = async (): Promise<readonly unknown[]> =>
      (await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace })).items.map(
        (item) => item['note'],
      )
    await expect.poll(events, soon).toContainEqual(expect.stringContaining('SL6005'))
  })
})
