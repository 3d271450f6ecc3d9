/**
 * The ledger: every span and every single address of every cloud with its owner, and the proof that no two on one
 * segment overlap.
 *
 * Pure. Sorts and sweeps once per segment; what an overlap means to a person is `conflicts.ts`'s to say.
 */
import { parseAddress } from '../net/address.ts'
import { cidrContains, cidrRange } from '../net/cidr.ts'
import { type Range, rangeContains, rangesOverlap, singleAddressRange } from '../net/range.ts'
import type { AllocatorRole, Path, Site } from '../site/site.ts'
import { groupBy } from './collections.ts'
import { type DraftNetwork, type DraftSubnet, segmentId } from './draft/draft.ts'
import { roles, settingPathOrCloud } from './requests.ts'

export type EntryRole = AllocatorRole | 'gateway' | 'dns' | 'reserved' | 'endpoint' | 'node' | 'host' | 'live'

export interface LedgerEntry extends Range {
  /** `rhoso1/internalapi`; `dns`, or an object of the cluster, for what no cloud owns. */
  readonly owner: string
  readonly role: EntryRole
  /** Who exactly, for a single address: `worker-0`. */
  readonly name?: string
  /** Where it is written, from the top of the file; or `at`, below its subnet. */
  readonly path?: Path | undefined
  readonly at?: Path
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
  const bySegment = groupBy(placed, ({ draft, subnet }) => subnetSegment(draft, subnet))
  const segments = new Map<string, readonly LedgerEntry[]>()
  for (const [segment, members] of bySegment) {
    const entries = members.flatMap(({ draft, subnet }) => subnetEntries(draft, subnet))
    const servers = dnsEntries(
      site,
      members.map(({ subnet }) => subnet),
    )
    // Which segment a foreign object is on nobody knows: it counts wherever its addresses do.
    const near = live.filter((ledgerEntry) =>
      members.some(({ subnet }) => rangesOverlap(cidrRange(subnet.cidr), ledgerEntry)),
    )
    segments.set(segment, [...entries, ...servers, ...near])
  }
  return { segments, entries: [...segments.values()].flat() }
}

/** The L2 domain of one subnet: an edge site's may have a VLAN of its own. */
export function subnetSegment({ placement, wish }: DraftNetwork, { vlan }: DraftSubnet): string {
  if (vlan !== undefined && placement) return segmentId(placement.nic, vlan)
  return placement?.segment ?? `${wish.owner} alone`
}

/** Where an entry is written. Asked for when something is wrong with it, so it is not kept ready for all of them. */
export function entryPath({ path, at = [], subnet, draft }: LedgerEntry): Path | undefined {
  if (path) return path
  return subnet?.path ? [...subnet.path, ...at] : draft && settingPathOrCloud(draft.wish, 'subnets')
}

const SPAN_AT: Readonly<Record<AllocatorRole, Path>> = {
  nodes: ['spans', 'nodes'],
  pods: ['spans', 'pods'],
  vips: ['spans', 'vips'],
  hosts: ['spans', 'hosts'],
}
const GATEWAY_AT: Path = ['gateway']

function subnetEntries(draft: DraftNetwork, subnet: DraftSubnet): readonly LedgerEntry[] {
  const { wish } = draft
  const { owner } = wish
  const entries: LedgerEntry[] = []
  for (const role of roles) {
    for (const { family, first, last } of subnet.spans[role] ?? [])
      entries.push({ family, first, last, owner, role, at: SPAN_AT[role], draft, subnet })
  }
  const { gateway } = subnet
  // Who reserved the gateway's address has taken care of it.
  if (gateway && !subnet.reserved.some((range) => rangeContains(range, gateway)))
    entries.push({ ...singleAddressRange(gateway), owner, role: 'gateway', at: GATEWAY_AT, draft, subnet })
  subnet.reserved.forEach((range, index) => {
    entries.push({ ...range, owner, role: 'reserved', at: ['reserved', index], draft, subnet })
  })
  for (const { name, value } of draft.endpoints) {
    if (!cidrContains(subnet.cidr, value)) continue
    const path = wish.endpoints.find((endpoint) => endpoint.name === name)?.path
    entries.push({ ...singleAddressRange(value), owner, role: 'endpoint', name, path, draft, subnet })
  }
  return draft.strays.length > 0 ? [...entries, ...strays(draft, subnet)] : entries
}

/** Nodes and hosts with an address outside their own span: those inside are covered by the span. */
function strays(draft: DraftNetwork, subnet: DraftSubnet): readonly LedgerEntry[] {
  const { wish } = draft
  return draft.strays
    .filter(({ address }) => cidrContains(subnet.cidr, address))
    .map(({ role, name, address }) => {
      const path = role === 'node' ? settingPathOrCloud(wish, 'nodes', name) : hostPath(draft, name)
      return { ...singleAddressRange(address), owner: wish.owner, role, name, path, draft, subnet }
    })
}

function hostPath({ wish }: DraftNetwork, name: string): Path {
  const index = (wish.cloud.file.hosts ?? []).findIndex((host) => host.name === name)
  return [...wish.cloud.path, 'hosts', Math.max(index, 0), 'addresses', wish.network.name]
}

function dnsEntries(site: Site, subnets: readonly DraftSubnet[]): readonly LedgerEntry[] {
  return site.cluster.dns.flatMap((text, index): readonly LedgerEntry[] => {
    const address = parseAddress(text)
    if (!address || !subnets.some(({ cidr }) => cidrContains(cidr, address))) return []
    const path = ['spec', 'cluster', 'dns', index]
    return [{ ...singleAddressRange(address), owner: 'the cluster', role: 'dns', path }]
  })
}
