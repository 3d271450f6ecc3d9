/**
 * Places networks on segments (L2 domains) and names their interfaces and bridges.
 *
 * Pure. Every network has its own segment unless the site file chooses to share.
 */

import { groupBy } from '../../api/collections.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { lockConflict } from '../findings/lock.ts'
import { duplicateVlan, noBridge, vlansExhausted } from '../findings/segments.ts'
import { lintSegments, lintTrunks } from '../lints/segment-lints.ts'
import { type Lock, lockEntries } from '../lock.ts'
import type { Segment } from '../plan.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { describeSegment, type Placement, STANDARD_MTU, segmentId } from './draft.ts'
import { assignBridges, canonicalNic, isKeptInterface, vlanInterface } from './interfaces.ts'
import { assignTags, type Tag, type TagProblem, type TagRequest } from './vlan-ids.ts'

export interface Placements {
  readonly placements: ReadonlyMap<string, Placement>
  readonly segments: readonly Segment[]
  readonly findings: readonly Finding[]
}

export function placeNetworks(site: Site, requests: readonly NetworkRequest[], lock: Lock, locate: Locate): Placements {
  const { nodes } = site.cluster
  const findings: Finding[] = []
  const segmented = requests.filter((request) => !request.onCtlplaneBridge && !request.isHostsOnly)
  const tags = assignNicTags(site, segmented, lock, findings, locate)
  const bridges = assignBridges({ nodes, requests: segmented, tags, lock, locate })
  for (const found of bridges.findings) findings.push(found)
  const kept = keptInterfaces(site, tags, lock)
  const placements = new Map<string, Placement>()
  for (const request of segmented) {
    const tag = tags.get(request.owner)
    if (tag === undefined) continue
    const { settings } = request.network
    const nic = canonicalNic(nodes, request.nic)
    const segment = segmentId(nic, tag)
    placements.set(request.owner, {
      segment,
      nic,
      vlan: tag === 'untagged' ? undefined : tag,
      carrier: settings.interface ?? kept.get(segment) ?? vlanInterface(nodes, nic, tag),
      bridge: bridges.names.get(segment),
      mtu: settings.mtu ?? STANDARD_MTU,
    })
  }
  const requested = new Set(segmented.map((request) => request.owner))
  for (const request of requests.filter(({ onCtlplaneBridge }) => onCtlplaneBridge)) {
    const owner = `${request.cloud.name}/ctlplane`
    const ctlplane = placements.get(owner)
    // Where no VLAN is left for ctlplane, that is the problem to solve.
    if (!ctlplane && requested.has(owner)) continue
    if (!ctlplane?.bridge) {
      const where = locate(settingPathOrCloud(request, 'bridge'))
      findings.push(finding(noBridge, { owner: request.owner }, { where }))
      continue
    }
    const mtu = request.network.settings.mtu ?? ctlplane.mtu
    placements.set(request.owner, { ...ctlplane, segment: undefined, vlan: undefined, mtu })
  }
  for (const request of requests.filter(({ isHostsOnly }) => isHostsOnly))
    placements.set(request.owner, hostsOnly(request))
  const segments = listSegments(segmented, placements)
  const lints = [
    ...lintSegments(site, segmented, placements, segments, locate),
    ...lintTrunks(requests, placements, locate),
  ]
  return { placements, segments, findings: [...findings, ...lints] }
}

/** Nodes have no interface on it. */
function hostsOnly({ tag, network }: NetworkRequest): Placement {
  const vlan = typeof tag === 'number' ? tag : undefined
  const mtu = network.settings.mtu ?? STANDARD_MTU
  return { segment: undefined, nic: '', vlan, carrier: '', bridge: undefined, mtu }
}

/** Names in the lock that stay, by segment: all networks of a segment have one interface. */
function keptInterfaces(site: Site, tags: ReadonlyMap<string, Tag>, lock: Lock): ReadonlyMap<string, string> {
  const { nodes } = site.cluster
  const kept = new Map<string, string>()
  for (const { owner, locked } of lockEntries(lock)) {
    const { vlan, nic } = locked
    if (nic === undefined || vlan === undefined || tags.get(owner) !== vlan) continue
    const role = canonicalNic(nodes, nic)
    if (isKeptInterface(locked.interface, nodes, role, vlan)) kept.set(segmentId(role, vlan), locked.interface)
  }
  return kept
}

/** Tags by owner. VLAN ids are unique per NIC, so each NIC is assigned by itself. */
function assignNicTags(
  site: Site,
  requests: readonly NetworkRequest[],
  lock: Lock,
  findings: Finding[],
  locate: Locate,
): ReadonlyMap<string, Tag> {
  const { nodes } = site.cluster
  const requestsByNic = groupBy(requests, (request) => canonicalNic(nodes, request.nic))
  const entriesByNic = groupBy(
    lockEntries(lock).filter(({ locked }) => locked.nic !== undefined),
    ({ locked }) => canonicalNic(nodes, locked.nic ?? ''),
  )
  const requestByOwner = new Map(requests.map((request) => [request.owner, request]))
  const tags = new Map<string, Tag>()
  for (const [nic, nicRequests] of requestsByNic) {
    const locked = new Map(
      (entriesByNic.get(nic) ?? []).map((entry) => [
        entry.owner,
        { tag: entry.locked.vlan ?? ('untagged' as const), group: sharingGroup(entry.name, site) },
      ]),
    )
    const tagRequests = nicRequests.map((request) => tagRequest(request, site))
    const assignment = assignTags(site.addressing.vlans, tagRequests, locked)
    for (const [owner, tag] of assignment.tags) tags.set(owner, tag)
    for (const problem of assignment.problems) findings.push(tagFinding(problem, nic, requestByOwner, locate))
  }
  return tags
}

/** Where sharing is chosen, networks of one name share one tag across clouds. */
function sharingGroup(network: string, { addressing }: Site): string | undefined {
  return addressing.isolation === 'shared-vlan' ? network : undefined
}

function tagRequest(request: NetworkRequest, site: Site): TagRequest {
  const { owner, network, tag } = request
  const group = sharingGroup(network.name, site)
  // A template proposes "untagged" to every cloud, and only one cloud can have it.
  const proposed = tag === 'untagged' && !request.tagIsPin
  const preferUntagged = proposed || (tag === undefined && network.name === 'ctlplane')
  return { owner, tag: proposed ? undefined : tag, preferUntagged, group }
}

function tagFinding(
  problem: TagProblem,
  nic: string,
  requestByOwner: ReadonlyMap<string, NetworkRequest>,
  locate: Locate,
): Finding {
  if (problem.kind === 'exhausted') {
    const { first, last } = problem.range
    const where = locate(['spec', 'addressing', 'vlans'])
    return finding(vlansExhausted, { owner: problem.owner, first, last }, { where })
  }
  const owners = [problem.holder, problem.owner].map((owner) => {
    const request = requestByOwner.get(owner)
    return request ? formatOwner(owner, settingPathOrCloud(request, 'vlan'), locate) : `${owner} (leaving)`
  })
  const { holder: a, owner: b } = problem
  const segment = describeSegment(segmentId(nic, problem.tag))
  if (problem.kind === 'held twice') return finding(lockConflict, { a, b, what: segment }, { owners })
  const request = requestByOwner.get(b)
  const where = request && locate(settingPathOrCloud(request, 'vlan'))
  return finding(duplicateVlan, { a, b, segment, free: problem.free }, { where, owners })
}

function listSegments(
  requests: readonly NetworkRequest[],
  placements: ReadonlyMap<string, Placement>,
): readonly Segment[] {
  const placed = requests.flatMap(({ owner }) => {
    const placement = placements.get(owner)
    return placement?.segment === undefined ? [] : [{ owner, id: placement.segment, placement }]
  })
  const segments = [...groupBy(placed, ({ id }) => id)].map(([id, members]): Segment => {
    const { nic, vlan, carrier, bridge } = (members[0] as (typeof members)[number]).placement
    return {
      id,
      nic,
      ...(vlan !== undefined && { vlan }),
      interface: carrier,
      ...(bridge !== undefined && { bridge }),
      mtu: members.reduce((mtu, { placement }) => Math.max(mtu, placement.mtu), 0),
      networks: members.map(({ owner }) => owner),
    }
  })
  // Not by locale: the order would depend on the user's, and loading one takes as long as planning a small site.
  return segments.sort((a, b) => (a.nic === b.nic ? (a.vlan ?? 0) - (b.vlan ?? 0) : a.nic < b.nic ? -1 : 1))
}
