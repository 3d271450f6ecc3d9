/**
 * What a NetConfig must satisfy, beyond its schema. One set of rules for webhook, controller and planner.
 *
 * The words of upstream's rules are upstream's meaning; rules marked `own` are those that it misses.
 */
import { type Address, formatAddress, parseAddress } from '../net/address.ts'
import {
  type Cidr,
  cidrContaining,
  cidrContains,
  cidrsOverlap,
  lastAddress,
  type PrefixedAddress,
  parsePrefixed,
} from '../net/cidr.ts'
import { findOverlaps } from '../net/overlaps.ts'
import { type Range, rangeContains } from '../net/range.ts'
import type { NetConfigNetwork, NetConfigSpec, NetConfigSubnet } from './netconfig.ts'
import type { Violation } from './violation.ts'

const DOMAIN = /^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$/

export type Report = (field: string, value: unknown, detail: string, rule?: Violation['rule']) => void

export function netConfigViolations(spec: NetConfigSpec): readonly Violation[] {
  const violations: Violation[] = []
  const report: Report = (field, value, detail, rule = 'upstream') => violations.push({ field, value, detail, rule })
  const names = uniqueNames(report)
  const domains = uniqueDomains(report)
  const cidrs = disjointCidrs(report)
  spec.networks.forEach((network, index) => {
    const field = `spec.networks[${index}]`
    names(network.name, `${field}.name`)
    if (network.dnsDomain !== undefined) domains(network.dnsDomain, `${field}.dnsDomain`)
    checkSubnets(network, field, report, cidrs)
  })
  return violations
}

function checkSubnets(network: NetConfigNetwork, path: string, report: Report, cidrs: CidrCheck): void {
  const names = uniqueNames(report)
  const domains = uniqueDomains(report)
  network.subnets.forEach((subnet, index) => {
    const field = `${path}.subnets[${index}]`
    names(subnet.name, `${field}.name`)
    if (subnet.dnsDomain !== undefined) domains(subnet.dnsDomain, `${field}.dnsDomain`)
    const prefixed = parsePrefixed(subnet.cidr)
    if (!prefixed) return report(`${field}.cidr`, subnet.cidr, `IP address prefix (CIDR) ${subnet.cidr}`)
    cidrs(subnet.cidr, networkCidr(prefixed), `${field}.cidr`)
    checkSubnet(subnet, networkCidr(prefixed), field, report)
  })
}

/** The network of a CIDR that may have host bits set: upstream allows them. */
export function networkCidr({ address, prefix }: PrefixedAddress): Cidr {
  return cidrContaining(address, prefix)
}

function checkSubnet(subnet: NetConfigSubnet, network: Cidr, path: string, report: Report): void {
  const within = (value: string, field: string): Address | undefined =>
    parseMember(network, subnet.cidr, value, field, report)
  const gateway = subnet.gateway === undefined ? undefined : within(subnet.gateway, `${path}.gateway`)
  subnet.excludeAddresses?.forEach((value, index) => within(value, `${path}.excludeAddresses[${index}]`))
  subnet.routes?.forEach((route, index) => {
    within(route.nexthop, `${path}.routes[${index}].nexthop`)
    if (!parsePrefixed(route.destination)) {
      report(`${path}.routes[${index}].destination`, route.destination, `IP address prefix (CIDR) ${route.destination}`)
    }
  })
  const ranges = subnet.allocationRanges.flatMap(({ start, end }, index): readonly LocatedRange[] => {
    const field = `${path}.allocationRanges[${index}]`
    const first = within(start, `${field}.start`)
    const last = within(end, `${field}.end`)
    if (!first || !last) return []
    if (first.value > last.value) {
      report(`${field}.start`, start, `Start address: ${start} > End address ${end}`)
      report(`${field}.end`, end, `Start address: ${start} > End address ${end}`)
      return []
    }
    return [{ family: network.family, first: first.value, last: last.value, field, text: `${start}-${end}` }]
  })
  checkRanges(ranges, network, gateway, report)
}

interface LocatedRange extends Range {
  readonly field: string
  readonly text: string
}

function checkRanges(
  ranges: readonly LocatedRange[],
  network: Cidr,
  gateway: Address | undefined,
  report: Report,
): void {
  for (const [a, b] of findOverlaps(ranges).pairs) {
    report(b.field, b.text, `allocation range ${b.text} overlaps with ${a.text}`, 'own')
  }
  const special = [...(gateway ? [{ address: gateway, what: 'gateway' }] : []), ...reservedAddresses(network)]
  for (const range of ranges) {
    for (const { address, what } of special) {
      if (!rangeContains(range, address)) continue
      report(
        range.field,
        range.text,
        `allocation range ${range.text} contains the ${what} ${formatAddress(address)}`,
        'own',
      )
    }
  }
}

/** The addresses that no host may have: the first of any subnet with room, and IPv4's last. */
function reservedAddresses(network: Cidr): readonly { readonly address: Address; readonly what: string }[] {
  const { family, base, prefix } = network
  if (prefix >= (family === 4 ? 31 : 127)) return []
  const first = { address: { family, value: base }, what: 'network address' }
  return family === 4
    ? [first, { address: { family, value: lastAddress(network) }, what: 'broadcast address' }]
    : [first]
}

/** Parses an address that must lie in the subnet, and reports the first reason why it does not. */
export function parseMember(
  network: Cidr,
  cidrText: string,
  value: string,
  field: string,
  report: Report,
): Address | undefined {
  const address = parseAddress(value)
  if (!address) report(field, value, 'not an IP address')
  else if (address.family !== network.family) report(field, value, 'cannot mix IPv4 and IPv6')
  else if (!cidrContains(network, address)) report(field, value, `address not in IP address prefix (CIDR) ${cidrText}`)
  else return address
  return undefined
}

type NameCheck = (name: string, field: string) => void

/** Look-ups ignore case, so names that differ in case alone are one name to them. */
export function uniqueNames(report: Report): NameCheck {
  const exact = new Map<string, string>()
  const folded = new Map<string, string>()
  return (name, field) => {
    const holder = exact.get(name)
    const twin = folded.get(name.toLowerCase())
    if (holder) report(field, name, `network name ${name} already in use at ${holder}, must be uniq`)
    else if (twin)
      report(
        field,
        name,
        `name ${name} differs from the one at ${twin} in case alone: look-ups cannot tell them apart`,
        'own',
      )
    exact.set(name, holder ?? field)
    folded.set(name.toLowerCase(), twin ?? field)
  }
}

function uniqueDomains(report: Report): NameCheck {
  const used = new Map<string, string>()
  return (domain, field) => {
    if (!DOMAIN.test(domain)) report(field, domain, `DNSDoman name ${domain} is not valid`)
    const holder = used.get(domain)
    if (holder) report(field, domain, `DNSDoman name ${domain} already in use at ${holder}, must be uniq`)
    else used.set(domain, field)
  }
}

type CidrCheck = (text: string, network: Cidr, field: string) => void

function disjointCidrs(report: Report): CidrCheck {
  const used: { readonly text: string; readonly network: Cidr; readonly field: string }[] = []
  return (text, network, field) => {
    const equal = used.find((one) => one.text === text)
    const overlap = equal ? undefined : used.find((one) => cidrsOverlap(one.network, network))
    if (equal) report(field, text, `CIDR ${text} already in use at ${equal.field}`)
    else if (overlap) report(field, text, `CIDR ${text} overlaps with ${overlap.text} at ${overlap.field}`, 'own')
    used.push({ text, network, field })
  }
}

/** What an update may not do while IPSets exist in the namespace. */
export function netConfigChangeViolations(spec: NetConfigSpec, old: NetConfigSpec): readonly Violation[] {
  const violations: Violation[] = []
  const report = (field: string, value: unknown, detail: string): void =>
    void violations.push({ field, value, detail, rule: 'upstream' })
  for (const before of old.networks) {
    const index = spec.networks.findIndex((network) => network.name === before.name)
    const after = spec.networks[index]
    if (!after) report('spec.networks', before.name, `network ${before.name} removed`)
    else checkSubnetChanges(before, after, `spec.networks[${index}]`, report)
  }
  return violations
}

function checkSubnetChanges(
  before: NetConfigNetwork,
  after: NetConfigNetwork,
  path: string,
  report: (field: string, value: unknown, detail: string) => void,
): void {
  for (const old of before.subnets) {
    const index = after.subnets.findIndex((subnet) => subnet.name === old.name)
    const subnet = after.subnets[index]
    const field = `${path}.subnets[${index}]`
    if (!subnet) report(`${path}.subnets`, old.name, `name of a subnet must not change - ${old.name}`)
    else if (subnet.cidr !== old.cidr)
      report(`${field}.cidr`, subnet.cidr, `cidr of a subnet must not change - ${old.cidr}`)
    else if (subnet.vlan !== old.vlan)
      report(`${field}.vlan`, subnet.vlan, `vlan of a subnet must not change - ${old.vlan ?? 'none'}`)
  }
}
