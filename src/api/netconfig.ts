/**
 * NetConfig (network.openstack.org/v1beta1), the data plane networks of one cloud: its names and its rules. Its schema is in
 * `netconfig-kind.ts`, because plans are checked by these rules without zod. Pure.
 */
import type * as z from 'zod'
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
import type { netConfigSpecSchema } from './netconfig-kind.ts'
import type { SpecObject } from './object.ts'
import type { Violation } from './violation.ts'

export const networkGroup = { group: 'network.openstack.org', version: 'v1beta1' } as const
export const networkVersion = `${networkGroup.group}/${networkGroup.version}` as const
export const netConfigs = { apiVersion: networkVersion, kind: 'NetConfig' } as const

/** On a NetConfig: the namespaces that may take addresses of its subnets too, separated by commas. */
export const SHARED_WITH_ANNOTATION = 'stackloom.dev/shared-with'

export type NetConfigSpec = z.infer<typeof netConfigSpecSchema>
export type NetConfigNetwork = NetConfigSpec['networks'][number]
export type NetConfigSubnet = NetConfigNetwork['subnets'][number]
export type NetConfig = SpecObject<NetConfigSpec>

export interface FoundSubnet {
  readonly network?: NetConfigNetwork
  readonly subnet?: NetConfigSubnet
}

/** Finds a network and subnet by name, ignoring case. The result has the spelling of the NetConfig. */
export function findSubnet(spec: NetConfigSpec, network: string, subnet: string): FoundSubnet {
  return createSubnetFinder(spec)(network, subnet)
}

/** The same for many lookups: each network and its subnets are indexed once. */
export function createSubnetFinder(spec: NetConfigSpec): (network: string, subnet: string) => FoundSubnet {
  const networks = indexByName(spec.networks)
  const subnets = new Map<NetConfigNetwork, ReadonlyMap<string, NetConfigSubnet>>()
  return (networkName, subnetName) => {
    const network = networks.get(networkName.toLowerCase())
    if (!network) return {}
    const known = subnets.get(network) ?? indexByName(network.subnets)
    subnets.set(network, known)
    const subnet = known.get(subnetName.toLowerCase())
    return { network, ...(subnet && { subnet }) }
  }
}

/** By name in lower case; of two the first. */
function indexByName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.toReversed().map((item) => [item.name.toLowerCase(), item]))
}

/** A namespace should have one NetConfig; of several the oldest counts, so that every reader selects the same. */
export function selectNetConfig(netConfigs: readonly NetConfig[]): NetConfig | undefined {
  const order = ({ metadata }: NetConfig): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return netConfigs.reduce<NetConfig | undefined>(
    (oldest, netConfig) => (oldest === undefined || order(netConfig) < order(oldest) ? netConfig : oldest),
    undefined,
  )
}

/** The service network of a network: the given one, or its own name. */
export function resolveServiceNetwork(name: string, serviceNetwork: string | undefined): string {
  return (serviceNetwork || name).toLowerCase()
}

const DOMAIN = /^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$/

export type Report = (field: string, value: unknown, detail: string, rule?: Violation['rule']) => void

/**
 * The rules beyond the schema, for the webhook. Rules of upstream keep upstream's messages, with their spelling ("uniq",
 * "DNSDoman"); rules marked `own` are missing there.
 */
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
    checkSubnets(network, field, report, cidrs.add)
  })
  cidrs.check()
  return violations
}

function checkSubnets(network: NetConfigNetwork, path: string, report: Report, addCidr: CidrCheck['add']): void {
  const names = uniqueNames(report)
  const domains = uniqueDomains(report)
  network.subnets.forEach((subnet, index) => {
    const field = `${path}.subnets[${index}]`
    names(subnet.name, `${field}.name`)
    if (subnet.dnsDomain !== undefined) domains(subnet.dnsDomain, `${field}.dnsDomain`)
    const prefixed = parsePrefixed(subnet.cidr)
    if (!prefixed) return report(`${field}.cidr`, subnet.cidr, `IP address prefix (CIDR) ${subnet.cidr}`)
    addCidr(subnet.cidr, networkCidr(prefixed), `${field}.cidr`)
    checkSubnet(subnet, networkCidr(prefixed), field, report)
  })
}

/** Masks host bits, which upstream allows in a CIDR. */
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

/** Ranges that all overlap each other have a million pairs, which help no reader. */
const MAX_OVERLAPS = 100

function checkRanges(
  ranges: readonly LocatedRange[],
  network: Cidr,
  gateway: Address | undefined,
  report: Report,
): void {
  for (const [a, b] of findOverlaps(ranges, { limit: MAX_OVERLAPS }).pairs) {
    report(b.field, b.text, `allocation range ${b.text} overlaps with ${a.text}`, 'own')
  }
  const special = [...(gateway ? [{ address: gateway, role: 'gateway' }] : []), ...reservedAddresses(network)]
  for (const range of ranges) {
    for (const { address, role } of special) {
      if (!rangeContains(range, address)) continue
      const detail = `allocation range ${range.text} contains the ${role} ${formatAddress(address)}`
      report(range.field, range.text, detail, 'own')
    }
  }
}

/** The addresses that no host may have: the first of a subnet with more than two addresses, and the last in IPv4. */
function reservedAddresses(network: Cidr): readonly { readonly address: Address; readonly role: string }[] {
  const { family, base, prefix } = network
  if (prefix >= (family === 4 ? 31 : 127)) return []
  const first = { address: { family, value: base }, role: 'network address' }
  return family === 4
    ? [first, { address: { family, value: lastAddress(network) }, role: 'broadcast address' }]
    : [first]
}

/** Parses an address that must be in the subnet, and reports why it is not. */
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

/** Lookups ignore case, so names that differ only in case are one name to them. */
export function uniqueNames(report: Report): NameCheck {
  const exact = new Map<string, string>()
  const folded = new Map<string, string>()
  return (name, field) => {
    const holder = exact.get(name)
    const twin = folded.get(name.toLowerCase())
    if (holder) report(field, name, `network name ${name} already in use at ${holder}, must be uniq`)
    else if (twin) {
      const detail = `name ${name} differs from the one at ${twin} only in case: lookups cannot tell them apart`
      report(field, name, detail, 'own')
    }
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

interface CidrCheck {
  readonly add: (text: string, network: Cidr, field: string) => void
  /** Reports each CIDR that equals or overlaps one before it. */
  readonly check: () => void
}

function disjointCidrs(report: Report): CidrCheck {
  const entries: { readonly text: string; readonly network: Cidr; readonly field: string }[] = []
  return {
    add: (text, network, field) => void entries.push({ text, network, field }),
    check: () => {
      const firstByText = new Map(entries.toReversed().map((entry) => [entry.text, entry]))
      const overlaps = firstOverlaps(entries.map(({ network }) => network))
      entries.forEach((entry, index) => {
        const { text, field } = entry
        const equal = firstByText.get(text)
        const overlap = entries[overlaps[index] ?? index]
        if (equal && equal !== entry) report(field, text, `CIDR ${text} already in use at ${equal.field}`)
        else if (overlap && overlap !== entry) {
          report(field, text, `CIDR ${text} overlaps with ${overlap.text} at ${overlap.field}`, 'own')
        }
      })
    },
  }
}

/**
 * For each CIDR the position of the first one that overlaps it, at most its own. CIDRs overlap only if one contains the
 * other: sorted, those that contain a CIDR are on a stack, and those inside of it follow.
 */
function firstOverlaps(cidrs: readonly Cidr[]): readonly number[] {
  const first = cidrs.map((_, index) => index)
  const lower = (index: number, other: number): void => {
    first[index] = Math.min(first[index] ?? other, other)
  }
  const sorted = cidrs
    .map((cidr, index) => ({ cidr, index }))
    .sort((a, b) => compareCidrs(a.cidr, b.cidr) || a.index - b.index)
  const stack: { readonly cidr: Cidr; readonly index: number; readonly outer: number; inner: number }[] = []
  const close = (): void => {
    const closed = stack.pop()
    if (!closed) return
    lower(closed.index, Math.min(closed.outer, closed.inner))
    const parent = stack.at(-1)
    if (parent) parent.inner = Math.min(parent.inner, closed.inner, closed.index)
  }
  for (const { cidr, index } of sorted) {
    for (let top = stack.at(-1); top && !cidrsOverlap(top.cidr, cidr); top = stack.at(-1)) close()
    const parent = stack.at(-1)
    const outer = parent ? Math.min(parent.outer, parent.index) : index
    stack.push({ cidr, index, outer, inner: index })
  }
  while (stack.length > 0) close()
  return first
}

function compareCidrs(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family - b.family
  if (a.base !== b.base) return a.base < b.base ? -1 : 1
  return a.prefix - b.prefix
}

/** Of two with one name the first. */
export function positionsByName(items: readonly { readonly name: string }[]): ReadonlyMap<string, number> {
  return new Map(items.map(({ name }, index) => [name, index] as const).toReversed())
}

/** The changes that are refused while the namespace has IPSets. */
export function netConfigChangeViolations(spec: NetConfigSpec, old: NetConfigSpec): readonly Violation[] {
  const violations: Violation[] = []
  const report = (field: string, value: unknown, detail: string): void =>
    void violations.push({ field, value, detail, rule: 'upstream' })
  const positions = positionsByName(spec.networks)
  for (const before of old.networks) {
    const index = positions.get(before.name) ?? -1
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
  const positions = positionsByName(after.subnets)
  for (const old of before.subnets) {
    const index = positions.get(old.name) ?? -1
    const subnet = after.subnets[index]
    const field = `${path}.subnets[${index}]`
    if (!subnet) report(`${path}.subnets`, old.name, `name of a subnet must not change - ${old.name}`)
    else if (subnet.cidr !== old.cidr)
      report(`${field}.cidr`, subnet.cidr, `cidr of a subnet must not change - ${old.cidr}`)
    else if (subnet.vlan !== old.vlan)
      report(`${field}.vlan`, subnet.vlan, `vlan of a subnet must not change - ${old.vlan ?? 'none'}`)
  }
}
