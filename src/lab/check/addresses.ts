/**
 * Checks the addresses of the lab: they parse, are in their networks, outside DHCP ranges, and unique.
 *
 * Pure. The planner's ledger finds conflicts, as for sites.
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

/** An address or a range of a network with its owner. */
interface AddressClaim extends Range {
  readonly network: NetworkName
  readonly what: string
  readonly role: EntryRole
  readonly path: ValuePath
}

/** The network of eth0 in every VM. */
const SLIRP = parseCidr('192.168.5.0/24') as Cidr
/** The default networks in every new networks.yaml. */
const LIMA_NETWORKS = [
  ['shared', parseCidr('192.168.105.0/24') as Cidr],
  ['host', parseCidr('192.168.106.0/24') as Cidr],
  ['user-v2', parseCidr('192.168.104.0/24') as Cidr],
] as const

export function checkAddresses(context: CheckContext): readonly Finding[] {
  const subnets = new Map<NetworkName, Cidr>()
  const invalid: Finding[] = []
  for (const name of networkNames) {
    const text = context.lab.networks[name].subnet
    const subnet = parseCidr(text)
    const small = subnet !== undefined && subnet.prefix > 26
    if (subnet?.family === 4 && !small) subnets.set(name, subnet)
    else {
      const why = !subnet ? explainInvalidCidr(text) : small ? 'it is smaller than a /26' : 'it is not IPv4'
      const where = context.locate('networks', name, 'subnet')
      invalid.push(finding(invalidLabAddress, { what: `the subnet of ${name}`, text, why }, { where }))
    }
  }
  const { claims, findings } = parseClaims(context, subnets)
  return [
    ...invalid,
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
}

function addressRequests({ lab }: CheckContext): readonly AddressRequest[] {
  const { vips, networks } = lab
  const { interface: rawPort, floating } = networks.external
  return [
    ...networkNames.map((network) => ({
      network,
      what: 'the gateway',
      role: 'gateway' as const,
      text: networks[network].gateway,
      path: ['networks', network, 'gateway'],
    })),
    ...lab.nodes.flatMap((node, index) =>
      node.nics.flatMap(({ network, interface: name, address }) => {
        if (address === undefined || name === rawPort) return []
        const path = ['nodes', index, 'addresses', network]
        return [{ network, what: node.name, role: 'node' as const, text: address, path }]
      }),
    ),
    {
      network: 'management',
      what: 'the internal VIP',
      role: 'endpoint',
      text: vips.internal,
      path: ['vips', 'internal'],
    },
    {
      network: 'external',
      what: 'the external VIP',
      role: 'endpoint',
      text: vips.external,
      path: ['vips', 'external'],
    },
    {
      network: 'external',
      what: 'the floating addresses',
      role: 'vips',
      text: floating,
      path: ['networks', 'external', 'floating'],
    },
  ]
}

function parseClaims(context: CheckContext, subnets: ReadonlyMap<NetworkName, Cidr>) {
  const claims: AddressClaim[] = []
  const findings: Finding[] = []
  for (const { network, what, role, text, path } of addressRequests(context)) {
    const subnet = subnets.get(network)
    if (!subnet) continue
    const where = context.locate(...path)
    const isRange = role === 'vips'
    const range = isRange ? parseRange(text) : parseSingleAddress(text)
    if (!range) {
      const why = isRange ? explainInvalidRange(text) : explainInvalidAddress(text)
      findings.push(finding(invalidLabAddress, { what, text, why }, { where }))
    } else if (!rangeCovers(cidrRange(subnet), range) || !isHostRange(subnet, range)) {
      const facts = { what, address: formatRange(range), subnet: context.lab.networks[network].subnet }
      findings.push(finding(addressOutsideSubnet, facts, { where }))
    } else claims.push({ ...range, network, what, role, path })
  }
  for (const [index, text] of context.lab.dns.forwarders.entries()) {
    if (parseAddress(text)?.family === 4) continue
    const facts = { what: 'a DNS forwarder', text, why: explainInvalidAddress(text) }
    findings.push(finding(invalidLabAddress, facts, { where: context.locate('dns', 'forwarders', index) }))
  }
  return { claims, findings }
}

function parseSingleAddress(text: string): Range | undefined {
  const address = parseAddress(text)
  return address?.family === 4 ? { family: 4, first: address.value, last: address.value } : undefined
}

/** Excludes the network address and the broadcast address. */
function isHostRange(subnet: Cidr, range: Range): boolean {
  const { first, last } = cidrRange(subnet)
  return range.first > first && range.last < last
}

function subnetFindings(context: CheckContext, subnets: ReadonlyMap<NetworkName, Cidr>): readonly Finding[] {
  const found: Finding[] = []
  for (const [network, subnet] of subnets) {
    const text = context.lab.networks[network].subnet
    const where = context.locate('networks', network, 'subnet')
    if (cidrsOverlap(subnet, SLIRP)) {
      const facts = { network, subnet: text, other: '192.168.5.0/24', why: "the network of every VM's eth0" }
      found.push(finding(subnetOverlapsLima, facts, { where }))
    }
    const [lima] = LIMA_NETWORKS.find(([, other]) => cidrsOverlap(subnet, other)) ?? []
    if (lima) found.push(finding(subnetSharedWithLima, { network, subnet: text, lima }, { where }))
  }
  const tenant = parseCidr(context.lab.terraform.tenantSubnet)
  const ranges = [...subnets].map(([network, subnet]) => ({ ...cidrRange(subnet), network: network as string }))
  if (tenant) ranges.push({ ...cidrRange(tenant), network: 'terraform.tenantSubnet' })
  else {
    const text = context.lab.terraform.tenantSubnet
    const facts = { what: 'the tenant subnet', text, why: explainInvalidCidr(text) }
    found.push(finding(invalidLabAddress, facts, { where: context.locate('terraform', 'tenantSubnet') }))
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
    found.push(finding(overlappingSubnets, facts, { where: context.locate(...path), owners: [a.network, b.network] }))
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
    const where = context.locate('networks', network, 'dhcpEnd')
    const what = `the end of the DHCP range of ${network}`
    if (!last) {
      const facts = { what, text: dhcpEnd, why: explainInvalidAddress(dhcpEnd) }
      found.push(finding(invalidLabAddress, facts, { where }))
      continue
    }
    // `parseClaims` reports an invalid gateway.
    if (!first) continue
    if (!rangeCovers(cidrRange(subnet), last) || last.first <= first.value) {
      const facts = { what, address: dhcpEnd, subnet: `${context.lab.networks[network].subnet} above ${gateway}` }
      found.push(finding(addressOutsideSubnet, facts, { where }))
      continue
    }
    const range: Range = { family: 4, first: first.value + 1n, last: last.last }
    const inRange = claims.filter(
      (claim) => claim.network === network && claim.role !== 'gateway' && rangesOverlap(claim, range),
    )
    const lowest = inRange.reduce((least, { first: start }) => (start < least ? start : least), range.last + 1n)
    const offer = formatValue(4, lowest - 1n)
    for (const claim of inRange) {
      const facts = { network, what: claim.what, address: formatRange(claim), range: formatRange(range), offer }
      found.push(finding(addressInDhcpRange, facts, { where: context.locate(...claim.path) }))
    }
  }
  return found
}

/** Each network is one segment, on which no two claims may overlap. */
function conflictFindings({ lab, locate }: CheckContext, claims: readonly AddressClaim[]): readonly Finding[] {
  const entries = claims.map(
    ({ network, what, role, path, ...range }): LedgerEntry & { readonly network: NetworkName } => ({
      family: range.family,
      first: range.first,
      last: range.last,
      network,
      // Each claim is its own owner, because claims of a lab must not overlap at all.
      owner: `${lab.name}/${network} ${what}`,
      role,
      path: ['spec', ...path],
    }),
  )
  const segments = new Map(networkNames.map((name) => [name, entries.filter((entry) => entry.network === name)]))
  return findConflicts({ segments, entries }, (path) => (path ? locate(...path.slice(1)) : undefined))
}
