/**
 * Pools: what one subnet of a NetConfig can give, on which segment, and what in it is for nobody.
 *
 * Pure. Who holds what is the ledger's to say.
 */

import type { NetConfig, NetConfigSubnet } from '../../api/netconfig.ts'
import { networkCidr } from '../../api/netconfig-rules.ts'
import { type Address, parseAddress } from '../../net/address.ts'
import { type Cidr, lastAddress, parsePrefixed } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import { rangeSet, setContains, setSize } from '../../net/range-set.ts'

/** On a NetConfig: its networks are on segments of their own, whatever other NetConfigs have the same VLAN ids. */
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

/** The segment of a subnet. VLAN 0 is no VLAN: both are the untagged network. */
export function segmentName(netConfig: NetConfig, subnet: NetConfigSubnet): string {
  const tag = subnet.vlan ? `vlan-${subnet.vlan}` : 'untagged'
  const own = netConfig.metadata.annotations?.[SEGMENT_ANNOTATION]?.trim()
  return own ? `${own}/${tag}` : tag
}

/** Undefined when the subnet's CIDR cannot be read. Ranges that cannot be read give nothing. */
export function parsePool(netConfig: NetConfig, network: string, subnet: NetConfigSubnet): Pool | undefined {
  const prefixed = parsePrefixed(subnet.cidr)
  if (!prefixed) return undefined
  const cidr = networkCidr(prefixed)
  const inside = (text: string): Address | undefined => {
    const read = parseAddress(text)
    return read?.family === cidr.family && read.value >= cidr.base && read.value <= lastAddress(cidr) ? read : undefined
  }
  const ranges = subnet.allocationRanges.flatMap(({ start, end }): readonly Range[] => {
    const first = inside(start)
    const last = inside(end)
    return first && last ? [{ family: cidr.family, first: first.value, last: last.value }] : []
  })
  return {
    segment: segmentName(netConfig, subnet),
    network,
    subnet: subnet.name,
    cidr,
    ranges,
    excluded: new Set((subnet.excludeAddresses ?? []).flatMap((text) => inside(text)?.value ?? [])),
    gateway: subnet.gateway === undefined ? undefined : inside(subnet.gateway)?.value,
  }
}

export type ParsePool = typeof parsePool

/** Each subnet of a NetConfig read once, however many ask for an address in it. */
export function createPoolCache(): ParsePool {
  const known = new WeakMap<NetConfig, Map<NetConfigSubnet, Pool | undefined>>()
  return (netConfig, network, subnet) => {
    const pools = known.get(netConfig) ?? new Map<NetConfigSubnet, Pool | undefined>()
    if (!pools.has(subnet)) pools.set(subnet, parsePool(netConfig, network, subnet))
    known.set(netConfig, pools)
    return pools.get(subnet)
  }
}

/** Addresses that nobody gets without asking for them by name. */
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

/** How many of a pool's own addresses are held, and how many are left: counted, not walked, for IPv6's sake. */
export function poolUsage(pool: Pool, held: Iterable<bigint>): PoolUsage {
  const { cidr, excluded, gateway } = pool
  const ranges = rangeSet(pool.ranges.filter(({ first, last }) => first <= last))
  const given = (value: bigint): boolean => setContains(ranges, { family: cidr.family, value })
  const step = cidr.family === 4 ? 256n : 65_536n
  const zeros = ranges.reduce((sum, { first, last }) => sum + (last / step - (first + step - 1n) / step + 1n), 0n)
  const single = new Set([...excluded, cidr.base, lastAddress(cidr), ...(gateway === undefined ? [] : [gateway])])
  const others = [...single].filter((one) => one % step !== 0n && given(one) && isNeverAssigned(pool, one)).length
  let used = 0
  for (const value of held) if (given(value) && !isNeverAssigned(pool, value)) used += 1
  return { used, free: setSize(ranges) - zeros - BigInt(others) - BigInt(used) }
}
