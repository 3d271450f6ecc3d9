/** Counts used and free addresses by cloud, network and allocator, and when holders were created. Pure. */
import { groupBy } from '../api/collections.ts'
import { asRecord, asStrings } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { allocatedPodAddresses } from '../api/pod-networks.ts'
import { getField, getString } from '../api/raw-object.ts'
import { type Address, compareAddresses, parseAddress } from '../net/address.ts'
import { parseRange } from '../net/range.ts'
import { type RangeSet, rangeSet, setSize, subtract } from '../net/range-set.ts'
import { ATTACHMENT, NET_CONFIG, POOL, RESERVATION, SERVICE, WHEREABOUTS } from '../verify/checks/check-definition.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { poolName, readAttachments, readPodSpans } from './attachments.ts'
import { readCloudSubnets } from './host-subnets.ts'

export const countedKinds = [ATTACHMENT, WHEREABOUTS, POOL, SERVICE, NET_CONFIG, RESERVATION] as const

/** Objects of these kinds; a list that is empty counts as none. */
export interface CountInput {
  readonly attachments: readonly KubeObject[]
  readonly ipPools: readonly KubeObject[]
  readonly addressPools: readonly KubeObject[]
  readonly services: readonly KubeObject[]
  readonly netConfigs: readonly KubeObject[]
  readonly reservations: readonly KubeObject[]
}

export interface AddressCount {
  /** Of the cloud. */
  readonly namespace: string
  readonly network: string
  readonly role: 'pods' | 'vips' | 'hosts'
  readonly used: number
  /** IPv6 has more than a number can count exactly. */
  readonly free: number
  /** When the holders were created, in milliseconds; empty for pods, which come and go. */
  readonly created: readonly number[]
}

interface Holder {
  readonly address: Address
  readonly created: number | undefined
}

/** Each address once, sorted, so that counting those in a range does not look at the others. */
type Holders = readonly Holder[]

/** A part of a network: ranges that one allocator gives from, and the holders of its addresses. */
interface Part extends Pick<AddressCount, 'namespace' | 'network' | 'role'> {
  readonly open: RangeSet
  readonly held: Holders
}

/** Sorted by namespace, network and role. The cost grows with the objects and not with their product: tenants write them. */
export function countAddresses(input: CountInput): readonly AddressCount[] {
  const parts = [...podParts(input), ...vipParts(input), ...hostParts(input)]
  const key = ({ namespace, network, role }: Part): string => `${namespace} ${network} ${role}`
  const merged = [...groupBy(parts, key)].map(([name, group]) => ({ name, count: addUp(group) }))
  return merged.sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ count }) => count)
}

/** A network may have several subnets, families and allocators. */
function addUp(parts: readonly Part[]): readonly AddressCount[] {
  const [first] = parts
  if (!first) return []
  const counts = [...groupBy(parts, ({ held }) => held)].map(([held, same]) =>
    count(rangeSet(same.flatMap(({ open }) => open)), held),
  )
  const { namespace, network, role } = first
  return [
    {
      namespace,
      network,
      role,
      used: counts.reduce((sum, { used }) => sum + used, 0),
      free: counts.reduce((sum, { free }) => sum + free, 0),
      created: counts.flatMap(({ created }) => created),
    },
  ]
}

function count(open: RangeSet, held: Holders): Pick<AddressCount, 'used' | 'free' | 'created'> {
  const inside = open.flatMap(({ family, first, last }) => {
    const begin = firstHolder(held, { family, value: first })
    return held.slice(begin, firstHolder(held, { family, value: last + 1n }))
  })
  const created = inside.flatMap((holder) => holder.created ?? [])
  return { used: inside.length, free: Number(setSize(open) - BigInt(inside.length)), created }
}

/** Index of the first holder at or after this address. */
function firstHolder(held: Holders, address: Address): number {
  let low = 0
  let high = held.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const holder = held[middle]
    if (holder && compareAddresses(holder.address, address) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function sortHolders(holders: readonly Holder[]): Holders {
  const sorted = holders.toSorted((a, b) => compareAddresses(a.address, b.address))
  return sorted.filter(({ address }, index) => {
    const before = sorted[index - 1]
    return !before || compareAddresses(before.address, address) !== 0
  })
}

function hold(text: string | undefined, created?: string): readonly Holder[] {
  const address = parseAddress(text?.split('/')[0] ?? '')
  const time = Date.parse(created ?? '')
  return address ? [{ address, created: Number.isNaN(time) ? undefined : time }] : []
}

/** Only ranges whose IPPool is known: whereabouts creates it with the first address, maybe in a namespace that is not read. */
function podParts({ attachments, ipPools }: CountInput): readonly Part[] {
  const pools = new Map(
    ipPools.map((pool) => [
      pool.metadata.name,
      sortHolders(allocatedPodAddresses(pool).flatMap(({ address }) => hold(address))),
    ]),
  )
  return readPodSpans(readAttachments(attachments)).flatMap((span) => {
    const held = pools.get(poolName(span))
    if (!held) return []
    return [{ namespace: span.namespace, network: span.object.metadata.name, role: 'pods', open: span.open, held }]
  })
}

/** Pools of one namespace: a pool for all has no cloud. */
function vipParts({ addressPools, services }: CountInput): readonly Part[] {
  const held = sortHolders(
    services.flatMap((service) =>
      ingressAddresses(service).flatMap((address) => hold(address, service.metadata.creationTimestamp)),
    ),
  )
  return addressPools.flatMap((pool) => {
    const [namespace, ...others] = asStrings(getField(pool, 'spec', 'serviceAllocation', 'namespaces'))
    if (namespace === undefined || others.length > 0) return []
    const open = rangeSet(asStrings(getField(pool, 'spec', 'addresses')).flatMap((text) => parseRange(text) ?? []))
    const { name } = pool.metadata
    const network = name.startsWith(`${namespace}-`) ? name.slice(namespace.length + 1) : name
    return [{ namespace, network, role: 'vips', open, held }]
  })
}

/** Network names are compared case-insensitively: the Role/Node API uses `InternalApi`. */
function hostParts({ netConfigs, reservations }: CountInput): readonly Part[] {
  const reserved = groupBy(reservations.flatMap(reservedAddresses), ({ network }) => network)
  const holders = new Map([...reserved].map(([network, held]) => [network, sortHolders(held)]))
  return readCloudSubnets(netConfigs).map(({ namespace, network, hosts, reserved: excluded }) => ({
    namespace,
    network,
    role: 'hosts',
    open: subtract(rangeSet(hosts), rangeSet(excluded)),
    held: holders.get(networkKey(namespace, network)) ?? none,
  }))
}

const none: Holders = []

function networkKey(namespace: string | undefined, network: string): string {
  return `${namespace ?? ''} ${network.toLowerCase()}`
}

function reservedAddresses({
  metadata,
  ...reservation
}: KubeObject): readonly (Holder & { readonly network: string })[] {
  const entries = Object.entries(asRecord(getField(reservation, 'spec', 'reservation')))
  return entries.flatMap(([name, entry]) => {
    const network = networkKey(metadata.namespace, getString(entry, 'network') ?? name)
    return hold(getString(entry, 'address'), metadata.creationTimestamp).map((holder) => ({ ...holder, network }))
  })
}
