/** Services: each has its planned address from its own pool, and nobody else has it or shares it. */
import type { KubeObject } from '../../api/object.ts'
import { keyOf } from '../../api/object.ts'
import { textAt } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import {
  foreignHolder,
  serviceElsewhere,
  serviceFromOtherPool,
  serviceWithoutAddress,
  sharingKeyCrosses,
  vipUnheld,
} from '../../errors/verify.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { serviceOfUse } from '../../plan/slots/service-names.ts'
import { lastSaid } from '../readiness/events.ts'
import { askedAddresses, ingressOf } from '../readiness/services.ts'
import { type CloudCheck, type CloudLook, counted, placeOf } from './check.ts'
import { EVENT, SERVICE } from './kinds.ts'
import { holderOf, landOf } from './spans.ts'

/** Document 001, "Verify Service IP Allocation". */
export const serviceAllocation: CloudCheck = {
  scope: 'cloud',
  id: 'service-ip-allocation',
  title: 'Service IP Allocation',
  promise:
    'every LoadBalancer Service has its planned address from its own pool, and every VIP has its Service',
  kinds: [SERVICE],
  besides: [EVENT],
  look: (look) => {
    const balanced = balancedIn(look)
    const planned = plannedAddresses(look.cloud)
    return {
      seen: `${counted(balanced.length, 'Service')}, ${counted(vipsOf(look.cloud).size, 'VIP')}`,
      count: balanced.length,
      findings: [
        ...balanced.flatMap((one) => judge(one, planned, look)),
        ...unheld(look.cloud, balanced, planned),
      ],
    }
  },
}

function balancedIn({ live, cloud }: CloudLook): readonly KubeObject[] {
  return live
    .all('Service')
    .filter(
      (one) => one.metadata.namespace === cloud.namespace && textAt(one, 'spec', 'type') === 'LoadBalancer',
    )
}

/** What each Service must have, by its name. A slot whose Service cannot be named is judged by its VIP alone. */
function plannedAddresses(cloud: PlannedCloud): ReadonlyMap<string, readonly string[]> {
  const vips = cloud.networks.flatMap((network) => network.vips)
  return new Map(
    cloud.uses.flatMap((use) => {
      const name = serviceOfUse(use)
      const own = vips.filter(({ slot }) => slot === use.name).map(({ address }) => address)
      return name === undefined || own.length === 0 ? [] : [[name, own] as const]
    }),
  )
}

function vipsOf(cloud: PlannedCloud): ReadonlyMap<string, { readonly slot: string; readonly pool: string }> {
  return new Map(
    cloud.networks.flatMap((network) =>
      network.vips.map(({ address, slot }) => [address, { slot, pool: network.pool ?? '' }] as const),
    ),
  )
}

function judge(
  service: KubeObject,
  planned: ReadonlyMap<string, readonly string[]>,
  { cloud, live }: CloudLook,
): readonly Finding[] {
  const key = keyOf(service.metadata)
  const has = ingressOf(service)
  const wanted = planned.get(service.metadata.name)
  const where = placeOf(service)
  if (has.length === 0) {
    const said = lastSaid(service, ['AllocationFailed'], live)?.message
    const asked = (wanted ?? askedAddresses(service)).join(', ')
    return [finding(serviceWithoutAddress, { service: key, planned: asked, said }, { where })]
  }
  const vips = vipsOf(cloud)
  const wrong = has.filter((address) => (wanted ? !wanted.includes(address) : !vips.has(address)))
  if (wrong.length > 0) {
    const words = wanted?.join(', ') ?? `a VIP of ${cloud.name}`
    return [finding(serviceElsewhere, { service: key, has: wrong.join(', '), planned: words }, { where })]
  }
  const pool = service.metadata.annotations?.['metallb.io/ip-allocated-from-pool']
  const own = vips.get(has[0] ?? '')?.pool ?? ''
  return pool === undefined || pool === own
    ? []
    : [finding(serviceFromOtherPool, { service: key, pool, planned: own }, { where })]
}

/** VIPs without a Service; a Service that waits for its address has been told already. */
function unheld(
  cloud: PlannedCloud,
  balanced: readonly KubeObject[],
  planned: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  const held = new Set(
    balanced.flatMap((one) => {
      const has = ingressOf(one)
      return has.length > 0 ? has : (planned.get(one.metadata.name) ?? [])
    }),
  )
  return [...vipsOf(cloud)]
    .filter(([address]) => !held.has(address))
    .map(([address, { slot }]) => finding(vipUnheld, { cloud: cloud.name, slot, address }))
}

export const foreignHolders: CloudCheck = {
  scope: 'cloud',
  id: 'foreign-holders',
  title: 'No foreign holder',
  promise: 'no Service of another namespace holds an address of this cloud',
  kinds: [SERVICE],
  look: ({ plan, cloud, live }) => {
    const land = landOf(plan, cloud)
    const others = live.all('Service').filter(({ metadata }) => metadata.namespace !== cloud.namespace)
    return {
      seen: `${counted(others.length, 'Service')} of other namespaces`,
      count: others.length,
      findings: others.flatMap((service) =>
        ingressOf(service).flatMap((address) => {
          const owner = holderOf(land, address)
          if (!owner) return []
          const facts = {
            cloud: cloud.name,
            service: keyOf(service.metadata),
            address,
            network: owner.network.name,
          }
          return [finding(foreignHolder, facts, { where: placeOf(service) })]
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
  look: ({ cloud, live }) => {
    const keyed = live.all('Service').flatMap((service) => {
      const key = sharingKeyOf(service)
      return key === undefined ? [] : [{ key, service }]
    })
    const own = new Map(
      keyed
        .filter(({ service }) => service.metadata.namespace === cloud.namespace)
        .map(({ key, service }) => [key, keyOf(service.metadata)]),
    )
    const others = keyed.filter(({ service }) => service.metadata.namespace !== cloud.namespace)
    // Many Services share one key: one of them is enough to tell.
    const crossing = new Map(
      others
        .filter(({ key }) => own.has(key))
        .map(({ key, service }) => [`${key} ${service.metadata.namespace}`, { key, service }]),
    )
    return {
      seen: counted(own.size, 'key'),
      count: own.size,
      findings: [...crossing.values()].map(({ key, service }) => {
        const facts = { key, here: own.get(key) ?? '', there: keyOf(service.metadata) }
        return finding(sharingKeyCrosses, facts, { where: placeOf(service, 'metadata.annotations') })
      }),
    }
  },
}

/** The newer spelling wins, even when it is empty, as it does in MetalLB. */
function sharingKeyOf({ metadata: { annotations = {} } }: KubeObject): string | undefined {
  const key = annotations['metallb.io/allow-shared-ip'] ?? annotations['metallb.universe.tf/allow-shared-ip']
  return key === '' ? undefined : key
}
