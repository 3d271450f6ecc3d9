/** Finds subnets of different sites that overlap although the sites share a router. Pure. */
import { type Finding, finding } from '../errors/finding.ts'
import { cidr, cidrRange } from '../net/cidr.ts'
import { findOverlaps } from '../net/overlaps.ts'
import { formatRange, intersection, type Range } from '../net/range.ts'
import type { PlanJson } from '../plan/plan.ts'
import { routedOverlap, unroutedOverlap } from './findings.ts'

export interface PlannedSite {
  readonly site: string
  readonly routers: readonly string[]
  readonly plan: Pick<PlanJson, 'clouds' | 'bgp'>
}

interface SiteSubnet extends Range {
  readonly site: string
  readonly routers: readonly string[]
  /** `berlin rhoso1/ctlplane 192.168.122.0/24`. */
  readonly label: string
  /** A router needs a route to it: it has a gateway, or BGP announces its VIPs. */
  readonly isRouted: boolean
}

/** One wrong supernet can make thousands of pairs; the first ones are enough to find it. */
const SHOWN = 200

export function findSharedSubnets(sites: readonly PlannedSite[]): readonly Finding[] {
  const subnets = sites.filter(({ routers }) => routers.length > 0).flatMap(siteSubnets)
  const allowed = (a: SiteSubnet, b: SiteSubnet): boolean => a.site === b.site || sharedRouters(a, b).length === 0
  return findOverlaps(subnets, { limit: SHOWN, allowed }).pairs.map(([a, b]) => {
    const shared = formatRange(intersection(a, b) as Range)
    const [router = ''] = sharedRouters(a, b)
    const facts = { a: a.label, b: b.label, shared, router }
    return finding(a.isRouted && b.isRouted ? routedOverlap : unroutedOverlap, facts, { owners: [a.label, b.label] })
  })
}

function sharedRouters(a: SiteSubnet, b: SiteSubnet): readonly string[] {
  return a.routers.filter((router) => b.routers.includes(router))
}

/** Clouds of one site may share a subnet, which is then listed once. */
function siteSubnets({ site, routers, plan }: PlannedSite): readonly SiteSubnet[] {
  const subnets = new Map<string, SiteSubnet>()
  for (const { name, networks } of plan.clouds) {
    for (const network of networks) {
      for (const subnet of network.subnets) {
        const isRouted = subnet.gateway !== undefined || (plan.bgp !== undefined && network.pool !== undefined)
        const known = subnets.get(subnet.cidr)
        const label = known?.label ?? `${site} ${name}/${network.name} ${subnet.cidr}`
        const range = cidrRange(cidr(subnet.cidr))
        subnets.set(subnet.cidr, { ...range, site, routers, label, isRouted: isRouted || (known?.isRouted ?? false) })
      }
    }
  }
  return [...subnets.values()]
}
