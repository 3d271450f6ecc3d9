/**
 * Tests pools and policies with the real MetalLB and the API server's admission: every Service of every cloud gets the
 * planned address from the planned pool, and no other Service gets it.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Plan, PlannedCloud } from '../../../src/plan/plan.ts'
import { serviceCatalogue } from '../../../src/plan/slots/service-catalogue.ts'
import type { SlotUse } from '../../../src/plan/slots/slots.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'

const cluster = useCluster({ crds: 'today', metallb: true })
const two = planExample('two-clouds')
const every = planExample('every-service')
const five = planExample('five-clouds-bgp')

async function apply(plan: Plan, stages: readonly string[]): Promise<void> {
  for (const { stage, object } of renderDocuments(plan)) {
    // Peers belong to MetalLB's stage; its operator does not run here to read the rest.
    const wanted = stages.includes(stage) && (stage !== 'metallb' || object.kind === 'BGPPeer')
    if (wanted) await cluster.client.apply(object, { fieldManager: 'stackloom' })
  }
}

async function remove(plan: Plan, kinds: readonly string[]): Promise<void> {
  for (const { object } of renderDocuments(plan)) {
    const { apiVersion, kind, metadata } = object
    const { name, namespace } = metadata
    if (kinds.includes(kind))
      await cluster.client.delete({ apiVersion, kind, name, ...(namespace !== undefined && { namespace }) })
  }
}

const ports = new Map(
  serviceCatalogue.flatMap((entry) => entry.endpoints.map((endpoint) => [endpoint.path, endpoint.ports] as const)),
)

/** The Service that the operator would create for a slot: the override at the slot's path in the stored control plane. */
function serviceOf(cloud: PlannedCloud, use: SlotUse, stored: KubeObject): KubeObject {
  const value = use.path.reduce<unknown>((parent, key) => (parent as Record<string, unknown>)[key], stored['spec'])
  const override = value as {
    metadata: { annotations: Record<string, string> }
    spec: Record<string, unknown>
  }
  const flat = use.slot.shape === 'annotations'
  const owner = use.slot.path.join('.').replace(/\.(override\.services?|annotations)$/, '')
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: use.name.replaceAll('.', '-'),
      namespace: cloud.namespace,
      annotations: flat ? (value as Record<string, string>) : override.metadata.annotations,
    },
    spec: {
      ...(flat ? { type: 'LoadBalancer' } : override.spec),
      ports: (ports.get(owner) ?? []).map((port) => ({
        name: `p${port}`,
        port,
        protocol: port === 53 ? 'UDP' : 'TCP',
      })),
    },
  }
}

async function createServices(plan: Plan): Promise<ReadonlyMap<string, string>> {
  const planned = new Map<string, string>()
  for (const cloud of plan.clouds) {
    const stored = await cluster.client.get({
      apiVersion: 'core.openstack.org/v1beta1',
      kind: 'OpenStackControlPlane',
      namespace: cloud.namespace,
      name: 'controlplane',
    })
    if (!stored) throw new Error(`no control plane in ${cloud.namespace}`)
    const vips = cloud.networks.flatMap((network) => network.vips)
    const uses = cloud.uses.map((use) => ({ use, service: serviceOf(cloud, use, stored) }))
    await Promise.all(uses.map(({ service }) => cluster.client.create(service)))
    for (const { use, service } of uses) {
      const addresses = vips.filter((vip) => vip.slot === use.name).map((vip) => vip.address)
      const expected = use.slot.shape === 'annotations' ? addresses.slice(0, 1) : addresses
      const pool = cloud.networks.find((network) => network.name === use.network)?.pool
      planned.set(`${cloud.namespace}/${service.metadata.name}`, `${expected.join(' ')} of ${pool}`)
    }
  }
  return planned
}

/** Addresses and pool that MetalLB assigned, by Service. */
async function given(): Promise<Readonly<Record<string, string>>> {
  const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' })
  const balanced = items.filter((item) => (item['spec'] as { type: string }).type === 'LoadBalancer')
  return Object.fromEntries(
    balanced.map(({ metadata, ...rest }) => {
      const { loadBalancer } = rest['status'] as { loadBalancer: { ingress?: readonly { ip: string }[] } }
      const addresses = (loadBalancer.ingress ?? []).map(({ ip }) => ip).join(' ')
      const pool = metadata.annotations?.['metallb.io/ip-allocated-from-pool']
      return [`${metadata.namespace}/${metadata.name}`, addresses ? `${addresses} of ${pool}` : 'pending']
    }),
  )
}

async function removeServices(): Promise<void> {
  const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' })
  for (const { metadata } of items.filter(({ metadata }) => metadata.namespace !== 'default')) {
    const { name, namespace = '' } = metadata
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Service', name, namespace })
  }
}

function service(namespace: string, name: string, annotations: Record<string, string>, spec: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  }
}

async function refusal(object: KubeObject): Promise<string> {
  try {
    await cluster.client.create(object, { dryRun: true })
    return 'accepted'
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

describe('MetalLB', () => {
  it.each([
    ['two clouds', two],
    ['every service on, public endpoints too', every],
    ['five clouds, both families', five],
  ] as const)(
    'gives every Service the planned addresses from the planned pool: %s',
    async (_, plan) => {
      await apply(plan, ['namespace', 'metallb', 'metallb-config', 'control-plane'])
      const planned = await createServices(plan)
      await expect.poll(given, { timeout: 60_000, interval: 250 }).toEqual(Object.fromEntries(planned))
      await removeServices()
      await remove(plan, ['IPAddressPool', 'L2Advertisement', 'BGPAdvertisement', 'ValidatingAdmissionPolicyBinding'])
      await remove(plan, ['ValidatingAdmissionPolicy'])
    },
    90_000,
  )

  it('refuses a second peer with the same address, so clouds share their peers', async () => {
    const peers = renderDocuments(five).filter(({ object }) => object.kind === 'BGPPeer')
    expect(peers).toHaveLength(2)
    const [first] = peers.map(({ object }) => object)
    const second = { ...first, metadata: { ...first?.metadata, name: 'bgp-peer-openstack2' } } as KubeObject
    await cluster.client.apply(first as KubeObject, { fieldManager: 'stackloom' })
    await expect(cluster.client.apply(second, { fieldManager: 'stackloom' })).rejects.toThrow('duplicate BGPPeers')
  })

  it('refuses Services of other namespaces, but leaves them pending', async () => {
    await apply(two, ['namespace', 'metallb-config'])
    await remove(two, ['ValidatingAdmissionPolicyBinding'])
    const thief = service('openstack2', 'thief', { 'metallb.io/address-pool': 'openstack-internalapi' })
    // The API server's own watch sees the deletion of a binding after a moment.
    await expect.poll(() => refusal(thief), { timeout: 10_000 }).toBe('accepted')
    await cluster.client.create(thief)
    await expect
      .poll(
        async () => {
          const events = await cluster.client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace: 'openstack2' })
          return events.items.map((event) => event['message'])
        },
        { timeout: 15_000 },
      )
      .toContainEqual(expect.stringContaining('pool openstack-internalapi not compatible for ip assignment'))
    expect((await given())['openstack2/thief']).toBe('pending')
    await removeServices()
  })
})

describe('the admission policy', () => {
  beforeAll(async () => {
    await apply(two, ['namespace', 'metallb-config'])
    await cluster.client.apply(
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'others' },
      },
      { fieldManager: 'test' },
    )
    // A policy is effective when the API server's own watch has seen it.
    for (const pool of ['openstack-internalapi', 'openstack2-internalapi']) {
      const probe = service('others', 'probe', { 'metallb.io/address-pool': pool })
      while ((await refusal(probe)) === 'accepted') await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })

  const ownRequests = {
    'metallb.universe.tf/address-pool': 'openstack-internalapi',
    'metallb.universe.tf/allow-shared-ip': 'openstack-internalapi',
    'metallb.universe.tf/loadBalancerIPs': '172.17.0.80',
  }

  const disguise = { 'metallb.io/loadBalancerIPs': '::ffff:172.17.0.80' }

  it('accepts requests for resources of the own cloud', async () => {
    expect(await refusal(service('openstack', 'a', ownRequests))).toBe('accepted')
    expect(await refusal(service('openstack', 'a', {}, { loadBalancerIP: '172.17.0.90' }))).toBe('accepted')
    expect(await refusal(service('openstack', 'a', {}))).toBe('accepted')
  })

  it.each([
    ['pool, new spelling', { 'metallb.io/address-pool': 'openstack-internalapi' }, {}],
    ['pool, old spelling', { 'metallb.universe.tf/address-pool': 'openstack-internalapi' }, {}],
    ['sharing key', { 'metallb.io/allow-shared-ip': 'openstack-internalapi' }, {}],
    ['address', { 'metallb.io/loadBalancerIPs': '172.17.0.84' }, {}],
    ['address among others, with spaces', { 'metallb.universe.tf/loadBalancerIPs': 'fd00::1, 172.17.0.84' }, {}],
    ['address in the field', {}, { loadBalancerIP: '172.17.0.80' }],
    ['address in disguise', disguise, {}],
  ])('refuses requests of other clouds and namespaces: %s', async (_, annotations, spec) => {
    const thief = (namespace: string) => refusal(service(namespace, 'thief', annotations, spec))
    // Every cloud refuses an unreadable address, and two refuse a Service in the second cloud: the server reports one.
    expect(await thief('others')).toMatch(annotations === disguise ? /rhoso[12]: its / : /rhoso1: its /)
    expect(await thief('openstack2')).toMatch(/rhoso1: its |rhoso2: only this cloud's /)
  })

  it('refuses unprefixed names of the samples in a cloud, and allows them elsewhere', async () => {
    const sample = {
      'metallb.universe.tf/address-pool': 'internalapi',
      'metallb.universe.tf/allow-shared-ip': 'internalapi',
    }
    expect(await refusal(service('openstack', 'a', sample))).toContain("rhoso1: only this cloud's pools")
    expect(await refusal(service('others', 'a', sample))).toBe('accepted')
    const elsewhere = { 'metallb.io/loadBalancerIPs': '203.0.113.7', 'metallb.io/address-pool': 'their-pool' }
    expect(await refusal(service('others', 'a', elsewhere))).toBe('accepted')
  })

  it('checks a Service that becomes a LoadBalancer, and no other type', async () => {
    const thief = service(
      'others',
      'later',
      { 'metallb.io/address-pool': 'openstack-internalapi' },
      { type: 'ClusterIP' },
    )
    expect(await refusal(thief)).toBe('accepted')
    await cluster.client.create(thief)
    const change = { spec: { type: 'LoadBalancer' } }
    const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'others', name: 'later' }
    await expect(cluster.client.patch(ref, change, { type: 'merge' })).rejects.toThrow('rhoso1: its pools')
  })
})
