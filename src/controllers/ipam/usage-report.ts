/**
 * Reports the use of every subnet: used and free addresses, their holders, and the IPSets that wait.
 *
 * Pure, over the ledger, NetConfigs and IPSets, live or from a dump: for `ipam status` and for the metrics.
 */

import { groupBy } from '../../api/collections.ts'
import { type IpSet, isIpSetReady } from '../../api/ipset.ts'
import { type NetConfig, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { formatAddress } from '../../net/address.ts'
import { lastAddress } from '../../net/cidr.ts'
import { type Pool, type PoolUsage, parsePool, poolUsage } from './claim.ts'
import { type HeldAddress, ownerKey } from './ledger.ts'

export interface SubnetReport {
  readonly namespace: string
  readonly network: string
  readonly subnet: string
  readonly cidr: string
  readonly segment: string
  /** Addresses of the allocation ranges. `free` is text: IPv6 has more than a number can count. */
  readonly used: number
  readonly free: string
  /** By address, including those outside the ranges (fixedIP). */
  readonly holders: readonly { readonly address: string; readonly owner: string }[]
  /** IPSets without an address here, oldest first. */
  readonly waiting: readonly { readonly owner: string; readonly why: string }[]
}

interface Requests {
  readonly netConfigs: readonly NetConfig[]
  readonly ipSets: readonly IpSet[]
}

export interface AddressInventory extends Requests {
  readonly held: readonly HeldAddress[]
  /** Why an IPSet waits, where its conditions do not say. */
  readonly findCauses?: (ipSet: IpSet) => readonly string[]
}

export function buildUsageReport({
  held,
  findCauses = () => [],
  ...requests
}: AddressInventory): readonly SubnetReport[] {
  const findHeld = createHeldFinder(held)
  return [...listSubnets(requests)].map(({ pool, cidr, waiters, ...names }) => {
    const heldHere = findHeld(pool)
    const { used, free } = countAddresses(pool, heldHere)
    return {
      ...names,
      cidr,
      segment: pool.segment,
      used,
      free: String(free),
      holders: heldHere.map(({ address, holder }) => ({ address: formatAddress(address), owner: ownerKey(holder) })),
      waiting: waiters().map((waiter) => ({
        owner: objectKey(waiter.metadata),
        why: findCauses(waiter).join('; ') || waitingReason(waiter),
      })),
    }
  })
}

export interface SubnetCounts extends SubnetNames {
  readonly used: number
  readonly free: bigint
  readonly waiting: number
}

export interface CountedInventory extends Requests {
  /** The held addresses of a pool's subnet, in any order. */
  readonly findHeld: (pool: Pool) => Iterable<HeldAddress>
}

/** Counts one subnet after the other, for a caller that must not compute all at once. */
export function* countSubnets({ findHeld, ...requests }: CountedInventory): Generator<SubnetCounts, void, undefined> {
  for (const { pool, cidr: _, waiters, ...names } of listSubnets(requests)) {
    yield { ...names, ...countAddresses(pool, findHeld(pool)), waiting: waiters().length }
  }
}

function countAddresses(pool: Pool, held: Iterable<HeldAddress>): PoolUsage {
  const values = function* (): Generator<bigint, void, undefined> {
    for (const { address } of held) yield address.value
  }
  return poolUsage(pool, values())
}

interface SubnetNames {
  readonly namespace: string
  readonly network: string
  readonly subnet: string
}

interface ListedSubnet extends SubnetNames {
  readonly cidr: string
  readonly pool: Pool
  /** IPSets without an address here, oldest first. */
  readonly waiters: () => readonly IpSet[]
}

/** The subnets that can assign addresses, by namespace. */
function* listSubnets({ netConfigs, ipSets }: Requests): Generator<ListedSubnet, void, undefined> {
  const configsByNamespace = groupBy(netConfigs, ({ metadata }) => metadata.namespace ?? '')
  const waitersByNamespace = groupBy(
    ipSets.filter((ipSet) => !isIpSetReady(ipSet)),
    ({ metadata }) => metadata.namespace ?? '',
  )
  for (const namespace of [...configsByNamespace.keys()].sort()) {
    const netConfig = selectNetConfig(configsByNamespace.get(namespace) ?? [])
    const findWaiters = indexWaiters((waitersByNamespace.get(namespace) ?? []).toSorted(byAge))
    if (!netConfig) continue
    for (const network of netConfig.spec.networks) {
      for (const subnet of network.subnets) {
        const pool = parsePool(netConfig, network.name, subnet)
        const names = { namespace, network: network.name, subnet: subnet.name }
        const waiters = (): readonly IpSet[] => findWaiters(network.name, subnet.name)
        if (pool) yield { ...names, cidr: subnet.cidr, pool, waiters }
      }
    }
  }
}

/** Sorted once by segment and address, so that the addresses of a subnet are one slice. */
export function createHeldFinder(held: readonly HeldAddress[]): (pool: Pool) => readonly HeldAddress[] {
  const sorted = held.toSorted((a, b) => (a.address.value < b.address.value ? -1 : 1))
  const bySegment = groupBy(sorted, ({ address }) => `${address.family} ${address.segment}`)
  return ({ cidr, segment }) => {
    const entries = bySegment.get(`${cidr.family} ${segment}`) ?? []
    return entries.slice(countBelow(entries, cidr.base), countBelow(entries, lastAddress(cidr) + 1n))
  }
}

function countBelow(sorted: readonly HeldAddress[], limit: bigint): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = sorted[middle]
    if (entry && entry.address.value < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** The IPSets that wait for a subnet, in the given order. */
function indexWaiters(ipSets: readonly IpSet[]): (network: string, subnet: string) => readonly IpSet[] {
  const key = (network: string, subnet: string): string => `${network}/${subnet}`.toLowerCase()
  const requested = new Map<string, Set<IpSet>>()
  const reserved = new Map(
    ipSets.map((ipSet) => [ipSet, new Set((ipSet.status?.reservations ?? []).map(({ network }) => network))]),
  )
  for (const ipSet of ipSets) {
    for (const { name, subnetName } of ipSet.spec.networks) {
      const waiters = requested.get(key(name, subnetName)) ?? new Set()
      requested.set(key(name, subnetName), waiters.add(ipSet))
    }
  }
  return (network, subnet) =>
    [...(requested.get(key(network, subnet)) ?? [])].filter((ipSet) => !reserved.get(ipSet)?.has(network))
}

function waitingReason({ status }: IpSet): string {
  const [worst] = (status?.conditions ?? []).filter(
    (condition) => condition.type !== 'Ready' && condition.status === 'False',
  )
  return worst?.message ?? 'not reconciled yet'
}

function byAge(a: IpSet, b: IpSet): number {
  const order = ({ metadata }: IpSet): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return order(a) < order(b) ? -1 : 1
}
