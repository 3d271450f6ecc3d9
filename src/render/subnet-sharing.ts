/** Finds the clouds that assign host addresses from the same subnet by choice. Pure. */
import { type Cidr, cidrRange, parseCidr } from '../net/cidr.ts'
import type { Plan, PlannedCloud, PlannedSubnet } from '../plan/plan.ts'

/** Namespaces that share a subnet with a namespace, in the order of the plan. */
export type SubnetSharing = ReadonlyMap<string, readonly string[]>

interface HostSubnet {
  readonly namespace: string
  readonly first: bigint
  readonly last: bigint
}

/** Computed once: a search for each cloud is quadratic in the number of clouds. */
export function indexSharing(plan: Plan): SubnetSharing {
  const partners = new Map<string, Set<string>>(plan.clouds.map(({ namespace }) => [namespace, new Set()]))
  for (const subnets of groupByLink(plan.clouds).values()) {
    for (const [a, b] of overlappingPairs(subnets)) {
      partners.get(a.namespace)?.add(b.namespace)
      partners.get(b.namespace)?.add(a.namespace)
    }
  }
  const order = new Map(plan.clouds.map(({ namespace }, index) => [namespace, index]))
  const position = (namespace: string): number => order.get(namespace) ?? 0
  return new Map(
    [...partners].map(([namespace, others]) => [namespace, [...others].sort((a, b) => position(a) - position(b))]),
  )
}

export function hasHosts(subnet: PlannedSubnet): boolean {
  return subnet.spans.some((span) => span.role === 'hosts')
}

/** Only subnets of one VLAN and one family can be the same. */
function groupByLink(clouds: readonly PlannedCloud[]): ReadonlyMap<string, readonly HostSubnet[]> {
  const groups = new Map<string, HostSubnet[]>()
  for (const { namespace, networks } of clouds) {
    for (const network of networks) {
      for (const subnet of network.subnets) {
        const cidr: Cidr | undefined = hasHosts(subnet) ? parseCidr(subnet.cidr) : undefined
        if (!cidr) continue
        const link = `${subnet.vlan ?? network.vlan ?? 0} ${cidr.family}`
        const { first, last } = cidrRange(cidr)
        const group = groups.get(link)
        if (group) group.push({ namespace, first, last })
        else groups.set(link, [{ namespace, first, last }])
      }
    }
  }
  return groups
}

/** A sweep by the first address: its cost is the number of pairs, not of subnets squared. */
function* overlappingPairs(subnets: readonly HostSubnet[]): Iterable<readonly [HostSubnet, HostSubnet]> {
  const sorted = [...subnets].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  for (const [index, subnet] of sorted.entries()) {
    for (let next = index + 1; next < sorted.length; next++) {
      const other = sorted[next]
      if (!other || other.first > subnet.last) break
      if (other.namespace !== subnet.namespace) yield [subnet, other]
    }
  }
}
