/**
 * Puts objects of another owner where the DNS controllers write: each must stay as it is, be named by a condition or an
 * Event, and survive the deletion of the DNSMasq.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DnsMasq } from '../../../src/api/dnsmasq.ts'
import { ipSets } from '../../../src/api/ipset.ts'
import type { GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import {
  configMaps,
  deployments,
  dnsDatas,
  dnsMasqs,
  serviceAccounts,
  services,
} from '../../../src/controllers/dns/dns-kinds.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { useCluster } from '../../cluster.ts'
import { dnsMasq } from '../../dns.ts'
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
  namespace = `foreign-${number}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
  cluster.client.get({ ...kind, namespace, name })
const condition = async (type: string) =>
  ((await get(dnsMasqs, 'dns')) as DnsMasq | undefined)?.status?.conditions?.find((found) => found.type === type)
const labels = { app: 'mine' }
const deploymentSpec = {
  replicas: 0,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'mine' }] } },
}
const port = { name: 'x', port: 80, protocol: 'TCP', targetPort: 80 }
/** What `metadata` and the API server's own fields leave of an object. */
const content = ({ metadata, ...rest }: KubeObject): object => ({
  ...rest,
  status: undefined,
  uid: metadata.uid,
  labels: metadata.labels,
  owners: metadata.ownerReferences,
})

interface Attack {
  readonly kind: GroupVersionKind
  readonly name: string
  readonly fields: object
  readonly condition: string
}

const attacks: readonly Attack[] = [
  { kind: configMaps, name: 'dns', fields: { data: { mine: 'x' } }, condition: 'ServiceConfigReady' },
  { kind: configMaps, name: 'dnsmasq-dns-hosts', fields: { data: { mine: 'x' } }, condition: 'ServiceConfigReady' },
  { kind: serviceAccounts, name: 'dnsmasq-dns', fields: {}, condition: 'ServiceAccountReady' },
  { kind: services, name: 'dnsmasq-dns', fields: { spec: { ports: [port] } }, condition: 'CreateServiceReady' },
  { kind: deployments, name: 'dnsmasq-dns', fields: { spec: deploymentSpec }, condition: 'DeploymentReady' },
  {
    kind: dnsDatas,
    name: 'dns-svc',
    fields: { spec: { dnsDataLabelSelectorValue: 'mine', hosts: [{ ip: '10.0.0.1', hostnames: ['mine'] }] } },
    condition: 'ServiceConfigReady',
  },
]

describe('a DNSMasq', { timeout: 240_000 }, () => {
  it.each(attacks)('leaves a $kind.kind $name of another owner alone and names it', async (attack) => {
    const metadata = { name: attack.name, namespace }
    await cluster.client.create({ ...attack.kind, metadata, ...attack.fields })
    const before = await get(attack.kind, attack.name)
    await cluster.client.create(dnsMasq('dns', namespace))
    await expect
      .poll(async () => (await condition(attack.condition))?.message, soon)
      .toContain(`${attack.kind.kind} ${namespace}/${attack.name} exists already`)
    expect(await condition(attack.condition)).toMatchObject({ status: 'False' })
    expect(content((await get(attack.kind, attack.name)) as KubeObject)).toEqual(content(before as KubeObject))
    await cluster.client.delete({ ...dnsMasqs, namespace, name: 'dns' })
    await expect.poll(() => get(configMaps, 'dnsmasq-dns-scripts'), soon).toBeUndefined()
    expect((await get(attack.kind, attack.name))?.metadata.uid).toBe(before?.metadata.uid)
  })

  it('replaces what a deleted DNSMasq with its name left', async () => {
    const owner = {
      apiVersion: dnsMasqs.apiVersion,
      kind: 'DNSMasq',
      name: 'dns',
      uid: 'of-a-deleted-one',
      controller: true,
    }
    const metadata = { name: 'dns', namespace, ownerReferences: [owner] }
    await cluster.client.create({ ...configMaps, metadata, data: { old: 'x' } })
    const masq = await cluster.client.create(dnsMasq('dns', namespace))
    await expect
      .poll(async () => (await get(configMaps, 'dns'))?.metadata.ownerReferences?.[0]?.uid, soon)
      .toBe(masq.metadata.uid)
  })
})

describe('an IPSet', { timeout: 240_000 }, () => {
  it('leaves a DNSData of another owner alone and records an Event', async () => {
    const spec = { dnsDataLabelSelectorValue: 'mine', hosts: [{ ip: '10.0.0.1', hostnames: ['mine'] }] }
    await cluster.client.create({ ...dnsDatas, metadata: { name: 'a-ipset', namespace }, spec })
    const network = {
      name: 'ctlplane',
      dnsDomain: 'ctlplane.example.org',
      subnets: [{ name: 'subnet1', cidr: '10.1.0.0/24', allocationRanges: [{ start: '10.1.0.10', end: '10.1.0.20' }] }],
    }
    await cluster.client.create({
      apiVersion: ipSets.apiVersion,
      kind: 'NetConfig',
      metadata: { name: 'netconfig', namespace },
      spec: { networks: [network] },
    })
    const annotations = { 'stackloom.dev/dns': 'true' }
    const networks = [{ name: 'ctlplane', subnetName: 'subnet1' }]
    await cluster.client.create({ ...ipSets, metadata: { name: 'a', namespace, annotations }, spec: { networks } })
    const notes = async (): Promise<readonly string[]> => {
      const { items } = await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace })
      return items.map((event) => String(event['note']))
    }
    await expect
      .poll(notes, soon)
      .toContainEqual(expect.stringContaining(`DNSData ${namespace}/a-ipset exists already`))
    expect((await get(dnsDatas, 'a-ipset'))?.['spec']).toEqual(spec)
  })
})
