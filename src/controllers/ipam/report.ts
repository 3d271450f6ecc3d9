/**
 * How the addresses stand: use of every subnet, who holds what, who waits and why.
 *
 * Pure, over the ledger's blocks, NetConfigs and IPSets, live or from a dump: for `ipam status` and for the metrics.
 */
import type { IpSet } from '../../api/ipset.ts'
import { type NetConfig, theNetConfig } from '../../api/netconfig.ts'
import { keyOf } from '../../api/object.ts'
import { formatAddress } from '../../net/address.ts'
import { liesIn } from './decide.ts'
import { type Held, ownerOf } from './ledger.ts'
import { poolOf, useOf } from './pool.ts'

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

export interface Stock {
  readonly netConfigs: readonly NetConfig[]
  readonly ipSets: readonly IpSet[]
  readonly held: readonly Held[]
  /** Why an IPSet waits, where its conditions do not say. */
  readonly causesOf?: (ipSet: IpSet) => readonly string[]
}

export function reportOf({ netConfigs, ipSets, held, causesOf = () => [] }: Stock): readonly SubnetReport[] {
  const namespaces = [...new Set(netConfigs.map(({ metadata }) => metadata.namespace ?? ''))].sort()
  return namespaces.flatMap((namespace) => {
    const netConfig = theNetConfig(netConfigs.filter(({ metadata }) => metadata.namespace === namespace))
    const waiters = ipSets.filter((one) => one.metadata.namespace === namespace && !isReady(one)).sort(byAge)
    if (!netConfig) return []
    return netConfig.spec.networks.flatMap((network) =>
      network.subnets.flatMap((subnet): readonly SubnetReport[] => {
        const pool = poolOf(netConfig, network.name, subnet)
        if (!pool) return []
        const inside = held
          .filter(({ spot }) => liesIn(pool, spot))
          .sort((a, b) => (a.spot.value < b.spot.value ? -1 : 1))
        const { used, free } = useOf(
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
              owner: ownerOf(holder),
            })),
            waiting: waiters
              .filter((one) => waitsFor(one, network.name, subnet.name))
              .map((one) => ({ owner: keyOf(one.metadata), why: causesOf(one).join('; ') || whyNot(one) })),
          },
        ]
      }),
    )
  })
}

export function isReady({ status }: IpSet): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

function waitsFor({ spec, status }: IpSet, network: string, subnet: string): boolean {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const asks = spec.networks.some((one) => same(one.name, network) && same(one.subnetName, subnet))
  return asks && !(status?.reservations ?? []).some((one) => one.network === network)
}

function whyNot({ status }: IpSet): string {
  const [worst] = (status?.conditions ?? []).filter((one) => one.type !== 'Ready' && one.status === 'False')
  return worst?.message ?? 'nobody has looked at it yet'
}

function byAge(a: IpSet, b: IpSet): number {
  const order = ({ metadata }: IpSet): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return order(a) < order(b) ? -1 : 1
}
