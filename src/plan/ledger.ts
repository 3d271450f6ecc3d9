/**
 * The ledger: every span and every single address of every cloud with its owner, by segment.
 *
 * Pure. `conflicts.ts` finds the entries that overlap and explains them.
 */

import { groupBy } from '../api/collections.ts'
import { parseAddress } from '../net/address.ts'
import { cidrContains, cidrRange, formatCidr } from '../net/cidr.ts'
import { type Range, rangeContains, rangesOverlap, singleAddressRange } from '../net/range.ts'
import type { AllocatorRole, Path, Site } from '../site/site.ts'
import { type DraftNetwork, type DraftSubnet, segmentId } from './draft/draft.ts'
import { roles, settingPathOrCloud } from './requests.ts'

export type EntryRole = AllocatorRole | 'gateway' | 'dns' | 'peer' | 'reserved' | 'endpoint' | 'node' | 'host' | 'live'

export interface LedgerEntry extends Range {
  /** `rhoso1/internalapi`; `dns`, or an object of the cluster, for what no cloud owns. */
  readonly owner: string
  readonly role: EntryRole
  /** The holder of a single address: `worker-0`. */
  readonly name?: string
  /** Where it is in the site file; or, below its subnet, `subnetPath`. */
  readonly path?: Path | undefined
  readonly subnetPath?: Path
  readonly draft?: DraftNetwork
  readonly subnet?: DraftSubnet
}

export interface Ledger {
  /** Entries by segment. */
  readonly segments: ReadonlyMap<string, readonly LedgerEntry[]>
  readonly entries: readonly LedgerEntry[]
}

export function buildLedger(site: Site, networks: readonly DraftNetwork[], live: readonly LedgerEntry[] = []): Ledger {
  const placed = networks.flatMap((draft) => draft.subnets.map((subnet) => ({ draft, subnet })))
  const segmentBySubnet = new Map(
    placed.flatMap(({ draft, subnet }) =>
      draft.request.isHostsOnly ? [] : [[hostSubnet(draft, subnet), subnetSegment(draft, subnet)]],
    ),
  )
  const bySegment = groupBy(placed, ({ draft, subnet }) => {
    const same = draft.request.isHostsOnly ? segmentBySubnet.get(hostSubnet(draft, subnet)) : undefined
    return same ?? subnetSegment(draft, subnet)
  })
  const segments = new Map<string, readonly LedgerEntry[]>()
  for (const [segment, members] of bySegment) {
    const entries = members.flatMap(({ draft, subnet }) => subnetEntries(draft, subnet))
    const servers = serverEntries(
      site,
      members.map(({ subnet }) => subnet),
    )
    // The segment of a foreign object is unknown: it counts on every segment that has its addresses.
    const near = live.filter((ledgerEntry) =>
      members.some(({ subnet }) => rangesOverlap(cidrRange(subnet.cidr), ledgerEntry)),
    )
    segments.set(segment, [...entries, ...servers, ...near])
  }
  return { segments, entries: [...segments.values()].flat() }
}

/** A network of hosts only that has the subnet of another network is on its segment, as far as the hosts know. */
function hostSubnet({ request }: DraftNetwork, { cidr }: DraftSubnet): string {
  return `${request.cloud.name} ${formatCidr(cidr)}`
}

/** The L2 domain of one subnet: a subnet of an edge site may have its own VLAN. */
export function subnetSegment({ placement, request }: DraftNetwork, { vlan }: DraftSubnet): string {
  if (vlan !== undefined && placement && !request.isHostsOnly) return segmentId(placement.nic, vlan)
  return placement?.segment ?? `${request.owner} alone`
}

/** Where an entry is in the site file. Needed for problems only, so it is not computed for every entry. */
export function entryPath({ path, subnetPath = [], subnet, draft }: LedgerEntry): Path | undefined {
  if (path) return path
  return subnet?.path ? [...subnet.path, ...subnetPath] : draft && settingPathOrCloud(draft.request, 'subnets')
}

const SPAN_PATHS: Readonly<Record<AllocatorRole, Path>> = {
  nodes: ['spans', 'nodes'],
  pods: ['spans', 'pods'],
  vips: ['spans', 'vips'],
  hosts: ['spans', 'hosts'],
}
const GATEWAY_PATH: Path = ['gateway']

function subnetEntries(draft: DraftNetwork, subnet: DraftSubnet): readonly LedgerEntry[] {
  const { request } = draft
  const { owner } = request
  const entries: LedgerEntry[] = []
  for (const role of roles) {
    for (const { family, first, last } of subnet.spans[role] ?? [])
      entries.push({ family, first, last, owner, role, subnetPath: SPAN_PATHS[role], draft, subnet })
  }
  const { gateway } = subnet
  // A reserved gateway is an entry already.
  if (gateway && !subnet.reserved.some((range) => rangeContains(range, gateway)))
    entries.push({ ...singleAddressRange(gateway), owner, role: 'gateway', subnetPath: GATEWAY_PATH, draft, subnet })
  subnet.reserved.forEach((range, index) => {
    entries.push({ ...range, owner, role: 'reserved', subnetPath: ['reserved', index], draft, subnet })
  })
  for (const { name, value } of draft.endpoints) {
    if (!cidrContains(subnet.cidr, value)) continue
    const path = request.endpoints.find((endpoint) => endpoint.name === name)?.path
    entries.push({ ...singleAddressRange(value), owner, role: 'endpoint', name, path, draft, subnet })
  }
  return draft.outside.length > 0 ? [...entries, ...outsideEntries(draft, subnet)] : entries
}

/** Nodes and hosts with an address outside their span; the span covers the others. */
function outsideEntries(draft: DraftNetwork, subnet: DraftSubnet): readonly LedgerEntry[] {
  const { request } = draft
  return draft.outside
    .filter(({ address }) => cidrContains(subnet.cidr, address))
    .map(({ role, name, address }) => {
      const path = role === 'node' ? settingPathOrCloud(request, 'nodes', name) : hostPath(draft, name)
      return { ...singleAddressRange(address), owner: request.owner, role, name, path, draft, subnet }
    })
}

function hostPath({ request }: DraftNetwork, name: string): Path {
  const index = (request.cloud.file.hosts ?? []).findIndex((host) => host.name === name)
  return [...request.cloud.path, 'hosts', Math.max(index, 0), 'addresses', request.network.name]
}

/** DNS servers and BGP peers that have an address in a subnet of the site. */
function serverEntries({ cluster }: Site, subnets: readonly DraftSubnet[]): readonly LedgerEntry[] {
  const entry = (text: string, role: 'dns' | 'peer', path: Path): readonly LedgerEntry[] => {
    const address = parseAddress(text)
    if (!address || !subnets.some(({ cidr }) => cidrContains(cidr, address))) return []
    return [{ ...singleAddressRange(address), owner: 'the cluster', role, path }]
  }
  return [
    ...cluster.dns.flatMap((text, index) => entry(text, 'dns', ['spec', 'cluster', 'dns', index])),
    ...cluster.metallb.peers.flatMap(({ address, path }) => entry(address, 'peer', [...path, 'address'])),
  ]
}
