/** The LoadBalancer Services of a cloud: the address that each keeps, and what it must ask for to keep it. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { setContains } from '../../net/range-set.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import { formatRange, spanRanges } from '../../render/spans.ts'
import { ingressAddresses, requestedAddresses } from '../../verify/readiness/load-balancer.ts'
import { addressOutsidePlan, foreignServiceInPool, planMovesVip, slotNotPlanned } from '../findings/adopt.ts'
import type { Annotations, LiveSlot } from './live-slots.ts'
import { poolRanges } from './old-pools.ts'
import { missingAnnotations, readAnnotation, writeAnnotations } from './wishes.ts'

export interface ServiceMove {
  readonly name: string
  readonly namespace: string
  readonly network: string
  /** What it has, or asks for while it has nothing. */
  readonly addresses: readonly string[]
  /** Everything that it must ask for in the end. */
  readonly wants: Annotations
  /** What of it is not there yet. */
  readonly lacks: Annotations
  /** It shares its address under another key so far: while Services change it one by one, they do not agree. */
  readonly rekeyed: boolean
  /** Absent for a Service that no slot of the control plane makes. */
  readonly slot?: string
}

export interface ServiceInput {
  readonly live: SnapshotIndex
  readonly places: readonly LiveSlot[]
  readonly uses: readonly SlotUse[]
}

export function findServiceMoves(
  cloud: PlannedCloud,
  { live, places, uses }: ServiceInput,
): { readonly moves: readonly ServiceMove[]; readonly findings: readonly Finding[] } {
  const moves: ServiceMove[] = []
  const findings: Finding[] = []
  for (const service of loadBalancerServices(live, (namespace) => namespace === cloud.namespace)) {
    const { name, namespace = '' } = service.metadata
    const addresses = serviceAddresses(service)
    const [first] = addresses
    // A Service that never got an address has none to keep.
    if (first === undefined) continue
    const network = networkForAddress(cloud, first)
    const words = `${namespace}/${name}`
    if (!network) {
      findings.push(finding(addressOutsidePlan, { service: words, address: first, ranges: vipRanges(cloud) }))
      continue
    }
    const place = places.find((place) => place.service === name)
    const use = place && uses.find(({ path }) => path.join('.') === place.path.join('.'))
    if (use) findings.push(...movedVipFindings(cloud, use.name, words, addresses))
    else if (place) findings.push(finding(slotNotPlanned, { service: words, path: `spec.${place.path.join('.')}` }))
    const wants = requestedAnnotations(service, network, addresses)
    const slot = use?.name ?? place?.path.join('.')
    moves.push({
      name,
      namespace,
      network: network.name,
      addresses,
      wants,
      lacks: missingAnnotations(wants, service.metadata.annotations),
      rekeyed:
        readAnnotation(wants, 'allow-shared-ip') !== readAnnotation(service.metadata.annotations, 'allow-shared-ip'),
      ...(slot !== undefined && { slot }),
    })
  }
  return { moves, findings }
}

/** Services elsewhere that would lose their address to a pool that serves this cloud alone. */
export function foreignServiceFindings(
  live: SnapshotIndex,
  cloud: PlannedCloud,
  pools: readonly KubeObject[],
): readonly Finding[] {
  return loadBalancerServices(live, (namespace) => namespace !== cloud.namespace).flatMap((service) =>
    ingressAddresses(service).flatMap((text) => {
      const address = parseAddress(text)
      const pool = address && pools.find((pool) => setContains(poolRanges(pool), address))
      if (!pool) return []
      const { name, namespace = '' } = service.metadata
      const facts = { service: `${namespace}/${name}`, address: text, pool: pool.metadata.name }
      return [finding(foreignServiceInPool, facts)]
    }),
  )
}

export function networkForAddress(cloud: PlannedCloud, text: string): PlannedNetwork | undefined {
  const address = parseAddress(text)
  return (
    address &&
    cloud.networks.find((network) => network.subnets.some((subnet) => setContains(spanRanges(subnet, 'vips'), address)))
  )
}

function loadBalancerServices(live: SnapshotIndex, within: (namespace: string) => boolean): readonly KubeObject[] {
  return live
    .all('Service')
    .filter((one) => within(one.metadata.namespace ?? '') && getString(one, 'spec', 'type') === 'LoadBalancer')
}

function serviceAddresses(service: KubeObject): readonly string[] {
  const given = ingressAddresses(service)
  return given.length > 0 ? given : requestedAddresses(service)
}

/** MetalLB refuses a Service that asks for its address in two ways: what its spec says stays its only word. */
function requestedAnnotations(service: KubeObject, network: PlannedNetwork, addresses: readonly string[]): Annotations {
  const { annotations } = service.metadata
  const shares = readAnnotation(annotations, 'allow-shared-ip') !== ''
  const fixed = getString(service, 'spec', 'loadBalancerIP') !== undefined
  return writeAnnotations({
    'address-pool': network.pool ?? '',
    ...(shares && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(!fixed && { loadBalancerIPs: addresses.join(',') }),
  })
}

function movedVipFindings(
  cloud: PlannedCloud,
  slot: string,
  service: string,
  addresses: readonly string[],
): readonly Finding[] {
  const planned = cloud.networks.flatMap(({ vips }) => vips).filter((vip) => vip.slot === slot)
  const same = planned.length === addresses.length && planned.every((vip) => addresses.includes(vip.address))
  if (planned.length === 0 || same) return []
  const facts = { planned: planned.map((vip) => vip.address).join(', '), live: addresses.join(', ') }
  return [finding(planMovesVip, { slot, service, ...facts })]
}

function vipRanges(cloud: PlannedCloud): readonly string[] {
  return cloud.networks.flatMap(({ subnets }) =>
    subnets.flatMap((subnet) => spanRanges(subnet, 'vips').map(formatRange)),
  )
}

/** Every address is there again. Until the view shows our own writes, an address in it is the one from before. */
export function hasAddressesBack(
  live: KubeObject,
  { addresses, wants }: Pick<ServiceMove, 'addresses' | 'wants'>,
): boolean {
  const given = ingressAddresses(live)
  const asks = Object.entries(wants)
    .filter(([key]) => key.startsWith('metallb.io/'))
    .every(([key, value]) => live.metadata.annotations?.[key] === value)
  return asks && addresses.every((address) => given.includes(address))
}
