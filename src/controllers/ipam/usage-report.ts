/**
 * Reports the use of every subnet: used and free addresses, their holders, and the IPSets that wait.
 *
 * Pure, over the ledger, NetConfigs and IPSets, live or from a dump: for `ipam status` and for the metrics.
 */
import { type IpSet, isIpSetReady } from '../../api/ipset.ts'
import { type NetConfig, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { formatAddress } from '../../net/address.ts'
import { parsePool, poolContains, poolUsage } from './claim.ts'
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

export function buildUsageReport({
  netConfigs,
  ipSets,
  held,
  findCauses = () => [],
}: AddressInventory): readonly SubnetReport[] {
  const namespaces = [...new Set(netConfigs.map(({ metadata }) => metadata.namespace ?? ''))].sort()
  return namespaces.flatMap((namespace) => {
    const netConfig = selectNetConfig(netConfigs.filter(({ metadata }) => metadata.namespace === namespace))
    const waiters = ipSets.filter((ipSet) => ipSet.metadata.namespace === namespace && !isIpSetReady(ipSet)).sort(byAge)
    if (!netConfig) return []
    return netConfig.spec.networks.flatMap((network) =>
      network.subnets.flatMap((subnet): readonly SubnetReport[] => {
        const pool = parsePool(netConfig, network.name, subnet)
        if (!pool) return []
        const heldHere = held
          .filter(({ address }) => poolContains(pool, address))
          .sort((a, b) => (a.address.value < b.address.value ? -1 : 1))
        const values = heldHere.map(({ address }) => address.value)
        const { used, free } = poolUsage(pool, values)
        return [
          {
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

function isWaitingFor({ spec, status }: IpSet, network: string, subnet: string): boolean {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const isRequested = spec.networks.some((request) => same(request.name, network) && same(request.subnetName, subnet))
  return isRequested && !(status?.reservations ?? []).some((reservation) => reservation.network === network)
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
