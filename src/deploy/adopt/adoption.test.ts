import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { renderAdvertisements } from '../../render/metallb.ts'
import { renderVipPolicy } from '../../render/vip-policy.ts'
import { type Adoption, interruptedNetworks, isAdopted, planAdoption } from './adoption.ts'
import { controlPlanePatch } from './patch.ts'

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

const wishes = (address: string, shared = true): Record<string, string> => ({
  [`${OLD}/address-pool`]: 'internalapi',
  ...(shared && { [`${OLD}/allow-shared-ip`]: 'internalapi' }),
  [`${OLD}/loadBalancerIPs`]: address,
})

function service(name: string, address: string, annotations = wishes(address), namespace = 'openstack'): KubeObject {
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
            internal: { metadata: { annotations: wishes('172.17.0.80') }, spec: { type: 'LoadBalancer' } },
          },
        },
      },
    },
    rabbitmq: {
      templates: {
        rabbitmq: { override: { service: { metadata: { annotations: wishes('172.17.0.85', false) } } } },
      },
    },
    heat: {
      template: {
        heatAPI: {
          override: { service: { internal: { metadata: { annotations: wishes('172.17.0.80') } } } },
        },
      },
    },
  },
}

const installed: readonly KubeObject[] = [
  controlPlane,
  service('keystone-internal', '172.17.0.80'),
  service('rabbitmq', '172.17.0.85', wishes('172.17.0.85', false)),
  pool('internalapi', ['172.17.0.80-172.17.0.90']),
  advertisement('internalapi', ['internalapi']),
]

const decide = (objects: readonly KubeObject[]): Adoption =>
  planAdoption(plan, cloud, indexSnapshot({ objects, unread: [] }))
const codes = ({ findings }: Adoption): readonly string[] => [...new Set(findings.map(({ code }) => code))].sort()
const internalapi = ({ networks }: Adoption) => networks.find(({ network }) => network === 'internalapi')

describe('the adoption of a cloud', () => {
  it('swaps the pool, keeps each address and asks for it in both spellings', () => {
    const move = internalapi(decide(installed))
    expect(move?.kind).toBe('swap')
    expect(move?.old.map(({ pool: one, keeps }) => [one.metadata.name, keeps])).toEqual([['internalapi', []]])
    const keystone = move?.services.find(({ name }) => name === 'keystone-internal')
    expect(keystone?.addresses).toEqual(['172.17.0.80'])
    expect(keystone?.wants).toEqual(
      Object.fromEntries(
        [OLD, 'metallb.io'].flatMap((prefix) => [
          [`${prefix}/address-pool`, 'openstack-internalapi'],
          [`${prefix}/allow-shared-ip`, 'openstack-internalapi'],
          [`${prefix}/loadBalancerIPs`, '172.17.0.80'],
        ]),
      ),
    )
  })

  it('gives a Service that shared its address with nobody no key', () => {
    const rabbitmq = internalapi(decide(installed))?.services.find(({ name }) => name === 'rabbitmq')
    expect(Object.keys(rabbitmq?.wants ?? {}).some((key) => key.endsWith('allow-shared-ip'))).toBe(false)
  })

  it('leads a slot without a Service to the new pool, too', () => {
    const heat = internalapi(decide(installed))?.slots.find(({ place }) => place.path[0] === 'heat')
    expect(heat?.service).toBeUndefined()
    expect(heat?.wants['metallb.io/address-pool']).toBe('openstack-internalapi')
  })

  it('takes only its own range out of a pool that others use', () => {
    const shared = installed.map((one) =>
      one.kind === 'IPAddressPool' ? pool('internalapi', ['172.17.0.80-172.17.0.90', '172.27.0.80-172.27.0.90']) : one,
    )
    const found = decide(shared)
    expect(internalapi(found)?.old[0]?.keeps).toEqual(['172.27.0.80-172.27.0.90'])
    expect(found.oldAdvertisements).toEqual([])
    expect(codes(found)).toContain('SL4056')
  })

  it('needs no gap where the pool has its name already', () => {
    const named = installed.map((one) =>
      one.kind === 'IPAddressPool' ? pool('openstack-internalapi', ['172.17.0.80-172.17.0.90']) : one,
    )
    const annotated = named.map((one) =>
      one.kind === 'Service'
        ? { ...one, metadata: { ...one.metadata, annotations: renamed(one.metadata.annotations ?? {}) } }
        : one,
    )
    const found = decide(annotated)
    expect(internalapi(found)?.kind).toBe('in place')
    expect(interruptedNetworks(found)).toEqual([])
  })

  it('refuses when the plan has another address than the Service', () => {
    const moved = installed.map((one) =>
      one.metadata.name === 'rabbitmq' && one.kind === 'Service' ? service('rabbitmq', '172.17.0.88') : one,
    )
    expect(codes(decide(moved))).toContain('SL4051')
  })

  it('refuses when a Service has an address that no planned pool holds', () => {
    expect(codes(decide([...installed, service('extra', '172.17.0.95')]))).toContain('SL4052')
  })

  it('refuses when a Service of somebody else has an address of the cloud', () => {
    expect(codes(decide([...installed, service('web', '172.17.0.82', {}, 'shop')]))).toContain('SL4053')
  })

  it('says that there is nothing where there is nothing', () => {
    expect(codes(decide([]))).toEqual(['SL4050'])
  })

  it('leaves a Service whose spec asks for the address to its spec', () => {
    const fixed = {
      ...service('extra', '172.17.0.82', {}),
      spec: { type: 'LoadBalancer', loadBalancerIP: '172.17.0.82' },
    }
    const move = internalapi(decide([...installed, fixed]))?.services.find(({ name }) => name === 'extra')
    expect(Object.keys(move?.wants ?? {}).filter((key) => key.endsWith('loadBalancerIPs'))).toEqual([])
  })

  it('keeps attachments and says what the plan would have otherwise', () => {
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
    const [kept] = decide([...installed, definition]).findings.filter(({ code }) => code === 'SL4055')
    expect(kept?.message).toContain('it has no network_name, the plan has "openstack-internalapi"')
  })

  it('is finished, whatever part of it was done before: the rest is all that is left', () => {
    const first = decide(installed)
    const steps = stepsOf(first)
    fc.assert(
      fc.property(fc.subarray(steps.map((_, at) => at)), (done) => {
        const cutOff = done.reduce((objects, at) => steps[at]?.(objects) ?? objects, installed)
        const rest = stepsOf(decide(cutOff)).reduce((objects, step) => step(objects), cutOff)
        const end = decide(rest)
        expect(isAdopted(end)).toBe(true)
        const addresses = (adoption: Adoption) =>
          adoption.networks.flatMap(({ services }) => services.map(({ name, addresses: own }) => [name, own]))
        expect(addresses(end)).toEqual(addresses(first))
      }),
    )
  })

  describe('is not finished', () => {
    const whole = stepsOf(decide(installed)).reduce((objects, step) => step(objects), installed)
    const own = [...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)]
    const without = ({ kind, metadata }: KubeObject): readonly KubeObject[] =>
      whole.filter((one) => one.kind !== kind || one.metadata.name !== metadata.name)

    it.each(own)('without its $kind $metadata.name', (one) => {
      expect(isAdopted(decide(whole))).toBe(true)
      const left = decide(without(one))
      expect(isAdopted(left)).toBe(false)
      expect(left.missing.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([[one.kind, one.metadata.name]])
    })

    it('while a pool of its own is announced somewhere else', () => {
      const [one] = renderAdvertisements(plan, cloud)
      if (!one) throw new Error('the cloud has no advertisement')
      const elsewhere = { ...one, spec: { ...(one['spec'] as object), interfaces: ['eth9'] } }
      expect(isAdopted(decide([...without(one), elsewhere]))).toBe(false)
    })
  })
})

type Step = (objects: readonly KubeObject[]) => readonly KubeObject[]

/** The move as steps on values: each can have happened or not. */
function stepsOf(found: Adoption): readonly Step[] {
  const put =
    (object: KubeObject): Step =>
    (objects) => [
      ...objects.filter((one) => one.kind !== object.kind || one.metadata.name !== object.metadata.name),
      object,
    ]
  const drop =
    (kind: string, name: string): Step =>
    (objects) =>
      objects.filter((object) => object.kind !== kind || object.metadata.name !== name)
  return [
    ...found.networks.flatMap(({ old, pool: own, services, slots }) => [
      ...old.map(({ pool: one }) => drop('IPAddressPool', one.metadata.name)),
      ...services.map(
        ({ name, lacks }): Step =>
          (objects) =>
            objects.map((object) =>
              object.kind === 'Service' && object.metadata.name === name
                ? {
                    ...object,
                    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...lacks } },
                  }
                : object,
            ),
      ),
      (objects: readonly KubeObject[]) =>
        objects.map((object) => (object.kind === 'OpenStackControlPlane' ? patched(object, slots) : object)),
      put(own),
    ]),
    ...[...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)].map(put),
    ...found.oldAdvertisements.map((oldAdvertisement) => drop(oldAdvertisement.kind, oldAdvertisement.metadata.name)),
  ]
}

function patched(controlPlane: KubeObject, slots: Adoption['networks'][number]['slots']): KubeObject {
  const patch = controlPlanePatch(
    controlPlane,
    slots.map(({ place, wants }) => ({ place, annotations: wants })),
  )
  return merged(controlPlane, patch) as KubeObject
}

function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(value as object) }
  for (const [key, one] of Object.entries(patch)) result[key] = merged(result[key], one)
  return result
}

function renamed(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, value === 'internalapi' ? 'openstack-internalapi' : value]),
  )
}

describe('the patch of a control plane', () => {
  it('sends a list as it was found, and only over the version that it was read from', () => {
    const other = { metadata: { annotations: { mine: 'yes' } }, spec: { type: 'LoadBalancer' } }
    const live = {
      ...controlPlane,
      spec: {
        designate: { template: { designateBackendbind9: { override: { services: [other, other] } } } },
      },
    }
    const path = ['designate', 'template', 'designateBackendbind9', 'override', 'services', '1']
    const place = { path, shape: 'list' as const, service: undefined, annotations: {} }
    const patch = controlPlanePatch(live, [{ place, annotations: { 'metallb.io/address-pool': 'x' } }])
    const annotations = { mine: 'yes', 'metallb.io/address-pool': 'x' }
    const services = [other, { ...other, metadata: { annotations } }]
    expect(patch).toEqual({
      metadata: { resourceVersion: 'seven' },
      spec: { designate: { template: { designateBackendbind9: { override: { services } } } } },
    })
  })
})
