/**
 * Determines for each LoadBalancer Service of a cloud, and for each slot of its control plane, which MetalLB annotations
 * keep the address that it has. Pure.
 */
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

export interface ServiceMove {
  readonly name: string
  readonly namespace: string
  readonly network: string
  /** Its addresses, or those that it requests while it has none. */
  readonly addresses: readonly string[]
  /** All annotations that it needs after the move. */
  readonly requested: Annotations
  /** Requested annotations that it does not have yet. */
  readonly missing: Annotations
  /** Its sharing key changes: until all Services of the address have the new key, MetalLB refuses to share it. */
  readonly rekeyed: boolean
  /** Absent for a Service that no slot of the control plane configures. */
  readonly slot?: string
}

export interface ServiceMoveInput {
  readonly live: SnapshotIndex
  readonly liveSlots: readonly LiveSlot[]
  readonly uses: readonly SlotUse[]
}

export function findServiceMoves(
  cloud: PlannedCloud,
  { live, liveSlots, uses }: ServiceMoveInput,
): { readonly moves: readonly ServiceMove[]; readonly findings: readonly Finding[] } {
  const moves: ServiceMove[] = []
  const findings: Finding[] = []
  for (const service of loadBalancerServices(live, (namespace) => namespace === cloud.namespace)) {
    const { name, namespace = '', annotations } = service.metadata
    const addresses = serviceAddresses(service)
    const [first] = addresses
    // A Service that never got an address has none to keep.
    if (first === undefined) continue
    const network = networkForAddress(cloud, first)
    const key = `${namespace}/${name}`
    if (!network) {
      findings.push(finding(addressOutsidePlan, { service: key, address: first, ranges: vipRanges(cloud) }))
      continue
    }
    const liveSlot = liveSlots.find((candidate) => candidate.service === name)
    const use = liveSlot && findUse(uses, liveSlot)
    if (use) findings.push(...movedVipFindings(cloud, use.name, key, addresses))
    else if (liveSlot) findings.push(finding(slotNotPlanned, { service: key, path: `spec.${liveSlot.path.join('.')}` }))
    const requested = requestedAnnotations(service, network, addresses)
    const slot = use?.name ?? liveSlot?.path.join('.')
    moves.push({
      name,
      namespace,
      network: network.name,
      addresses,
      requested,
      missing: missingAnnotations(requested, annotations),
      rekeyed: readAnnotation(requested, 'allow-shared-ip') !== readAnnotation(annotations, 'allow-shared-ip'),
      ...(slot !== undefined && { slot }),
    })
  }
  return { moves, findings }
}

function findUse(uses: readonly SlotUse[], { path }: LiveSlot): SlotUse | undefined {
  return uses.find((use) => use.path.join('.') === path.join('.'))
}

/** Services of other namespaces that would lose their address to a pool for this cloud alone. */
export function foreignServiceFindings(
  live: SnapshotIndex,
  cloud: PlannedCloud,
  pools: readonly KubeObject[],
): readonly Finding[] {
  return loadBalancerServices(live, (namespace) => namespace !== cloud.namespace).flatMap((service) =>
    ingressAddresses(service).flatMap((text) => {
      const address = parseAddress(text)
      const pool = address && pools.find((candidate) => setContains(poolRanges(candidate), address))
      if (!pool) return []
      const { name, namespace = '' } = service.metadata
      const facts = { service: `${namespace}/${name}`, address: text, pool: pool.metadata.name }
      return [finding(foreignServiceInPool, facts)]
    }),
  )
}

function networkForAddress(cloud: PlannedCloud, text: string): PlannedNetwork | undefined {
  const address = parseAddress(text)
  if (!address) return undefined
  return cloud.networks.find(({ subnets }) =>
    subnets.some((subnet) => setContains(spanRanges(subnet, 'vips'), address)),
  )
}

function loadBalancerServices(live: SnapshotIndex, inNamespace: (namespace: string) => boolean): readonly KubeObject[] {
  return live
    .all('Service')
    .filter(({ metadata }) => inNamespace(metadata.namespace ?? ''))
    .filter((service) => getString(service, 'spec', 'type') === 'LoadBalancer')
}

function serviceAddresses(service: KubeObject): readonly string[] {
  const assigned = ingressAddresses(service)
  return assigned.length > 0 ? assigned : requestedAddresses(service)
}

/** MetalLB refuses a Service that requests an address in two ways, so one in its spec gets no annotation. */
function requestedAnnotations(service: KubeObject, network: PlannedNetwork, addresses: readonly string[]): Annotations {
  const isShared = readAnnotation(service.metadata.annotations, 'allow-shared-ip') !== ''
  const isInSpec = getString(service, 'spec', 'loadBalancerIP') !== undefined
  return writeAnnotations({
    'address-pool': network.pool ?? '',
    ...(isShared && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(!isInSpec && { loadBalancerIPs: addresses.join(',') }),
  })
}

function movedVipFindings(
  cloud: PlannedCloud,
  slot: string,
  service: string,
  addresses: readonly string[],
): readonly Finding[] {
  const planned = cloud.networks.flatMap(({ vips }) => vips).filter((vip) => vip.slot === slot)
  const isSame = planned.length === addresses.length && planned.every((vip) => addresses.includes(vip.address))
  if (planned.length === 0 || isSame) return []
  const facts = { planned: planned.map((vip) => vip.address).join(', '), live: addresses.join(', ') }
  return [finding(planMovesVip, { slot, service, ...facts })]
}

function vipRanges(cloud: PlannedCloud): readonly string[] {
  const subnets = cloud.networks.flatMap((network) => network.subnets)
  return subnets.flatMap((subnet) => spanRanges(subnet, 'vips').map(formatRange))
}

/** Checks the annotations too: until the view shows our writes, an address in it is the one from before the move. */
export function hasAddressesBack(
  live: KubeObject,
  { addresses, requested }: Pick<ServiceMove, 'addresses' | 'requested'>,
): boolean {
  const assigned = ingressAddresses(live)
  const isWritten = Object.entries(requested)
    .filter(([key]) => key.startsWith('metallb.io/'))
    .every(([key, value]) => live.metadata.annotations?.[key] === value)
  return isWritten && addresses.every((address) => assigned.includes(address))
}

export interface SlotMove {
  /** The plan's name for the slot, or its path. */
  readonly name: string
  readonly liveSlot: LiveSlot
  readonly network: string
  readonly requested: Annotations
  readonly missing: Annotations
  /** The Service that exists for the slot. */
  readonly service?: string
}

export interface SlotMoveInput {
  readonly liveSlots: readonly LiveSlot[]
  readonly uses: readonly SlotUse[]
  readonly services: readonly ServiceMove[]
}

/**
 * A slot whose Service has an address requests that address. A slot with annotations but no Service, such as one of a
 * disabled service, gets the cloud's pool as well, because the service may be enabled later.
 */
export function findSlotMoves(cloud: PlannedCloud, { liveSlots, uses, services }: SlotMoveInput): readonly SlotMove[] {
  return liveSlots.flatMap((liveSlot) => {
    const service = services.find(({ name }) => name === liveSlot.service)
    const found = service ?? requestOfSlot(cloud, liveSlot)
    if (!found) return []
    return [
      {
        name: findUse(uses, liveSlot)?.name ?? liveSlot.path.join('.'),
        liveSlot,
        network: found.network,
        requested: found.requested,
        missing: missingAnnotations(found.requested, liveSlot.annotations),
        ...(service && { service: service.name }),
      },
    ]
  })
}

function requestOfSlot(
  cloud: PlannedCloud,
  { annotations }: LiveSlot,
): { readonly network: string; readonly requested: Annotations } | undefined {
  const pool = readAnnotation(annotations, 'address-pool')
  const address = readAnnotation(annotations, 'loadBalancerIPs')
  const network =
    networkForAddress(cloud, address.split(',')[0]?.trim() ?? '') ??
    cloud.networks.find((candidate) => candidate.pool !== undefined && [candidate.name, candidate.pool].includes(pool))
  if (!network?.pool) return undefined
  const isShared = readAnnotation(annotations, 'allow-shared-ip') !== ''
  const requested = writeAnnotations({
    'address-pool': network.pool,
    ...(isShared && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(address !== '' && { loadBalancerIPs: address }),
  })
  return { network: network.name, requested }
}

const NEW_PREFIX = 'metallb.io'
const OLD_PREFIX = 'metallb.universe.tf'

type MetalLbAnnotation = 'address-pool' | 'allow-shared-ip' | 'loadBalancerIPs'

/** As MetalLB reads them: the new prefix wins if it exists, even with an empty value. */
function readAnnotation(annotations: Annotations | undefined, name: MetalLbAnnotation): string {
  return annotations?.[`${NEW_PREFIX}/${name}`] ?? annotations?.[`${OLD_PREFIX}/${name}`] ?? ''
}

/** Both prefixes: the new one wins over old values that operators never remove, the old one is for older readers. */
function writeAnnotations(values: Readonly<Partial<Record<MetalLbAnnotation, string>>>): Annotations {
  const entries = Object.entries(values)
  return Object.fromEntries(
    [OLD_PREFIX, NEW_PREFIX].flatMap((prefix) => entries.map(([name, text]) => [`${prefix}/${name}`, text])),
  )
}

export function missingAnnotations(requested: Annotations, live: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(requested).filter(([key, value]) => live?.[key] !== value))
}

export function isEmpty(annotations: Annotations): boolean {
  return Object.keys(annotations).length === 0
}
