/** Checks that each Service has its planned address from its own pool, which no other namespace uses or shares. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { slotServiceName } from '../../plan/slots/service-names.ts'
import {
  foreignHolder,
  serviceAddressWrong,
  serviceFromOtherPool,
  serviceWithoutAddress,
  sharingKeyCrosses,
  vipUnused,
} from '../findings/check-findings.ts'
import { ingressAddresses, requestedAddresses } from '../readiness/load-balancer.ts'
import { latestEvent } from '../readiness/object-events.ts'
import {
  type CloudCheck,
  type CloudContext,
  EVENT,
  formatCount,
  locateObject,
  outcome,
  SERVICE,
} from './check-definition.ts'
import { exclusiveRanges, findRange } from './planned-ranges.ts'

export const serviceAllocation: CloudCheck = {
  scope: 'cloud',
  id: 'service-ip-allocation',
  title: 'Service IP Allocation',
  promise: 'every LoadBalancer Service has its planned address from its own pool, and every VIP has a Service',
  kinds: [SERVICE],
  optionalKinds: [EVENT],
  run: (context) => {
    const loadBalancers = listLoadBalancers(context)
    const planned = plannedAddresses(context.cloud)
    return {
      seen: `${formatCount(loadBalancers.length, 'Service')}, ${formatCount(vipsByAddress(context.cloud).size, 'VIP')}`,
      count: loadBalancers.length,
      findings: [
        ...loadBalancers.flatMap((service) => checkService(service, planned, context)),
        ...findUnusedVips(context.cloud, loadBalancers, planned),
      ],
    }
  },
}

function listLoadBalancers({ live, cloud }: CloudContext): readonly KubeObject[] {
  return live
    .all('Service')
    .filter(
      (service) =>
        service.metadata.namespace === cloud.namespace && getString(service, 'spec', 'type') === 'LoadBalancer',
    )
}

/** Planned addresses by Service name. A slot without a known Service name is checked by its VIP only. */
function plannedAddresses(cloud: PlannedCloud): ReadonlyMap<string, readonly string[]> {
  const vips = cloud.networks.flatMap((network) => network.vips)
  return new Map(
    cloud.uses.flatMap((use) => {
      const name = slotServiceName(use)
      const addresses = vips.filter(({ slot }) => slot === use.name).map(({ address }) => address)
      return name === undefined || addresses.length === 0 ? [] : [[name, addresses] as const]
    }),
  )
}

function vipsByAddress(cloud: PlannedCloud): ReadonlyMap<string, { readonly slot: string; readonly pool: string }> {
  return new Map(
    cloud.networks.flatMap((network) =>
      network.vips.map(({ address, slot }) => [address, { slot, pool: network.pool ?? '' }] as const),
    ),
  )
}

function checkService(
  service: KubeObject,
  planned: ReadonlyMap<string, readonly string[]>,
  { cloud, live }: CloudContext,
): readonly Finding[] {
  const key = objectKey(service.metadata)
  const has = ingressAddresses(service)
  const expected = planned.get(service.metadata.name)
  const where = locateObject(service)
  if (has.length === 0) {
    const message = latestEvent(service, ['AllocationFailed'], live)?.message
    const asked = (expected ?? requestedAddresses(service)).join(', ')
    return [finding(serviceWithoutAddress, { service: key, planned: asked, said: message }, { where })]
  }
  const vips = vipsByAddress(cloud)
  const wrong = has.filter((address) => (expected ? !expected.includes(address) : !vips.has(address)))
  if (wrong.length > 0) {
    const expectedText = expected?.join(', ') ?? `a VIP of ${cloud.name}`
    return [finding(serviceAddressWrong, { service: key, has: wrong.join(', '), planned: expectedText }, { where })]
  }
  const pool = service.metadata.annotations?.['metallb.io/ip-allocated-from-pool']
  const plannedPool = vips.get(has[0] ?? '')?.pool ?? ''
  return pool === undefined || pool === plannedPool
    ? []
    : [finding(serviceFromOtherPool, { service: key, pool, planned: plannedPool }, { where })]
}

/** VIPs without a Service. Pending Services are already reported. */
function findUnusedVips(
  cloud: PlannedCloud,
  loadBalancers: readonly KubeObject[],
  planned: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  const held = new Set(
    loadBalancers.flatMap((service) => {
      const has = ingressAddresses(service)
      return has.length > 0 ? has : (planned.get(service.metadata.name) ?? [])
    }),
  )
  return [...vipsByAddress(cloud)]
    .filter(([address]) => !held.has(address))
    .map(([address, { slot }]) => finding(vipUnused, { cloud: cloud.name, slot, address }))
}

export const foreignHolders: CloudCheck = {
  scope: 'cloud',
  id: 'foreign-holders',
  title: 'No foreign holder',
  promise: 'no Service of another namespace has an address of this cloud',
  kinds: [SERVICE],
  run: ({ plan, cloud, live }) => {
    const land = exclusiveRanges(plan, cloud)
    const others = live.all('Service').filter(({ metadata }) => metadata.namespace !== cloud.namespace)
    return {
      seen: `${formatCount(others.length, 'Service')} of other namespaces`,
      count: others.length,
      findings: others.flatMap((service) =>
        ingressAddresses(service).flatMap((address) => {
          const owner = findRange(land, address)
          if (!owner) return []
          const facts = {
            cloud: cloud.name,
            service: objectKey(service.metadata),
            address,
            network: owner.network.name,
          }
          return [finding(foreignHolder, facts, { where: locateObject(service) })]
        }),
      ),
    }
  },
}

export const sharingKeys: CloudCheck = {
  scope: 'cloud',
  id: 'sharing-keys',
  title: 'Sharing keys',
  promise: 'no sharing key of this cloud is used by a Service of another namespace',
  kinds: [SERVICE],
  run: ({ cloud, live }) => {
    const keyed = live.all('Service').flatMap((service) => {
      const key = sharingKey(service)
      return key === undefined ? [] : [{ key, service }]
    })
    const cloudKeys = new Map(
      keyed
        .filter(({ service }) => service.metadata.namespace === cloud.namespace)
        .map(({ key, service }) => [key, objectKey(service.metadata)]),
    )
    const others = keyed.filter(({ service }) => service.metadata.namespace !== cloud.namespace)
    // Many Services share one key: report one of them.
    const crossing = new Map(
      others
        .filter(({ key }) => cloudKeys.has(key))
        .map(({ key, service }) => [`${key} ${service.metadata.namespace}`, { key, service }]),
    )
    return outcome(
      cloudKeys.size,
      'key',
      [...crossing.values()].map(({ key, service }) => {
        const facts = { key, here: cloudKeys.get(key) ?? '', there: objectKey(service.metadata) }
        return finding(sharingKeyCrosses, facts, { where: locateObject(service, 'metadata.annotations') })
      }),
    )
  },
}

/** As in MetalLB, the stable prefix takes precedence, even with an empty value. */
function sharingKey({ metadata: { annotations = {} } }: KubeObject): string | undefined {
  const key = annotations['metallb.io/allow-shared-ip'] ?? annotations['metallb.universe.tf/allow-shared-ip']
  return key === '' ? undefined : key
}
