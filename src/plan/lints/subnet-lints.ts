/**
 * Lints one subnet by itself: its address space, its spans, its VLAN.
 *
 * Pure. Overlaps with other subnets are found by `conflicts.ts`.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { formatAddress, formatValue } from '../../net/address.ts'
import { type Cidr, cidrContains, cidrRange, formatCidr, lastAddress, usableRange } from '../../net/cidr.ts'
import { formatRange, type Range, rangeContains, rangeCovers, rangesOverlap } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import { addressPurposes, findSpecialBlock } from '../../net/special.ts'
import type { Path } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import type { DraftNetwork, DraftSubnet } from '../draft/draft.ts'
import type { FindSubnet } from '../draft/subnets.ts'
import { publicSpace, reservedOverlap, spanHoldsSpecial, spanOutside, specialSpace } from '../findings/addresses.ts'
import { vlanDiffers } from '../findings/segments.ts'
import { roles, settingPathOrCloud } from '../requests.ts'

/** A prefix that the cluster itself uses. */
export interface ReservedRange extends Range {
  readonly use: string
  readonly cidr: string
}

export interface SubnetLintInput {
  readonly reserved: readonly ReservedRange[]
  readonly suggestSubnet: FindSubnet
  readonly locate: Locate
}

export function lintSubnet(draft: DraftNetwork, subnet: DraftSubnet, input: SubnetLintInput): readonly Finding[] {
  return [
    ...lintSpace(draft, subnet, input),
    ...lintSpans(draft, subnet, input.locate),
    ...lintVlan(draft, subnet, input.locate),
  ]
}

function pathInSubnet(draft: DraftNetwork, subnet: DraftSubnet, ...rest: Path): Path {
  return subnet.path ? [...subnet.path, ...rest] : settingPathOrCloud(draft.request, 'supernets')
}

function lintSpace(
  draft: DraftNetwork,
  subnet: DraftSubnet,
  { reserved, suggestSubnet, locate }: SubnetLintInput,
): readonly Finding[] {
  const { owner, network, supernets } = draft.request
  const { cidr } = subnet
  const text = formatCidr(cidr)
  const where = locate(pathInSubnet(draft, subnet, 'cidr'))
  const free = (): string | undefined => {
    const found = suggestSubnet(supernets, cidr.family)
    return found && formatCidr(found)
  }
  const range = cidrRange(cidr)
  const findings = reserved
    .filter((reservedRange) => rangesOverlap(reservedRange, range))
    .map((reservedRange) => {
      const facts = { owner, cidr: text, use: reservedRange.use, reserved: reservedRange.cidr, offer: free() }
      return finding(reservedOverlap, facts, {
        where,
        owners: [owner, `the cluster's ${reservedRange.use} ${reservedRange.cidr}`],
      })
    })
  const odd = addressPurposes(cidr).filter((purpose) => purpose !== 'private')
  if (odd.length === 0) return findings
  if (odd.includes('public')) {
    if (network.name !== 'external')
      findings.push(finding(publicSpace, { owner, cidr: text, offer: free() }, { where }))
  } else if (findings.length === 0) {
    // Space that the cluster uses is reported above.
    const about = findSpecialBlock({ family: cidr.family, value: cidr.base })?.description ?? odd.join(', ')
    findings.push(finding(specialSpace, { owner, cidr: text, about }, { where }))
  }
  return findings
}

function lintSpans(draft: DraftNetwork, subnet: DraftSubnet, locate: Locate): readonly Finding[] {
  const { owner } = draft.request
  const { cidr, gateway } = subnet
  const findings: Finding[] = []
  const outside = (what: string, path: Path | undefined): void => {
    findings.push(finding(spanOutside, { owner, what, cidrs: formatCidr(cidr) }, { where: locate(path) }))
  }
  for (const role of roles) {
    const path = pathInSubnet(draft, subnet, 'spans', role)
    for (const range of subnet.spans[role] ?? []) {
      const words = `${role} ${formatRange(range)}`
      if (!rangeCovers(cidrRange(cidr), range)) outside(words, path)
      else findings.push(...lintEnds(owner, words, range, subnet, locate(path)))
    }
  }
  subnet.reserved.forEach((range, index) => {
    if (!rangeCovers(cidrRange(cidr), range))
      outside(`reserved ${formatRange(range)}`, pathInSubnet(draft, subnet, 'reserved', index))
  })
  if (gateway && !cidrContains(cidr, gateway))
    outside(`gateway ${formatAddress(gateway)}`, pathInSubnet(draft, subnet, 'gateway'))
  return findings
}

/** The network's own and the broadcast address, unless they are reserved. */
function lintEnds(
  owner: string,
  span: string,
  range: Range,
  subnet: DraftSubnet,
  where: Finding['where'],
): readonly Finding[] {
  return endsOf(subnet.cidr)
    .filter(({ value }) => rangeContains(range, { family: range.family, value }))
    .filter(
      ({ value }) => !subnet.reserved.some((reserved) => rangeContains(reserved, { family: range.family, value })),
    )
    .map(({ value, what }) => {
      const left = freeRanges(range, rangeSet(outsideOf(subnet.cidr))).map(formatRange)
      const facts = {
        owner,
        span,
        what,
        address: formatValue(range.family, value),
        offer: left.join(', ') || undefined,
      }
      return finding(spanHoldsSpecial, facts, { where })
    })
}

function endsOf(cidr: Cidr): readonly { readonly value: bigint; readonly what: string }[] {
  const usable = usableRange(cidr)
  const ends: { value: bigint; what: string }[] = []
  if (usable.first !== cidr.base) ends.push({ value: cidr.base, what: "network's own address" })
  if (usable.last !== lastAddress(cidr)) ends.push({ value: lastAddress(cidr), what: 'broadcast address' })
  return ends
}

function outsideOf(cidr: Cidr): readonly Range[] {
  return endsOf(cidr).map(({ value }) => ({ family: cidr.family, first: value, last: value }))
}

/** A subnet that the cluster uses is on the VLAN of the network; only hosts of an edge site may have another one. */
function lintVlan({ request, placement }: DraftNetwork, subnet: DraftSubnet, locate: Locate): readonly Finding[] {
  const { vlan, spans, path } = subnet
  if (vlan === undefined || !placement || vlan === placement.vlan) return []
  if (!spans.nodes && !spans.pods && !spans.vips) return []
  const facts = {
    owner: request.owner,
    cidr: formatCidr(subnet.cidr),
    subnetVlan: `VLAN ${vlan}`,
    networkVlan: placement.vlan === undefined ? 'the untagged network' : `VLAN ${placement.vlan}`,
  }
  return [finding(vlanDiffers, facts, { where: locate(path && [...path, 'vlan']) })]
}
