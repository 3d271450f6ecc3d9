/** What an IPSet must satisfy, beyond its schema: for webhook and controller alike. */
import { type Family, parseAddress } from '../net/address.ts'
import { parsePrefixed } from '../net/cidr.ts'
import type { IpSetNetwork, IpSetSpec } from './ipset.ts'
import { findSubnet, type NetConfigSpec, type NetConfigSubnet } from './netconfig.ts'
import { networkCidr, parseMember, type Report, uniqueNames } from './netconfig-rules.ts'
import type { Violation } from './violation.ts'

export function ipSetViolations(spec: IpSetSpec, netConfig: NetConfigSpec): readonly Violation[] {
  const violations: Violation[] = []
  const report: Report = (field, value, detail, rule = 'upstream') => violations.push({ field, value, detail, rule })
  const asked = uniqueNames(report)
  const defaultRoutes = new Set<Family>()
  spec.networks.forEach((wish, index) => {
    const field = `spec.networks[${index}]`
    asked(wish.name, `${field}.name`)
    const { network, subnet } = findSubnet(netConfig, wish.name, wish.subnetName)
    if (!network) return report(`${field}.name`, wish.name, `network ${wish.name} not in NetConfig`)
    if (!subnet) {
      return report(
        `${field}.subnetName`,
        wish.subnetName,
        `subnet ${wish.subnetName} not in network ${wish.name} of the NetConfig`,
      )
    }
    checkFixedAddress(wish, subnet, field, report)
    checkDefaultRoute(wish, subnet, { field, report, defaultRoutes })
  })
  return violations
}

function checkFixedAddress(wish: IpSetNetwork, subnet: NetConfigSubnet, field: string, report: Report): void {
  const prefixed = parsePrefixed(subnet.cidr)
  if (wish.fixedIP === undefined || !prefixed) return
  parseMember(networkCidr(prefixed), subnet.cidr, wish.fixedIP, `${field}.fixedIP`, report)
}

interface RouteCheck {
  readonly field: string
  readonly report: Report
  readonly defaultRoutes: Set<Family>
}

function checkDefaultRoute(
  wish: IpSetNetwork,
  subnet: NetConfigSubnet,
  { field, report, defaultRoutes }: RouteCheck,
): void {
  if (!wish.defaultRoute) return
  const family = parsePrefixed(subnet.cidr)?.address.family
  if (family !== undefined && defaultRoutes.has(family)) {
    report(`${field}.defaultRoute`, true, `${family} defaultRoute can only be requested on a singe network`)
  }
  if (family !== undefined) defaultRoutes.add(family)
  if (!subnet.gateway) {
    report(`${field}.defaultRoute`, true, `defaultRoute requested, but not configured for subnet ${subnet.name}`)
  }
}

/** What an update may never do: take a network away, or move it. */
export function ipSetChangeViolations(spec: IpSetSpec, old: IpSetSpec): readonly Violation[] {
  return old.networks.flatMap((before): readonly Violation[] => {
    const index = spec.networks.findIndex((network) => network.name === before.name)
    const after = spec.networks[index]
    const refuse = (field: string, value: unknown, detail: string): readonly Violation[] => [
      { field, value, detail, rule: 'upstream' },
    ]
    const field = `spec.networks[${index}]`
    if (!after) return refuse('spec.networks', before.name, `network ${before.name} removed`)
    if (after.subnetName !== before.subnetName) {
      return refuse(
        `${field}.subnetName`,
        after.subnetName,
        `subnet within a network must not change (${before.name}/${before.subnetName})`,
      )
    }
    if (after.fixedIP !== before.fixedIP) return refuse(`${field}.fixedIP`, after.fixedIP, 'fixedIP must not change')
    if (after.defaultRoute !== before.defaultRoute) {
      return refuse(`${field}.defaultRoute`, after.defaultRoute, 'defaultRoute must not change')
    }
    return []
  })
}

/**
 * Why a fixed address cannot be had, although the schema and the subnet allow it: a warning at admission, the cause
 * in the condition. Whether somebody holds it already is the ledger's to say.
 */
export function fixedIpProblem(wish: IpSetNetwork, subnet: NetConfigSubnet): string | undefined {
  const wanted = wish.fixedIP === undefined ? undefined : parseAddress(wish.fixedIP)
  if (!wanted) return undefined
  const is = (text: string | undefined): boolean => {
    const other = text === undefined ? undefined : parseAddress(text)
    return other?.family === wanted.family && other.value === wanted.value
  }
  if (subnet.excludeAddresses?.some(is)) return `FixedIP ${wish.fixedIP} is in ExcludeAddresses`
  if (is(subnet.gateway)) return `FixedIP ${wish.fixedIP} is the gateway of subnet ${subnet.name}`
  return undefined
}
