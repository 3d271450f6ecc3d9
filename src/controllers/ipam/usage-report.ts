/**
 * How the addresses stand: use of every subnet, who holds what, who waits and why.
 *
 * Pure, over the ledger's blocks, NetConfigs and IPSets, live or from a dump: for `ipam status` and for the metrics.
 */
import type { IpSet } from '../../api/ipset.ts'
import { type NetConfig, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { formatAddress } from '../../net/address.ts'
import { type HeldAddress, ownerKey } from './ledger.ts'
import { poolContains } from './plan-allocation.ts'
import { parsePool, poolUsage } from './pool.ts'

export interface SubnetReport {
  readonly namespace: string
  readonly network: string
  readonly subnet: string
  readonly cidr: string
  readonly segment: string
  /** Addresses of the allocation ranges that are held, and that are left. IPv6 has more than a number can count. */
  readonly used: number
  readonly free: string
  /** By address; those outside the ranges (fixedIP) too. */
  readonly holders: readonly { readonly address: string; readonly owner: string }[]
  /** IPSets without their address here, the oldest first. */
  readonly waiting: readonly { readonly owner: string; readonly why: string }[]
}

export interface AddressInventory {
  readonly netConfigs: readonly NetConfig[]
  readonly ipSets: readonly IpSet[]
  readonly held: readonly HeldAddress[]
  /** Why an IPSet waits, where its conditions do not say. */
  readonly findCauses?: (ipSet: IpSet) => readonly string[]
}

export function buildUsageReport({
  netConfigs,
  ipSets,
  held,
  findCauses = () => [],
}: AddressInventory): readonly SubnetReport[] {
  const namespaces = [...new Set(netConfigs.map(({ metadata }) => metadata.namespace ?? ''))].sort()
  return namespaces.flatMap((namespace) => {
    const netConfig = selectNetConfig(netConfigs.filter(({ metadata }) => metadata.namespace === namespace))
    const waiters = ipSets.filter((ipSet) => ipSet.metadata.namespace === namespace && !isReady(ipSet)).sort(byAge)
    if (!netConfig) return []
    return netConfig.spec.networks.flatMap((network) =>
      network.subnets.flatMap((subnet): readonly SubnetReport[] => {
        const pool = parsePool(netConfig, network.name, subnet)
        if (!pool) return []
        const inside = held
          .filter(({ spot }) => poolContains(pool, spot))
          .sort((a, b) => (a.spot.value < b.spot.value ? -1 : 1))
        const { used, free } = poolUsage(
          pool,
          inside.map(({ spot }) => spot.value),
        )
        return [
          {
            namespace,
            network: network.name,
            subnet: subnet.name,
            cidr: subnet.cidr,
            segment: pool.segment,
            used,
            free: String(free),
            holders: inside.map(({ spot, holder }) => ({
              address: formatAddress(spot),
              owner: ownerKey(holder),
            })),
            waiting: waiters
              .filter((waiter) => isWaitingFor(waiter, network.name, subnet.name))
              .map((waiter) => ({
                owner: objectKey(waiter.metadata),
                why: findCauses(waiter).join('; ') || waitingReason(waiter),
              })),
          },
        ]
      }),
    )
  })
}

export function isReady({ status }: IpSet): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

function isWaitingFor({ spec, status }: IpSet, network: string, subnet: string): boolean {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const asks = spec.networks.some((one) => same(one.name, network) && same(one.subnetName, subnet))
  return asks && !(status?.reservations ?? []).some((reservation) => reservation.network === network)
}

function waitingReason({ status }: IpSet): string {
  const [worst] = (status?.conditions ?? []).filter(
    (condition) => condition.type !== 'Ready' && condition.status === 'False',
  )
  return worst?.message ?? 'nobody has looked at it yet'
}

function byAge(a: IpSet, b: IpSet): number {
  const order = ({ metadata }: IpSet): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return order(a) < order(b) ? -1 : 1
}
