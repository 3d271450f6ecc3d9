/** Counts used and free addresses by cloud, network and allocator, and when holders were created. Pure. */
import { groupBy } from '../api/collections.ts'
import { asStrings } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { allocatedPodAddresses } from '../api/pod-networks.ts'
import { getField, getString } from '../api/raw-object.ts'
import { type Address, parseAddress } from '../net/address.ts'
import { parseRange } from '../net/range.ts'
import { type RangeSet, rangeSet, setContains, setSize, subtract } from '../net/range-set.ts'
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

/** Sorted by namespace, network and role. */
export function countAddresses(input: CountInput): readonly AddressCount[] {
  const counts = [...countPods(input), ...countVips(input), ...countHosts(input)]
  const key = ({ namespace, network, role }: AddressCount): string => `${namespace} ${network} ${role}`
  const merged = [...groupBy(counts, key)].map(([name, group]) => ({ name, count: addUp(group) }))
  return merged.sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ count }) => count)
}

/** Networks with two subnets or families. */
function addUp(counts: readonly AddressCount[]): readonly AddressCount[] {
  const [first] = counts
  if (!first) return []
  return [
    {
      ...first,
      used: counts.reduce((sum, { used }) => sum + used, 0),
      free: counts.reduce((sum, { free }) => sum + free, 0),
      created: counts.flatMap(({ created }) => created),
    },
  ]
}

function count(open: RangeSet, held: readonly Holder[]): Pick<AddressCount, 'used' | 'free' | 'created'> {
  const inside = new Map(
    held
      .filter(({ address }) => setContains(open, address))
      .map((holder) => [`${holder.address.family} ${holder.address.value}`, holder]),
  )
  const used = inside.size
  const created = [...inside.values()].flatMap((holder) => holder.created ?? [])
  return { used, free: Number(setSize(open) - BigInt(used)), created }
}

function hold(text: string | undefined, created?: string): readonly Holder[] {
  const address = parseAddress(text?.split('/')[0] ?? '')
  const time = Date.parse(created ?? '')
  return address ? [{ address, created: Number.isNaN(time) ? undefined : time }] : []
}

/** Only ranges whose IPPool is known: whereabouts creates it with the first address, maybe in a namespace that is not read. */
function countPods({ attachments, ipPools }: CountInput): readonly AddressCount[] {
  const pools = new Map(ipPools.map((pool) => [pool.metadata.name, pool]))
  return readPodSpans(readAttachments(attachments)).flatMap((span) => {
    const pool = pools.get(poolName(span))
    if (!pool) return []
    const held = allocatedPodAddresses(pool).flatMap(({ address }) => hold(address))
    return [{ namespace: span.namespace, network: span.object.metadata.name, role: 'pods', ...count(span.open, held) }]
  })
}

/** Pools of one namespace: a pool for all has no cloud. */
function countVips({ addressPools, services }: CountInput): readonly AddressCount[] {
  const held = services.flatMap((service) =>
    ingressAddresses(service).flatMap((address) => hold(address, service.metadata.creationTimestamp)),
  )
  return addressPools.flatMap((pool) => {
    const [namespace, ...others] = asStrings(getField(pool, 'spec', 'serviceAllocation', 'namespaces'))
    if (namespace === undefined || others.length > 0) return []
    const ranges = rangeSet(asStrings(getField(pool, 'spec', 'addresses')).flatMap((text) => parseRange(text) ?? []))
    const { name } = pool.metadata
    const network = name.startsWith(`${namespace}-`) ? name.slice(namespace.length + 1) : name
    return [{ namespace, network, role: 'vips', ...count(ranges, held) }]
  })
}

function countHosts({ netConfigs, reservations }: CountInput): readonly AddressCount[] {
  const byNamespace = groupBy(reservations, ({ metadata }) => metadata.namespace ?? '')
  return readCloudSubnets(netConfigs).map(({ namespace, network, hosts, reserved }) => {
    const held = (byNamespace.get(namespace) ?? []).flatMap((reservation) =>
      reservedAddresses(reservation, network).flatMap((address) =>
        hold(address, reservation.metadata.creationTimestamp),
      ),
    )
    return { namespace, network, role: 'hosts', ...count(subtract(rangeSet(hosts), rangeSet(reserved)), held) }
  })
}

/** Network names are compared case-insensitively: the Role/Node API uses `InternalApi`. */
function reservedAddresses(reservation: KubeObject, network: string): readonly string[] {
  const entries = Object.entries(
    (getField(reservation, 'spec', 'reservation') ?? {}) as Readonly<Record<string, unknown>>,
  )
  return entries
    .filter(([name, entry]) => (getString(entry, 'network') ?? name).toLowerCase() === network.toLowerCase())
    .flatMap(([, entry]) => getString(entry, 'address') ?? [])
}
