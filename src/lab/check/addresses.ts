/**
 * Addresses of the lab: readable, inside their networks, clear of DHCP, and nobody's twice.
 *
 * Pure. Conflicts are found by the planner's ledger, the same as for sites.
 */
import { type NetworkName, networkNames } from '../../api/lab.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { formatValue, parseAddress } from '../../net/address.ts'
import { explainInvalidAddress } from '../../net/address-text.ts'
import { type Cidr, cidrRange, cidrsOverlap, explainInvalidCidr, parseCidr } from '../../net/cidr.ts'
import { findOverlaps } from '../../net/overlaps.ts'
import {
  explainInvalidRange,
  formatRange,
  parseRange,
  type Range,
  rangeCovers,
  rangesOverlap,
} from '../../net/range.ts'
import { findConflicts } from '../../plan/conflicts.ts'
import { overlappingSubnets } from '../../plan/findings/addresses.ts'
import type { EntryRole, LedgerEntry } from '../../plan/ledger.ts'
import type { ValuePath } from '../../yaml/locate.ts'
import {
  addressInDhcpRange,
  addressOutsideSubnet,
  invalidLabAddress,
  subnetOverlapsLima,
  subnetSharedWithLima,
} from '../findings/lab-file.ts'
import type { CheckContext } from './check-lab.ts'

/** One address or range that a network of the lab gives to somebody. */
interface AddressClaim extends Range {
  readonly network: NetworkName
  readonly what: string
  readonly role: EntryRole
  readonly path: ValuePath
}

const SLIRP = parseCidr('192.168.5.0/24') as Cidr
/** Lima writes these into every new networks.yaml. */
const LIMA_NETWORKS = [
  ['shared', parseCidr('192.168.105.0/24') as Cidr],
  ['host', parseCidr('192.168.106.0/24') as Cidr],
  ['user-v2', parseCidr('192.168.104.0/24') as Cidr],
] as const

export function checkAddresses(context: CheckContext): readonly Finding[] {
  const subnets = new Map<NetworkName, Cidr>()
  const unreadable: Finding[] = []
  for (const name of networkNames) {
    const text = context.lab.networks[name].subnet
    const subnet = parseCidr(text)
    const small = subnet !== undefined && subnet.prefix > 26
    if (subnet?.family === 4 && !small) subnets.set(name, subnet)
    else {
      const why = !subnet ? explainInvalidCidr(text) : small ? 'it is smaller than a /26' : 'it is not IPv4'
      const where = context.at('networks', name, 'subnet')
      unreadable.push(finding(invalidLabAddress, { what: `the subnet of ${name}`, text, why }, { where }))
    }
  }
  const { claims, findings } = parseClaims(context, subnets)
  return [
    ...unreadable,
    ...findings,
    ...subnetFindings(context, subnets),
    ...dhcpFindings(context, subnets, claims),
    ...conflictFindings(context, claims),
  ]
}

interface AddressRequest {
  readonly network: NetworkName
  readonly what: string
  readonly role: EntryRole
  readonly text: string
  readonly path: ValuePath
  readonly isRange?: boolean
}

function addressRequests({ lab }: CheckContext): readonly AddressRequest[] {
  const { vips, networks } = lab
  const one = (network: NetworkName, what: string, role: EntryRole, text: string, path: ValuePath): AddressRequest => ({
    network,
    what,
    role,
    text,
    path,
  })
  return [
    ...networkNames.map((name) =>
      one(name, 'the gateway', 'gateway', networks[name].gateway, ['networks', name, 'gateway']),
    ),
    ...lab.nodes.flatMap((node, at) =>
      node.nics.flatMap((nic) =>
        nic.address === undefined || nic.interface === networks.external.interface
          ? []
          : [one(nic.network, node.name, 'node', nic.address, ['nodes', at, 'addresses', nic.network])],
      ),
    ),
    one('management', 'the internal VIP', 'endpoint', vips.internal, ['vips', 'internal']),
    one('external', 'the external VIP', 'endpoint', vips.external, ['vips', 'external']),
    {
      ...one('external', 'the floating addresses', 'vips', networks.external.floating, [
        'networks',
        'external',
        'floating',
      ]),
      isRange: true,
    },
  ]
}

function parseClaims(context: CheckContext, subnets: ReadonlyMap<NetworkName, Cidr>) {
  const claims: AddressClaim[] = []
  const findings: Finding[] = []
  for (const { network, what, role, text, path, isRange } of addressRequests(context)) {
    const subnet = subnets.get(network)
    if (!subnet) continue
    const where = context.at(...path)
    const range = isRange ? parseRange(text) : parseSingleAddress(text)
    if (!range) {
      const why = isRange ? explainInvalidRange(text) : explainInvalidAddress(text)
      findings.push(finding(invalidLabAddress, { what, text, why }, { where }))
    } else if (!rangeCovers(cidrRange(subnet), range) || !isHostRange(subnet, range)) {
      const facts = { what, address: formatRange(range), subnet: context.lab.networks[network].subnet }
      findings.push(finding(addressOutsideSubnet, facts, { where }))
    } else claims.push({ ...range, network, what, role, path })
  }
  for (const [at, text] of context.lab.dns.forwarders.entries()) {
    if (parseAddress(text)?.family === 4) continue
    const facts = { what: 'a DNS forwarder', text, why: explainInvalidAddress(text) }
    findings.push(finding(invalidLabAddress, facts, { where: context.at('dns', 'forwarders', at) }))
  }
  return { claims, findings }
}

function parseSingleAddress(text: string): Range | undefined {
  const address = parseAddress(text)
  return address?.family === 4 ? { family: 4, first: address.value, last: address.value } : undefined
}

/** Neither the network's own address nor its broadcast address can be given to anybody. */
function isHostRange(subnet: Cidr, range: Range): boolean {
  const { first, last } = cidrRange(subnet)
  return range.first > first && range.last < last
}

function subnetFindings(context: CheckContext, subnets: ReadonlyMap<NetworkName, Cidr>): readonly Finding[] {
  const found: Finding[] = []
  for (const [network, subnet] of subnets) {
    const text = context.lab.networks[network].subnet
    const where = context.at('networks', network, 'subnet')
    if (cidrsOverlap(subnet, SLIRP)) {
      const facts = { network, subnet: text, other: '192.168.5.0/24', why: "the network of every VM's eth0" }
      found.push(finding(subnetOverlapsLima, facts, { where }))
    }
    const own = LIMA_NETWORKS.find(([, other]) => cidrsOverlap(subnet, other))
    if (own) found.push(finding(subnetSharedWithLima, { network, subnet: text, lima: own[0] }, { where }))
  }
  const tenant = parseCidr(context.lab.terraform.tenantSubnet)
  const ranges = [...subnets].map(([network, subnet]) => ({ ...cidrRange(subnet), network: network as string }))
  if (tenant) ranges.push({ ...cidrRange(tenant), network: 'terraform.tenantSubnet' })
  else {
    const text = context.lab.terraform.tenantSubnet
    const facts = { what: 'the tenant subnet', text, why: explainInvalidCidr(text) }
    found.push(finding(invalidLabAddress, facts, { where: context.at('terraform', 'tenantSubnet') }))
  }
  for (const [a, b] of findOverlaps(ranges).pairs) {
    const cidrOf = (name: string): string =>
      context.lab.networks[name as NetworkName]?.subnet ?? context.lab.terraform.tenantSubnet
    const facts = {
      a: a.network,
      b: b.network,
      cidrA: cidrOf(a.network),
      cidrB: cidrOf(b.network),
      offer: undefined,
    }
    const path = b.network.includes('.') ? b.network.split('.') : ['networks', b.network, 'subnet']
    found.push(finding(overlappingSubnets, facts, { where: context.at(...path), owners: [a.network, b.network] }))
  }
  return found
}

function dhcpFindings(
  context: CheckContext,
  subnets: ReadonlyMap<NetworkName, Cidr>,
  claims: readonly AddressClaim[],
): readonly Finding[] {
  const found: Finding[] = []
  for (const [network, subnet] of subnets) {
    const { gateway, dhcpEnd } = context.lab.networks[network]
    const first = parseAddress(gateway)
    const last = parseSingleAddress(dhcpEnd)
    const where = context.at('networks', network, 'dhcpEnd')
    if (!first || !last) {
      const facts = { what: `the end of DHCP of ${network}`, text: dhcpEnd, why: explainInvalidAddress(dhcpEnd) }
      if (!last) found.push(finding(invalidLabAddress, facts, { where }))
      continue
    }
    if (!rangeCovers(cidrRange(subnet), last) || last.first <= first.value) {
      const what = `the end of DHCP of ${network}`
      const facts = {
        what,
        address: dhcpEnd,
        subnet: `${context.lab.networks[network].subnet} above ${gateway}`,
      }
      found.push(finding(addressOutsideSubnet, facts, { where }))
      continue
    }
    const range: Range = { family: 4, first: first.value + 1n, last: last.last }
    const held = claims.filter(
      (claim) => claim.network === network && claim.role !== 'gateway' && rangesOverlap(claim, range),
    )
    const lowest = held.reduce((least, one) => (one.first < least ? one.first : least), range.last + 1n)
    for (const claim of held) {
      const offer = formatValue(4, lowest - 1n)
      const facts = { network, what: claim.what, address: formatRange(claim), range: formatRange(range), offer }
      found.push(finding(addressInDhcpRange, facts, { where: context.at(...claim.path) }))
    }
  }
  return found
}

/** One segment per network: no two claims on it may meet. */
function conflictFindings({ lab, at }: CheckContext, claims: readonly AddressClaim[]): readonly Finding[] {
  const entries = claims.map(
    ({ network, what, role, path, ...range }): LedgerEntry & { readonly network: NetworkName } => ({
      family: range.family,
      first: range.first,
      last: range.last,
      network,
      // Each claimant is its own owner: nothing of a lab may lie in a gap of something else.
      owner: `${lab.name}/${network} ${what}`,
      role,
      path: ['spec', ...path],
    }),
  )
  const segments = new Map(networkNames.map((name) => [name, entries.filter((entry) => entry.network === name)]))
  return findConflicts({ segments, entries }, (path) => (path ? at(...path.slice(1)) : undefined))
}
