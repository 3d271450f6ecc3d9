/**
 * Builds the pins of one network from what NetConfig, attachments, pools and node addresses say of it.
 *
 * Knows no file format and no cluster.
 */
import { asInteger, asList, asRecord, asString, asStrings, type JsonRecord } from '../../api/json.ts'
import type { SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import { type Address, compareAddresses, formatAddress, parseAddress } from '../../net/address.ts'
import { type Cidr, cidrContaining, cidrContains, formatCidr, parseCidr, sameCidr } from '../../net/cidr.ts'
import { parseRange } from '../../net/range.ts'
import { type Attachment, asRange } from './attachment.ts'
import { segmentUnknown, subnetGuessed } from './findings/existing.ts'

export interface SubnetFacts {
  readonly name?: string | undefined
  readonly cidr: string
  readonly gateway?: string | undefined
  readonly vlan?: number | undefined
  readonly dnsDomain?: string | undefined
  readonly hosts: readonly string[]
  readonly reserved: readonly string[]
  readonly routes: readonly { readonly destination: string; readonly nexthop: string }[]
}

export interface NetworkFacts {
  readonly name: string
  readonly vlan?: number | 'untagged' | undefined
  readonly nic?: string | undefined
  readonly interface?: string | undefined
  readonly bridge?: string | undefined
  readonly mtu?: number | undefined
  readonly dnsDomain?: string | undefined
  readonly subnets: readonly SubnetFacts[]
  /** How pods attach; absent if they do not. */
  readonly attachment: Attachment | undefined
  /** Ranges and prefixes of pools. */
  readonly vips: readonly string[]
  readonly nodes: ReadonlyMap<string, readonly string[]>
}

export interface ReportContext {
  readonly cloud: string
  readonly where: Where
  readonly findings: Finding[]
}

type FileSubnet = NonNullable<SiteFileNetwork['subnets']>[number]
type Role = 'nodes' | 'pods' | 'vips' | 'hosts'

interface SubnetDraft {
  readonly facts: SubnetFacts
  /** Absent when the text is not a network; the planner reports it. */
  readonly cidr: Cidr | undefined
  readonly spans: Record<Role, string[]>
  readonly reserved: string[]
}

/** Whether the network has any addresses. */
export function hasAddresses({ subnets, attachment, vips }: NetworkFacts): boolean {
  return subnets.length > 0 || vips.length > 0 || (attachment?.pods ?? []).length > 0
}

export function buildNetwork(facts: NetworkFacts, report: ReportContext): SiteFileNetwork {
  const drafts = facts.subnets.map(draftOf)
  const into = (text: string, cidr: string | undefined): SubnetDraft => {
    const found = findDraft(drafts, text, cidr)
    if (found) return found
    const made = cidr ?? guess(text)
    if (cidr === undefined) {
      const guessed = { cloud: report.cloud, network: facts.name, cidr: made, from: text }
      report.findings.push(finding(subnetGuessed, guessed, { where: report.where }))
    }
    const draft = draftOf({ cidr: made, hosts: [], reserved: [], routes: [] })
    drafts.push(draft)
    return draft
  }
  for (const { cidr, span, reserved } of facts.attachment?.pods ?? []) {
    const draft = into(span, cidr)
    draft.spans.pods.push(span)
    draft.reserved.push(...reserved)
  }
  for (const text of facts.vips) into(text, undefined).spans.vips.push(asRange(text))
  const routes = facts.attachment?.routes ?? []
  const nodes = new Map<string, string[]>()
  for (const [name, addresses] of facts.nodes) {
    for (const text of addresses) {
      into(text, undefined).spans.nodes.push(text)
      nodes.set(name, [...(nodes.get(name) ?? []), text])
    }
  }
  return {
    ...settingsOf(facts),
    ...(drafts.length > 0 && { subnets: drafts.map(subnetOf) }),
    ...(routes.length > 0 && { podRoutes: [...routes] }),
    ...(nodes.size > 0 && { nodes: Object.fromEntries([...nodes].map(([name, all]) => [name, oneOrAll(all)])) }),
  }
}

/** A network for which the source has no VLAN and no interface: only hosts are on it, or the planner must choose. */
export function withoutSegment(
  { name, vlan, attachment, vips, nodes }: NetworkFacts,
  network: SiteFileNetwork,
  { cloud, where, findings }: ReportContext,
): SiteFileNetwork {
  if (vlan !== undefined || name === 'datacentre') return network
  // NetConfig alone has it: it is on no interface of the nodes, and pods and Services have no address in it.
  if (attachment === undefined && vips.length === 0 && nodes.size === 0)
    return { nic: false, ...network, roles: ['hosts'] }
  findings.push(finding(segmentUnknown, { cloud, network: name }, { where }))
  return network
}

function settingsOf(facts: NetworkFacts): SiteFileNetwork {
  const { vlan, nic, interface: vlanInterface, bridge, attachment, mtu, dnsDomain } = facts
  return {
    ...(vlan !== undefined && { vlan }),
    ...(nic !== undefined && { nic }),
    ...(vlanInterface !== undefined && { interface: vlanInterface }),
    ...(bridge !== undefined && { bridge }),
    attach: attachment?.attach ?? 'none',
    ...(mtu !== undefined && { mtu }),
    ...(dnsDomain !== undefined && { dnsDomain }),
  }
}

function draftOf(facts: SubnetFacts): SubnetDraft {
  const { hosts, reserved } = facts
  return {
    facts,
    cidr: parseCidr(facts.cidr),
    spans: { nodes: [], pods: [], vips: [], hosts: [...hosts] },
    reserved: [...reserved],
  }
}

/** The subnet that has exactly this prefix, or the first that the address lies in. */
function findDraft(drafts: readonly SubnetDraft[], text: string, cidr: string | undefined): SubnetDraft | undefined {
  const exact = cidr === undefined ? undefined : parseCidr(cidr)
  const same = exact && drafts.find((draft) => draft.cidr && sameCidr(draft.cidr, exact))
  if (same) return same
  const start = startOf(text)
  return start && drafts.find((draft) => draft.cidr && cidrContains(draft.cidr, start))
}

function startOf(text: string): Address | undefined {
  const range = parseRange(text)
  return range && { family: range.family, value: range.first }
}

function guess(text: string): string {
  const start = startOf(text)
  return start ? formatCidr(cidrContaining(start, start.family === 4 ? 24 : 64)) : text
}

function subnetOf({ facts, cidr, spans, reserved }: SubnetDraft): FileSubnet {
  const { name, gateway, vlan, dnsDomain, routes } = facts
  const nodes = nodeSpan(spans.nodes)
  const roles = {
    ...(nodes !== undefined && { nodes }),
    ...(spans.pods.length > 0 && { pods: oneOrAll(spans.pods) }),
    ...(spans.vips.length > 0 && { vips: oneOrAll(spans.vips) }),
    ...(spans.hosts.length > 0 && { hosts: oneOrAll(spans.hosts) }),
  }
  return {
    ...(name !== undefined && { name }),
    cidr: cidr ? formatCidr(cidr) : facts.cidr,
    ...(gateway !== undefined && { gateway }),
    ...(vlan !== undefined && { vlan }),
    spans: roles,
    ...(reserved.length > 0 && { reserved: [...new Set(reserved)] }),
    ...(routes.length > 0 && { routes: [...routes] }),
    ...(dnsDomain !== undefined && { dnsDomain }),
  }
}

/** The span of the nodes: from the lowest node address to the highest. */
function nodeSpan(texts: readonly string[]): string | undefined {
  const addresses = texts.flatMap((text) => parseAddress(text) ?? []).sort(compareAddresses)
  const [first, last] = [addresses[0], addresses.at(-1)]
  if (!first || !last) return texts[0]
  return formatAddress(first) === formatAddress(last)
    ? formatAddress(first)
    : `${formatAddress(first)}-${formatAddress(last)}`
}

function oneOrAll(texts: readonly string[]): string | string[] {
  return texts.length === 1 ? (texts[0] as string) : [...texts]
}

/** A subnet in the form of NetConfig. */
export function readNetConfigSubnet(value: unknown, networkVlan: number | undefined): SubnetFacts | undefined {
  const subnet = asRecord(value)
  const cidr = asString(subnet['cidr'])
  if (cidr === undefined) return undefined
  const name = asString(subnet['name'])
  const vlan = asInteger(subnet['vlan'])
  return {
    // `subnet1` is the default name of the first subnet.
    name: name === 'subnet1' ? undefined : name,
    cidr,
    gateway: asString(subnet['gateway']),
    vlan: vlan === networkVlan ? undefined : vlan,
    dnsDomain: asString(subnet['dnsDomain']),
    hosts: asList(subnet['allocationRanges']).flatMap((range) => rangeText(asRecord(range))),
    reserved: asStrings(subnet['excludeAddresses']).map(asRange),
    routes: asList(subnet['routes']).flatMap((route) => readRoute(asRecord(route))),
  }
}

function rangeText({ start, end }: JsonRecord): readonly string[] {
  return typeof start === 'string' && typeof end === 'string' ? [start === end ? start : `${start}-${end}`] : []
}

function readRoute({ destination, nexthop }: JsonRecord): SubnetFacts['routes'] {
  return typeof destination === 'string' && typeof nexthop === 'string' ? [{ destination, nexthop }] : []
}
