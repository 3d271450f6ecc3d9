/**
 * Finds what overlaps in the ledger, with both owners and free addresses to suggest.
 *
 * Pure. Reports each pair of owners once.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { formatValue } from '../net/address.ts'
import { cidrRange, formatCidr, sameCidr, usableRange } from '../net/cidr.ts'
import { findOverlaps } from '../net/overlaps.ts'
import { formatRange, intersection, type Range, rangeSize } from '../net/range.ts'
import { firstFree, freeRanges, rangeSet } from '../net/range-set.ts'
import type { Path } from '../site/site.ts'
import { formatOwner, type Locate } from './address-reader.ts'
import { type DraftNetwork, describeSegment } from './draft/draft.ts'
import type { Draft } from './draft/draft-site.ts'
import {
  duplicateAddress,
  liveOverlap,
  moreOverlaps,
  overlappingSubnets,
  spanHoldsSpecial,
  spansOverlap,
} from './findings/addresses.ts'
import { type EntryRole, entryPath, type Ledger, type LedgerEntry, subnetSegment } from './ledger.ts'

/** One wrong range can overlap thousands of others; the first pairs are enough to find it. */
const SHOWN = 200

const SPANS = new Set(['nodes', 'pods', 'vips', 'hosts'])

export function findConflicts(ledger: Ledger, locate: Locate): readonly Finding[] {
  const findings: Finding[] = []
  for (const [segment, entries] of ledger.segments) {
    const { pairs, more } = findOverlaps(entries, { limit: SHOWN, allowed: mayOverlap })
    const seen = new Set<string>()
    for (const [first, second] of pairs) {
      const [a, b] = inFileOrder(first, second)
      const conflict = explainConflict(a, b, entries, locate)
      // A span that is a list of ranges may overlap the same span several times, with the same message.
      if (seen.has(conflict.message)) continue
      seen.add(conflict.message)
      findings.push(conflict)
    }
    if (more) findings.push(finding(moreOverlaps, { segment: describeSegment(segment), shown: SHOWN }))
  }
  return findings
}

function mayOverlap(a: LedgerEntry, b: LedgerEntry): boolean {
  // Several clouds may name the same gateway or DNS server.
  if (isServer(a) && isServer(b)) return true
  if (a.role === 'live' && b.role === 'live') return true
  return a.owner === b.owner ? isGapIn(a, b) || isGapIn(b, a) : isSameNode(a, b)
}

/** Reserved addresses and endpoints are gaps in the spans of their own network. */
function isGapIn(gap: LedgerEntry, span: LedgerEntry): boolean {
  return gap.role === 'reserved' || (gap.role === 'endpoint' && SPANS.has(span.role))
}

/** On a shared subnet a node has one address for all clouds. */
function isSameNode(a: LedgerEntry, b: LedgerEntry): boolean {
  if (a.role === 'node' && b.role === 'node') return a.name === b.name
  return a.role === 'nodes' && b.role === 'nodes' && sharesNodes(a, b)
}

/** Machines that are not of the site, with an address in one of its subnets. */
const serverWords: Readonly<Partial<Record<EntryRole, string>>> = {
  gateway: 'gateway',
  dns: 'DNS server',
  peer: 'BGP peer',
}

const isServer = ({ role }: LedgerEntry): boolean => role in serverWords

function sharesNodes(a: LedgerEntry, b: LedgerEntry): boolean {
  return (
    a.subnet !== undefined && b.subnet !== undefined && sameCidr(a.subnet.cidr, b.subnet.cidr) && a.first === b.first
  )
}

/** The owner that is later in the file is asked to move. */
function inFileOrder(a: LedgerEntry, b: LedgerEntry): readonly [LedgerEntry, LedgerEntry] {
  if (a.role === 'live' || isServer(a)) return [a, b]
  if (b.role === 'live' || isServer(b)) return [b, a]
  const order = compareClouds(a, b)
  return order > 0 ? [b, a] : [a, b]
}

function compareClouds(a: LedgerEntry, b: LedgerEntry): number {
  const position = ({ draft }: LedgerEntry): number => Number(draft?.request.cloud.path.at(-1) ?? -1)
  return position(a) - position(b) || rank(a) - rank(b)
}

/** Within one cloud the hosts are asked to move: NetConfig takes lists of ranges. */
function rank({ role }: LedgerEntry): number {
  return ['nodes', 'node', 'pods', 'endpoint', 'vips', 'hosts', 'host'].indexOf(role)
}

function explainConflict(a: LedgerEntry, b: LedgerEntry, entries: readonly LedgerEntry[], locate: Locate): Finding {
  const shared = intersection(a, b) as Range
  const owners = [a, b].map((ledgerEntry) => formatOwner(describeEntry(ledgerEntry), entryPath(ledgerEntry), locate))
  const where = locate(entryPath(b))
  const offer = suggestRange(b, entries)
  if (a.role === 'live') {
    const facts = { owner: describeEntry(b), range: formatRange(shared), live: a.owner, offer }
    return finding(liveOverlap, facts, { where, owners })
  }
  if (isServer(a)) {
    const address = formatValue(a.family, a.first)
    const facts = { owner: b.owner, span: describeSpan(b), what: serverWords[a.role] ?? a.role, address, offer }
    return finding(spanHoldsSpecial, facts, { where, owners })
  }
  if (a.first === a.last && b.first === b.last) {
    const facts = { a: describeEntry(a), b: describeEntry(b), address: formatRange(shared), offer }
    return finding(duplicateAddress, facts, { where, owners })
  }
  const facts = { a: describeEntry(a), b: describeEntry(b), shared: formatRange(shared), offer }
  return finding(spansOverlap, facts, { where, owners })
}

/** `rhoso1/ctlplane vips 192.168.122.80-192.168.122.90`. */
function describeEntry(entry: LedgerEntry): string {
  return `${entry.owner} ${describeSpan(entry)}`
}

function describeSpan(entry: LedgerEntry): string {
  return `${entry.role}${entry.name ? ` ${entry.name}` : ''} ${formatRange(entry)}`
}

/** Free addresses for an entry: as many as it has, in one run; or what is left of it. */
function suggestRange(entry: LedgerEntry, entries: readonly LedgerEntry[]): string | undefined {
  const { subnet } = entry
  if (!subnet) return undefined
  const others = rangeSet(entries.filter((ledgerEntry) => ledgerEntry !== entry && !isPartOf(ledgerEntry, entry)))
  const usable = usableRange(subnet.cidr)
  const moved = firstFree(usable, others, rangeSize(entry))
  if (moved && rangeSize(entry) * 2n <= rangeSize(usable)) return formatRange(moved)
  const left = freeRanges(intersection(entry, usable) ?? entry, others)
  return left.length > 0 ? left.map(formatRange).join(', ') : moved && formatRange(moved)
}

/** Gaps in a span move with it. */
function isPartOf(gap: LedgerEntry, entry: LedgerEntry): boolean {
  return gap.owner === entry.owner && (gap.role === 'reserved' || gap.role === 'endpoint')
}

/** Two networks meet on the nodes of the cluster if it uses both, and on the hosts of their cloud. */
function isOnOneMachine(a: DraftNetwork, b: DraftNetwork): boolean {
  if (isInCluster(a) && isInCluster(b)) return true
  const hasHosts = ({ subnets }: DraftNetwork): boolean => subnets.some(({ spans }) => spans.hosts !== undefined)
  return a.request.cloud === b.request.cloud && hasHosts(a) && hasHosts(b)
}

/** Whether nodes, pods or Services have addresses in it. A network that has no addresses yet may get some. */
function isInCluster({ request, subnets, nodes }: DraftNetwork): boolean {
  if (request.isHostsOnly) return false
  return nodes.length > 0 || subnets.some(({ spans }) => !spans.hosts || spans.nodes || spans.pods || spans.vips)
}

/** Subnets that overlap where they must not: on two segments of the same nodes, or twice in one network. */
export function findSubnetConflicts({ networks, suggestSubnet }: Draft, locate: Locate): readonly Finding[] {
  const subnets = networks.flatMap((draft) =>
    draft.subnets.map((subnet) => ({
      ...cidrRange(subnet.cidr),
      draft,
      subnet,
      segment: subnetSegment(draft, subnet),
    })),
  )
  const { pairs } = findOverlaps(subnets, {
    limit: SHOWN,
    allowed: (a, b) => {
      if (a.draft === b.draft) return false
      if (!isOnOneMachine(a.draft, b.draft)) return true
      const isSameSegment = a.segment === b.segment || a.draft.request.isHostsOnly || b.draft.request.isHostsOnly
      return isSameSegment && sameCidr(a.subnet.cidr, b.subnet.cidr)
    },
  })
  return pairs.map(([first, second]) => {
    const position = ({ draft }: typeof first): number => Number(draft.request.cloud.path.at(-1))
    const [a, b] = position(first) > position(second) ? [second, first] : [first, second]
    const free = suggestSubnet(b.draft.request.supernets, b.subnet.cidr.family)
    const pathOf = ({ draft, subnet }: typeof a): Path =>
      subnet.path ? [...subnet.path, 'cidr'] : draft.request.cloud.path
    const owners = [a, b].map((part) =>
      formatOwner(`${part.draft.request.owner} ${formatCidr(part.subnet.cidr)}`, pathOf(part), locate),
    )
    const facts = {
      a: a.draft.request.owner,
      b: b.draft.request.owner,
      cidrA: formatCidr(a.subnet.cidr),
      cidrB: formatCidr(b.subnet.cidr),
      offer: free && formatCidr(free),
    }
    return finding(overlappingSubnets, facts, { where: locate(pathOf(b)), owners })
  })
}
