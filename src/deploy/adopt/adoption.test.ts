import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { renderAdvertisements } from '../../render/metallb.ts'
import { renderVipPolicy } from '../../render/vip-policy.ts'
import { type Adoption, interruptedNetworks, isAdopted, planAdoption } from './adoption.ts'
import { controlPlanePatch } from './live-slots.ts'

const plan = testPlan()
const cloud = plan.clouds[0] as PlannedCloud
const OLD = 'metallb.universe.tf'

function pool(name: string, addresses: readonly string[]): KubeObject {
  const metadata = { name, namespace: 'metallb-system' }
  return { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata, spec: { addresses } }
}

function advertisement(name: string, pools: readonly string[]): KubeObject {
  const metadata = { name, namespace: 'metallb-system' }
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'L2Advertisement',
    metadata,
    spec: { ipAddressPools: pools },
  }
}

const requests = (address: string, shared = true): Record<string, string> => ({
  [`${OLD}/address-pool`]: 'internalapi',
  ...(shared && { [`${OLD}/allow-shared-ip`]: 'internalapi' }),
  [`${OLD}/loadBalancerIPs`]: address,
})

function service(name: string, address: string, annotations = requests(address), namespace = 'openstack'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, annotations },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: address }] } },
  }
}

const controlPlane: KubeObject = {
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'openstack-galera-network-isolation', namespace: 'openstack', resourceVersion: 'seven' },
  spec: {
    keystone: {
      template: {
        override: {
          service: {
            internal: { metadata: { annotations: requests('172.17.0.80') }, spec: { type: 'LoadBalancer' } },
          },
        },
      },
    },
    rabbitmq: {
      templates: {
        rabbitmq: { override: { service: { metadata: { annotations: requests('172.17.0.85', false) } } } },
      },
    },
    heat: {
      template: {
        heatAPI: {
          override: { service: { internal: { metadata: { annotations: requests('172.17.0.80') } } } },
        },
      },
    },
  },
}

const installed: readonly KubeObject[] = [
  controlPlane,
  service('keystone-internal', '172.17.0.80'),
  service('rabbitmq', '172.17.0.85', requests('172.17.0.85', false)),
  pool('internalapi', ['172.17.0.80-172.17.0.90']),
  advertisement('internalapi', ['internalapi']),
]

const adoptionOf = (objects: readonly KubeObject[]): Adoption =>
  planAdoption(plan, cloud, indexSnapshot({ objects, unread: [] }))
const codes = ({ findings }: Adoption): readonly string[] => [...new Set(findings.map(({ code }) => code))].sort()
const internalapi = ({ networks }: Adoption) => networks.find(({ network }) => network === 'internalapi')

describe('planAdoption', () => {
  it('swaps the pool, keeps each address and requests it in both spellings', () => {
    const move = internalapi(adoptionOf(installed))
    expect(move?.kind).toBe('swap')
    expect(move?.old.map(({ pool: oldPool, remaining }) => [oldPool.metadata.name, remaining])).toEqual([
      ['internalapi', []],
    ])
    const keystone = move?.services.find(({ name }) => name === 'keystone-internal')
    expect(keystone?.addresses).toEqual(['172.17.0.80'])
    expect(keystone?.requested).toEqual(
      Object.fromEntries(
        [OLD, 'metallb.io'].flatMap((prefix) => [
          [`${prefix}/address-pool`, 'openstack-internalapi'],
          [`${prefix}/allow-shared-ip`, 'openstack-internalapi'],
          [`${prefix}/loadBalancerIPs`, '172.17.0.80'],
        ]),
      ),
    )
  })

  it('adds no sharing key to a Service that does not share its address', () => {
    const rabbitmq = internalapi(adoptionOf(installed))?.services.find(({ name }) => name === 'rabbitmq')
    expect(Object.keys(rabbitmq?.requested ?? {}).some((key) => key.endsWith('allow-shared-ip'))).toBe(false)
  })

  it('sets the new pool in a slot without a Service', () => {
    const heat = internalapi(adoptionOf(installed))?.slots.find(({ liveSlot }) => liveSlot.path[0] === 'heat')
    expect(heat?.service).toBeUndefined()
    expect(heat?.requested['metallb.io/address-pool']).toBe('openstack-internalapi')
  })

  it('removes only its own range from a pool that other networks use', () => {
    const shared = installed.map((object) =>
      object.kind === 'IPAddressPool'
        ? pool('internalapi', ['172.17.0.80-172.17.0.90', '172.27.0.80-172.27.0.90'])
        : object,
    )
    const found = adoptionOf(shared)
    expect(internalapi(found)?.old[0]?.remaining).toEqual(['172.27.0.80-172.27.0.90'])
    expect(found.oldAdvertisements).toEqual([])
    expect(codes(found)).toContain('SL4056')
  })

  it('plans no gap for a pool that has its name already', () => {
    const named = installed.map((object) =>
      object.kind === 'IPAddressPool' ? pool('openstack-internalapi', ['172.17.0.80-172.17.0.90']) : object,
    )
    const annotated = named.map((object) =>
      object.kind === 'Service'
        ? { ...object, metadata: { ...object.metadata, annotations: renamed(object.metadata.annotations ?? {}) } }
        : object,
    )
    const found = adoptionOf(annotated)
    expect(internalapi(found)?.kind).toBe('in place')
    expect(interruptedNetworks(found)).toEqual([])
  })

  it('reports a Service whose address differs from the plan', () => {
    const moved = installed.map((object) =>
      object.metadata.name === 'rabbitmq' && object.kind === 'Service' ? service('rabbitmq', '172.17.0.88') : object,
    )
    expect(codes(adoptionOf(moved))).toContain('SL4051')
  })

  it('reports a Service whose address is in no planned pool', () => {
    expect(codes(adoptionOf([...installed, service('extra', '172.17.0.95')]))).toContain('SL4052')
  })

  it('reports a Service of another namespace with an address of the cloud', () => {
    expect(codes(adoptionOf([...installed, service('web', '172.17.0.82', {}, 'shop')]))).toContain('SL4053')
  })

  it('reports a namespace without a cloud', () => {
    expect(codes(adoptionOf([]))).toEqual(['SL4050'])
  })

  it('adds no address annotation to a Service whose spec has the address', () => {
    const fixed = {
      ...service('extra', '172.17.0.82', {}),
      spec: { type: 'LoadBalancer', loadBalancerIP: '172.17.0.82' },
    }
    const move = internalapi(adoptionOf([...installed, fixed]))?.services.find(({ name }) => name === 'extra')
    expect(Object.keys(move?.requested ?? {}).filter((key) => key.endsWith('loadBalancerIPs'))).toEqual([])
  })

  it('keeps network attachments and reports how they differ from the plan', () => {
    const ipam = {
      type: 'whereabouts',
      range: '172.17.0.0/24',
      range_start: '172.17.0.30',
      range_end: '172.17.0.70',
    }
    const definition = {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'internalapi', namespace: 'openstack' },
      spec: { config: JSON.stringify({ name: 'internalapi', ipam }) },
    }
    const [kept] = adoptionOf([...installed, definition]).findings.filter(({ code }) => code === 'SL4055')
    expect(kept?.message).toContain('it has no network_name, the plan has "openstack-internalapi"')
    expect(kept?.remedy).toContain('keep: [attachments]')
    const keeping = testPlan({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', keep: ['attachments', 'control-plane'] }],
    })
    const live = indexSnapshot({ objects: [...installed, definition], unread: [] })
    const { findings } = planAdoption(keeping, keeping.clouds[0] as PlannedCloud, live)
    expect(findings.map(({ code }) => code)).not.toContain('SL4054')
    expect(findings.map(({ code }) => code)).not.toContain('SL4055')
  })

  it('names the node policies of the other tool that configure the same interfaces', () => {
    const policy = (name: string, labels: Record<string, string>, nic: string): KubeObject => ({
      apiVersion: 'nmstate.io/v1',
      kind: 'NodeNetworkConfigurationPolicy',
      metadata: { name, labels },
      spec: { desiredState: { interfaces: [{ name: nic }, { name: 'eno9' }] } },
    })
    const ours = { 'app.kubernetes.io/managed-by': 'stackloom' }
    const policies = [policy('old', {}, 'enp6s0.20'), policy('other', {}, 'eno8'), policy('ours', ours, 'enp6s0.20')]
    const named = adoptionOf([...installed, ...policies]).findings.filter(({ code }) => code === 'SL4066')
    expect(named.map(({ message }) => message)).toEqual([
      'NodeNetworkConfigurationPolicy old configures enp6s0.20, as the plan does',
    ])
  })

  it('completes an adoption of which any part was done before (property)', () => {
    const first = adoptionOf(installed)
    const steps = stepsOf(first)
    fc.assert(
      fc.property(fc.subarray(steps.map((_, index) => index)), (done) => {
        const partial = done.reduce((objects, index) => steps[index]?.(objects) ?? objects, installed)
        const rest = stepsOf(adoptionOf(partial)).reduce((objects, step) => step(objects), partial)
        const end = adoptionOf(rest)
        expect(isAdopted(end)).toBe(true)
        const addresses = (adoption: Adoption) =>
          adoption.networks.flatMap(({ services }) => services.map(({ name, addresses: kept }) => [name, kept]))
        expect(addresses(end)).toEqual(addresses(first))
      }),
    )
  })

  describe('isAdopted', () => {
    const whole = stepsOf(adoptionOf(installed)).reduce((objects, step) => step(objects), installed)
    const rendered = [...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)]
    const without = ({ kind, metadata }: KubeObject): readonly KubeObject[] =>
      whole.filter((object) => object.kind !== kind || object.metadata.name !== metadata.name)

    it.each(rendered)('is false without $kind $metadata.name', (object) => {
      expect(isAdopted(adoptionOf(whole))).toBe(true)
      const left = adoptionOf(without(object))
      expect(isAdopted(left)).toBe(false)
      expect(left.missing.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
        [object.kind, object.metadata.name],
      ])
    })

    it('is false while a pool of the cloud is announced on another interface', () => {
      const [first] = renderAdvertisements(plan, cloud)
      if (!first) throw new Error('the cloud has no advertisement')
      const elsewhere = { ...first, spec: { ...(first['spec'] as object), interfaces: ['eth9'] } }
      expect(isAdopted(adoptionOf([...without(first), elsewhere]))).toBe(false)
    })
  })
})

type Step = (objects: readonly KubeObject[]) => readonly KubeObject[]

/** The steps of the move as functions over objects: each may be done or not. */
function stepsOf(found: Adoption): readonly Step[] {
  const put =
    (object: KubeObject): Step =>
    (objects) => [
      ...objects.filter(({ kind, metadata }) => kind !== object.kind || metadata.name !== object.metadata.name),
      object,
    ]
  const drop =
    (kind: string, name: string): Step =>
    (objects) =>
      objects.filter((object) => object.kind !== kind || object.metadata.name !== name)
  return [
    ...found.networks.flatMap(({ old, pool: newPool, services, slots }) => [
      ...old.map(({ pool: oldPool }) => drop('IPAddressPool', oldPool.metadata.name)),
      ...services.map(
        ({ name, missing }): Step =>
          (objects) =>
            objects.map((object) =>
              object.kind === 'Service' && object.metadata.name === name
                ? {
                    ...object,
                    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...missing } },
                  }
                : object,
            ),
      ),
      (objects: readonly KubeObject[]) =>
        objects.map((object) => (object.kind === 'OpenStackControlPlane' ? patched(object, slots) : object)),
      put(newPool),
    ]),
    ...[...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)].map(put),
    ...found.oldAdvertisements.map((oldAdvertisement) => drop(oldAdvertisement.kind, oldAdvertisement.metadata.name)),
  ]
}

function patched(controlPlane: KubeObject, slots: Adoption['networks'][number]['slots']): KubeObject {
  const patch = controlPlanePatch(
    controlPlane,
    slots.map(({ liveSlot, requested }) => ({ slot: liveSlot, annotations: requested })),
  )
  return merged(controlPlane, patch) as KubeObject
}

function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(value as object) }
  for (const [key, child] of Object.entries(patch)) result[key] = merged(result[key], child)
  return result
}

function renamed(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, value === 'internalapi' ? 'openstack-internalapi' : value]),
  )
}

describe('controlPlanePatch', () => {
  it('sends a list as it was read, with the resource version that it was read from', () => {
    const other = { metadata: { annotations: { mine: 'yes' } }, spec: { type: 'LoadBalancer' } }
    const live = {
      ...controlPlane,
      spec: {
        designate: { template: { designateBackendbind9: { override: { services: [other, other] } } } },
      },
    }
    const path = ['designate', 'template', 'designateBackendbind9', 'override', 'services', '1']
    const slot = { path, shape: 'list' as const, service: undefined, annotations: {} }
    const patch = controlPlanePatch(live, [{ slot, annotations: { 'metallb.io/address-pool': 'x' } }])
    const annotations = { mine: 'yes', 'metallb.io/address-pool': 'x' }
    const services = [other, { ...other, metadata: { annotations } }]
    expect(patch).toEqual({
      metadata: { resourceVersion: 'seven' },
      spec: { designate: { template: { designateBackendbind9: { override: { services } } } } },
    })
  })
})
