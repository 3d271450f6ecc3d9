/**
 * Finds addresses that are reserved without an owner, owners without a reservation, and VIPs outside the plan. Pure.
 *
 * A kind that was not read proves nothing: what depends on it is left out, and `unproven` says so.
 */
import { groupBy } from '../api/collections.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { allocatedPodAddresses, attachedNetworks, type PodAddress } from '../api/pod-networks.ts'
import { formatObjectName, getField, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Address, formatAddress, parseAddress } from '../net/address.ts'
import { cidrContains, parseCidr } from '../net/cidr.ts'
import type { Plan } from '../plan/plan.ts'
import { ATTACHMENT, NODE, POD, RESERVATION, SERVICE, WHEREABOUTS } from '../verify/checks/check-definition.ts'
import { contains, formatSpans, spanRanges } from '../verify/checks/planned-ranges.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { type PodSpan, poolName, readAttachments, readPodSpans } from './attachments.ts'
import { parseOverlap } from './overlapping-reservation.ts'

export const OVERLAP = { apiVersion: WHEREABOUTS.apiVersion, kind: 'OverlappingRangeIPReservation' } as const
export const IP_SET = { apiVersion: RESERVATION.apiVersion, kind: 'IPSet' } as const

/** Nodes tell whether a pod without an object may still run. */
export const auditKinds: readonly GroupVersionKind[] = [
  WHEREABOUTS,
  OVERLAP,
  POD,
  ATTACHMENT,
  RESERVATION,
  IP_SET,
  SERVICE,
  NODE,
]

export interface AddressFault {
  /**
   * `leaked`: an IPPool has it for a pod that does not exist; `leaked-overlap`: the same of an OverlappingRangeIPReservation.
   * `unreserved`: a pod has it, and whereabouts may assign it again. `orphaned`: a Reservation without its IPSet.
   * `unplanned`: a LoadBalancer address outside the planned VIPs.
   */
  readonly kind: 'leaked' | 'leaked-overlap' | 'unreserved' | 'orphaned' | 'unplanned'
  readonly address: string
  /** Of the cloud: the namespace of the pod, Reservation or Service. */
  readonly namespace: string
  readonly network?: string
  /** The object that has the reservation, or the pod or Service that has the address. */
  readonly object: KubeObject
  /** The pod or IPSet that should exist (`Pod openstack/ovn-0`), or what the plan has. */
  readonly owner: string
  /** `leaked`: the entry of the IPPool, and the container that it is for. */
  readonly entry?: { readonly offset: string; readonly container: string; readonly podRef: string }
}

export interface AddressAudit {
  /** Sorted by namespace, kind and address. */
  readonly faults: readonly AddressFault[]
  /** Why something could not be judged: `Pod: forbidden`. */
  readonly unproven: readonly string[]
}

export function auditAddresses(index: SnapshotIndex, plan?: Plan): AddressAudit {
  const unproven = new Set<string>()
  const read = (...kinds: readonly GroupVersionKind[]): boolean => {
    const gaps = kinds.filter((kind) => index.unread(formatGroupKind(kind)) !== undefined)
    for (const kind of gaps) unproven.add(`${kind.kind}: ${index.unread(formatGroupKind(kind))}`)
    return gaps.length === 0
  }
  const all = (kind: GroupVersionKind): readonly KubeObject[] => index.all(formatGroupKind(kind))
  const pools = all(WHEREABOUTS)
  const spans = readPodSpans(readAttachments(all(ATTACHMENT)))
  const networks = new Map(spans.map((span) => [poolName(span), span.object.metadata.name]))
  const faults = [
    ...findAbandoned(index, read).map((fault) => nameNetwork(fault, networks)),
    ...(pools.length === 0 || read(WHEREABOUTS) ? findUnreserved(pools, all(POD), spans) : []),
    ...(plan ? findUnplanned(all(SERVICE), plan) : []),
  ]
  return { faults: sortFaults(faults), unproven: [...unproven] }
}

/**
 * Addresses that are reserved for a pod or an IPSet that does not exist, in no order and without the networks of pods. The
 * operator counts them: attachments of tenants, which may have thousands of ranges, are not parsed for it.
 */
export function findAbandoned(
  index: SnapshotIndex,
  read = (kind: GroupVersionKind): boolean => index.unread(formatGroupKind(kind)) === undefined,
): readonly AddressFault[] {
  const all = (kind: GroupVersionKind): readonly KubeObject[] => index.all(formatGroupKind(kind))
  // A cluster without whereabouts has no such objects; a server without Pods does not exist.
  const pools = all(WHEREABOUTS)
  const overlaps = all(OVERLAP)
  const hasPods = pools.length + overlaps.length === 0 || read(POD)
  return [
    ...(hasPods ? pools.flatMap((pool) => findLeaks(pool, index)) : []),
    ...(hasPods ? overlaps.flatMap((object) => findLeakedOverlap(object, index)) : []),
    ...(all(RESERVATION).length === 0 || read(IP_SET) ? findOrphans(all(RESERVATION), index) : []),
  ]
}

/** The leaked addresses of one IPPool. */
export function findPoolLeaks(pool: KubeObject, index: SnapshotIndex): readonly AddressFault[] {
  return index.unread(formatGroupKind(POD)) === undefined ? findLeaks(pool, index) : []
}

function splitPodRef(podRef: string): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace = '', name = '', ...more] = podRef.split('/')
  return namespace === '' || name === '' || more.length > 0 ? undefined : { namespace, name }
}

/** Old versions of whereabouts wrote no pod: such an entry has an unknown owner, not none. */
function isGone(podRef: string, index: SnapshotIndex): boolean {
  const pod = splitPodRef(podRef)
  return pod !== undefined && index.get('Pod', pod.name, pod.namespace) === undefined
}

function findLeaks(pool: KubeObject, index: SnapshotIndex): readonly AddressFault[] {
  return allocatedPodAddresses(pool)
    .filter(({ pod }) => isGone(pod, index))
    .map(leakedFault)
}

function leakedFault({ pool, pod, address, offset }: PodAddress): AddressFault {
  return {
    kind: 'leaked',
    address,
    namespace: splitPodRef(pod)?.namespace ?? '',
    object: pool,
    owner: `Pod ${pod}`,
    entry: { offset, podRef: pod, container: getString(pool, 'spec', 'allocations', offset, 'id') ?? '' },
  }
}

/** The network of a leaked address is the attachment that gives out the addresses of its IPPool. */
function nameNetwork(fault: AddressFault, networks: ReadonlyMap<string, string>): AddressFault {
  const network = fault.kind === 'leaked' ? networks.get(fault.object.metadata.name) : undefined
  return network === undefined ? fault : { ...fault, network }
}

function findLeakedOverlap(object: KubeObject, index: SnapshotIndex): readonly AddressFault[] {
  const { podRef, address } = parseOverlap(object)
  if (!isGone(podRef, index)) return []
  const namespace = splitPodRef(podRef)?.namespace ?? ''
  return [{ kind: 'leaked-overlap', address, namespace, object, owner: `Pod ${podRef}` }]
}

/** Addresses of running pods, in a range of whereabouts, that the IPPool has for no pod or for another one. */
function findUnreserved(
  pools: readonly KubeObject[],
  pods: readonly KubeObject[],
  podSpans: readonly PodSpan[],
): readonly AddressFault[] {
  const holders = new Map(pools.map((pool) => [pool.metadata.name, allocationsByAddress(pool)]))
  const spans = groupBy(podSpans, ({ name }) => name)
  return pods.filter(hasAddresses).flatMap((pod) => {
    const { namespace = '', name } = pod.metadata
    return (attachedNetworks(pod) ?? []).flatMap((attached) =>
      attached.ips.flatMap((text): readonly AddressFault[] => {
        const address = parseAddress(text.split('/')[0] ?? '')
        const span = address && spans.get(attached.name)?.find(({ cidr }) => isInside(cidr, address))
        const entries = span && holders.get(poolName(span))
        // Without its IPPool nothing is known: it may be in a namespace that was not read.
        if (!address || !span || !entries) return []
        if (entries.get(formatAddress(address)) === `${namespace}/${name}`) return []
        const network = span.object.metadata.name
        const owner = `an entry of IPPool ${poolName(span)}`
        return [{ kind: 'unreserved', address: formatAddress(address), namespace, network, object: pod, owner }]
      }),
    )
  })
}

function allocationsByAddress(pool: KubeObject): ReadonlyMap<string, string> {
  return new Map(allocatedPodAddresses(pool).map(({ address, pod }) => [address, pod]))
}

/** A pod that ended has released its addresses, and one that is being deleted does so now. */
function hasAddresses(pod: KubeObject): boolean {
  return getString(pod, 'status', 'phase') === 'Running' && pod.metadata.deletionTimestamp === undefined
}

function isInside(cidr: string, address: Address): boolean {
  const parsed = parseCidr(cidr)
  return parsed !== undefined && cidrContains(parsed, address)
}

function findOrphans(reservations: readonly KubeObject[], index: SnapshotIndex): readonly AddressFault[] {
  return reservations.flatMap((object) => {
    const { namespace = '', deletionTimestamp } = object.metadata
    const ipSet = reservationOwner(object)
    if (deletionTimestamp !== undefined || index.get(formatGroupKind(IP_SET), ipSet, namespace)) return []
    const held = Object.entries((getField(object, 'spec', 'reservation') ?? {}) as Readonly<Record<string, unknown>>)
    return held.map(([network, entry]): AddressFault => {
      const address = getString(entry, 'address') ?? ''
      return { kind: 'orphaned', address, namespace, network, object, owner: `IPSet ${namespace}/${ipSet}` }
    })
  })
}

/** A Reservation has the name of its IPSet, also where it does not refer to it. */
export function reservationOwner(reservation: KubeObject): string {
  return getString(reservation, 'spec', 'ipSetRef', 'name') ?? reservation.metadata.name
}

function findUnplanned(services: readonly KubeObject[], plan: Plan): readonly AddressFault[] {
  return plan.clouds.flatMap(({ namespace, networks }) => {
    const spans = networks.flatMap((network) => spanRanges(network, 'vips'))
    const planned = new Set(networks.flatMap(({ vips }) => vips.map(({ address }) => address)))
    return services
      .filter(({ metadata }) => metadata.namespace === namespace)
      .flatMap((object) =>
        ingressAddresses(object).flatMap((text): readonly AddressFault[] => {
          const address = parseAddress(text)
          if (!address || planned.has(text) || contains(spans, address)) return []
          const owner = `one of the planned ${formatSpans(spans, 'vips')}`
          return [{ kind: 'unplanned', address: text, namespace, object, owner }]
        }),
      )
  })
}

/** Each key is made once: a comparison that parses addresses would cost more than the rest. */
function sortFaults(faults: readonly AddressFault[]): readonly AddressFault[] {
  const keyed = faults.map((fault) => ({ fault, key: sortKey(fault) }))
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ fault }) => fault)
}

/** Addresses in one order, whatever their family. */
function sortKey({ namespace, kind, address, object }: AddressFault): string {
  const value = parseAddress(address)?.value.toString(16).padStart(32, '0') ?? address
  return [namespace, kind, value, formatObjectName(object)].join(' ')
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
