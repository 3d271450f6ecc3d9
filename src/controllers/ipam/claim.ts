/**
 * Turns an IPSet, its NetConfig and its Reservation into a claim on address pools.
 *
 * Pure. A pool is what one subnet of a NetConfig can assign; which of its addresses are held is in the ledger.
 */
import type { IpSet, Reservation } from '../../api/ipset.ts'
import {
  createSubnetFinder,
  type NetConfig,
  type NetConfigNetwork,
  type NetConfigSubnet,
  networkCidr,
} from '../../api/netconfig.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, parseAddress } from '../../net/address.ts'
import { type Cidr, cidrContains, lastAddress, parsePrefixed } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import { rangeSet, setContains, setSize } from '../../net/range-set.ts'
import { unknownNetwork } from './findings.ts'
import type { SegmentAddress } from './ledger.ts'
import type { SegmentSharing } from './segment-sharing.ts'

/** On a NetConfig: separates its segments from those of other NetConfigs with the same VLAN ids. */
const SEGMENT_ANNOTATION = 'stackloom.dev/segment'

export interface Pool {
  readonly segment: string
  readonly network: string
  readonly subnet: string
  readonly cidr: Cidr
  readonly ranges: readonly Range[]
  /** Excluded by the NetConfig, for fixed and chosen addresses alike. */
  readonly excluded: ReadonlySet<bigint>
  readonly gateway: bigint | undefined
}

/** The rest of an annotation is not read: the name of a segment is in every AddressBlock and in every index. */
const MAX_SEGMENT_LENGTH = 253

/** VLAN 0 is no VLAN: both mean the untagged network. */
export function segmentName(netConfig: NetConfig, subnet: NetConfigSubnet): string {
  const tag = subnet.vlan ? `vlan-${subnet.vlan}` : 'untagged'
  const prefix = netConfig.metadata.annotations?.[SEGMENT_ANNOTATION]?.trim().slice(0, MAX_SEGMENT_LENGTH)
  return prefix ? `${prefix}/${tag}` : tag
}

/** Undefined when the CIDR cannot be parsed. A range that cannot be parsed adds no addresses. */
export function parsePool(netConfig: NetConfig, network: string, subnet: NetConfigSubnet): Pool | undefined {
  const prefixed = parsePrefixed(subnet.cidr)
  if (!prefixed) return undefined
  const cidr = networkCidr(prefixed)
  const parseInside = (text: string): Address | undefined => {
    const address = parseAddress(text)
    return address && cidrContains(cidr, address) ? address : undefined
  }
  const ranges = subnet.allocationRanges.flatMap(({ start, end }): readonly Range[] => {
    const first = parseInside(start)
    const last = parseInside(end)
    return first && last ? [{ family: cidr.family, first: first.value, last: last.value }] : []
  })
  return {
    segment: segmentName(netConfig, subnet),
    network,
    subnet: subnet.name,
    cidr,
    ranges,
    excluded: new Set((subnet.excludeAddresses ?? []).flatMap((text) => parseInside(text)?.value ?? [])),
    gateway: subnet.gateway === undefined ? undefined : parseInside(subnet.gateway)?.value,
  }
}

export type ParsePool = typeof parsePool

/** Parses each subnet of a NetConfig once, however many IPSets request addresses in it. */
export function createPoolCache(): ParsePool {
  const poolsByConfig = new WeakMap<NetConfig, Map<NetConfigSubnet, Pool | undefined>>()
  return (netConfig, network, subnet) => {
    const pools = poolsByConfig.get(netConfig) ?? new Map<NetConfigSubnet, Pool | undefined>()
    if (!pools.has(subnet)) pools.set(subnet, parsePool(netConfig, network, subnet))
    poolsByConfig.set(netConfig, pools)
    return pools.get(subnet)
  }
}

export function segmentAddress({ segment, cidr }: Pool, value: bigint): SegmentAddress {
  return { segment, family: cidr.family, value }
}

export function poolContains({ segment, cidr }: Pool, address: SegmentAddress): boolean {
  return address.segment === segment && cidrContains(cidr, address)
}

/** An address that is assigned only when an IPSet requests it with fixedIP, if at all. */
export function isNeverAssigned(pool: Pool, value: bigint): boolean {
  const { cidr, excluded, gateway } = pool
  if (excluded.has(value) || value === gateway) return true
  // As infra-operator does: no x.x.x.0 and no IPv6 address whose last 16 bits are zero, network address or not.
  if (cidr.family === 6) return (value & 0xffffn) === 0n || (cidr.prefix < 127 && value === cidr.base)
  if ((value & 0xffn) === 0n) return true
  return cidr.prefix < 31 && (value === cidr.base || value === lastAddress(cidr))
}

export interface PoolUsage {
  readonly used: number
  readonly free: bigint
}

/** How many addresses of the pool's ranges are held and free. Computed, not enumerated: IPv6 ranges are too large. */
export function poolUsage(pool: Pool, held: Iterable<bigint>): PoolUsage {
  const { cidr, excluded, gateway } = pool
  const ranges = rangeSet(pool.ranges.filter(({ first, last }) => first <= last))
  const isInRanges = (value: bigint): boolean => setContains(ranges, { family: cidr.family, value })
  const step = cidr.family === 4 ? 256n : 65_536n
  const zeros = ranges.reduce((sum, { first, last }) => sum + (last / step - (first + step - 1n) / step + 1n), 0n)
  const special = new Set([...excluded, cidr.base, lastAddress(cidr), ...(gateway === undefined ? [] : [gateway])])
  const unassigned = [...special].filter(
    (value) => value % step !== 0n && isInRanges(value) && isNeverAssigned(pool, value),
  ).length
  let used = 0
  for (const value of held) if (isInRanges(value) && !isNeverAssigned(pool, value)) used += 1
  return { used, free: setSize(ranges) - zeros - BigInt(unassigned) - BigInt(used) }
}

export interface AddressRequest {
  readonly pool: Pool
  /** The fixedIP of the IPSet. */
  readonly fixed?: bigint
  /** The address in the owner's Reservation. */
  readonly reserved?: bigint
}

export interface Claim {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** RFC 3339: older claims are served first. */
  readonly created: string
  readonly requests: readonly AddressRequest[]
  /** UIDs whose addresses this claim takes over: the Reservation that it adopts, and the previous owners of that. */
  readonly inherits: ReadonlySet<string>
  /** Asked before a new address is taken; without it everything is allowed. */
  readonly sharing?: SegmentSharing
}

/** A network of an IPSet with its definition in the NetConfig, whose spelling counts from here on. */
export interface RequestedNetwork {
  readonly network: NetConfigNetwork
  readonly subnet: NetConfigSubnet
  readonly defaultRoute: boolean
}

export interface IpSetClaim {
  readonly claim: Claim
  /** In the order of the IPSet, like the claim's requests. */
  readonly networks: readonly RequestedNetwork[]
  /** Why a network of the IPSet is not in the claim. */
  readonly findings: readonly Finding[]
}

export function buildClaim(
  ipSet: IpSet,
  netConfig: NetConfig,
  reservation: Reservation | undefined,
  poolFor: ParsePool = parsePool,
): IpSetClaim {
  const networks: RequestedNetwork[] = []
  const requests: AddressRequest[] = []
  const findings: Finding[] = []
  const findSubnet = createSubnetFinder(netConfig.spec)
  const reservedAddress = indexReservation(reservation)
  const requestedNetworks = new Set<NetConfigNetwork | undefined>()
  for (const { name, subnetName, fixedIP, defaultRoute } of ipSet.spec.networks) {
    const { network, subnet } = findSubnet(name, subnetName)
    const pool = network && subnet && poolFor(netConfig, network.name, subnet)
    const isRepeated = requestedNetworks.has(network)
    if (!pool || isRepeated) {
      const why = isRepeated ? 'twice' : !network ? 'network' : !subnet ? 'subnet' : 'cidr'
      findings.push(finding(unknownNetwork, { network: name, subnet: subnetName, why }))
      continue
    }
    const fixed = parseInFamily(pool, fixedIP)
    const reserved = parseInFamily(pool, reservedAddress(network.name))
    requests.push({ pool, ...(fixed !== undefined && { fixed }), ...(reserved !== undefined && { reserved }) })
    networks.push({ network, subnet, defaultRoute: defaultRoute ?? false })
    requestedNetworks.add(network)
  }
  const { uid = '', namespace = '', name, creationTimestamp: created = '' } = ipSet.metadata
  return {
    claim: { uid, namespace, name, created, requests, inherits: inheritedUids(reservation) },
    networks,
    findings,
  }
}

/** A claim in the name of a Reservation that no IPSet owns. */
export function buildReservationClaim(
  reservation: Reservation,
  netConfig: NetConfig,
  poolFor: ParsePool = createPoolCache(),
): Claim {
  const { uid = '', namespace = '', name, creationTimestamp: created = '' } = reservation.metadata
  const findSubnet = createSubnetFinder(netConfig.spec)
  const requests = Object.values(reservation.spec.reservation ?? {}).flatMap((entry): readonly AddressRequest[] => {
    const { network, subnet } = findSubnet(entry.network, entry.subnet)
    const pool = network && subnet && poolFor(netConfig, network.name, subnet)
    const reserved = pool && parseInFamily(pool, entry.address)
    return pool && reserved !== undefined ? [{ pool, reserved }] : []
  })
  return { uid, namespace, name, created, requests, inherits: inheritedUids(reservation) }
}

function parseInFamily({ cidr }: Pool, text: string | undefined): bigint | undefined {
  const address = text === undefined ? undefined : parseAddress(text)
  return address?.family === cidr.family ? address.value : undefined
}

/** By network: the same spelling first, then any. */
function indexReservation(reservation: Reservation | undefined): (network: string) => string | undefined {
  const entries = Object.entries(reservation?.spec.reservation ?? {})
  const exact = new Map(entries)
  const folded = new Map(entries.toReversed().map(([key, entry]) => [key.toLowerCase(), entry]))
  return (network) => (exact.get(network) ?? folded.get(network.toLowerCase()))?.address
}

function inheritedUids(reservation: Reservation | undefined): ReadonlySet<string> {
  if (!reservation) return new Set()
  const { uid = '', ownerReferences = [] } = reservation.metadata
  return new Set([uid, ...ownerReferences.filter(({ kind }) => kind === 'IPSet').map((owner) => owner.uid)])
}
