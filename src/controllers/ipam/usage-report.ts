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
import { type Pool, parsePool, poolUsage } from './claim.ts'
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

export interface AddressInventory {
  readonly netConfigs: readonly NetConfig[]
  readonly ipSets: readonly IpSet[]
  readonly held: readonly HeldAddress[]
  /** Why an IPSet waits, where its conditions do not say. */
  readonly findCauses?: (ipSet: IpSet) => readonly string[]
}

export function buildUsageReport(inventory: AddressInventory): readonly SubnetReport[] {
  return [...reportSubnets(inventory)]
}

/** The same one by one, for a caller that must not compute all at once. */
export function* reportSubnets({
  netConfigs,
  ipSets,
  held,
  findCauses = () => [],
}: AddressInventory): Generator<SubnetReport, void, undefined> {
  const configsByNamespace = groupBy(netConfigs, ({ metadata }) => metadata.namespace ?? '')
  const waitersByNamespace = groupBy(
    ipSets.filter((ipSet) => !isIpSetReady(ipSet)),
    ({ metadata }) => metadata.namespace ?? '',
  )
  const findHeld = indexHeld(held)
  for (const namespace of [...configsByNamespace.keys()].sort()) {
    const netConfig = selectNetConfig(configsByNamespace.get(namespace) ?? [])
    const waiters = indexWaiters((waitersByNamespace.get(namespace) ?? []).toSorted(byAge))
    if (!netConfig) continue
    for (const network of netConfig.spec.networks) {
      for (const subnet of network.subnets) {
        const pool = parsePool(netConfig, network.name, subnet)
        if (!pool) continue
        const heldHere = findHeld(pool)
        const values = heldHere.map(({ address }) => address.value)
        const { used, free } = poolUsage(pool, values)
        yield {
          namespace,
          network: network.name,
          subnet: subnet.name,
          cidr: subnet.cidr,
          segment: pool.segment,
          used,
          free: String(free),
          holders: heldHere.map(({ address, holder }) => ({
            address: formatAddress(address),
            owner: ownerKey(holder),
          })),
          waiting: waiters(network.name, subnet.name).map((waiter) => ({
            owner: objectKey(waiter.metadata),
            why: findCauses(waiter).join('; ') || waitingReason(waiter),
          })),
        }
      }
    }
  }
}

/** Sorted once by segment and address, so that the addresses of a subnet are one slice. */
function indexHeld(held: readonly HeldAddress[]): (pool: Pool) => readonly HeldAddress[] {
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
