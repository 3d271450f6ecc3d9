/**
 * Segments: which network of which cloud is on which L2 domain, and what its interface and bridge are called.
 *
 * Pure. Own segments are the default; sharing one is the site's explicit choice.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { groupBy } from '../collections.ts'
import { lockConflict } from '../findings/lock.ts'
import { duplicateVlan, noBridge, vlansExhausted } from '../findings/segments.ts'
import { lintSegments } from '../lints/segment-lints.ts'
import { type Lock, lockEntries } from '../lock.ts'
import type { Segment } from '../plan.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { describeSegment, type Placement, STANDARD_MTU, segmentId } from './draft.ts'
import { canonicalNic, grantBridges, vlanInterface } from './interfaces.ts'
import { assignTags, type Tag, type TagFinding, type TagWish } from './vlan-ids.ts'

export interface Placements {
  readonly placements: ReadonlyMap<string, Placement>
  readonly segments: readonly Segment[]
  readonly findings: readonly Finding[]
}

export function placeNetworks(site: Site, wishes: readonly NetworkRequest[], lock: Lock, locate: Locate): Placements {
  const findings: Finding[] = []
  const own = wishes.filter((wish) => !wish.rides)
  const tags = grantTags(site, own, lock, findings, locate)
  const placements = new Map<string, Placement>()
  const bridges = grantBridges({ nodes: site.cluster.nodes, wishes: own, tags, lock, locate })
  findings.push(...bridges.findings)
  for (const wish of own) {
    const tag = tags.get(wish.owner)
    if (tag === undefined) continue
    const nic = canonicalNic(site.cluster.nodes, wish.nic)
    const segment = segmentId(nic, tag)
    placements.set(wish.owner, {
      segment,
      nic,
      vlan: tag === 'untagged' ? undefined : tag,
      carrier: wish.network.settings.interface ?? vlanInterface(site.cluster.nodes, nic, tag),
      bridge: bridges.names.get(segment),
      mtu: wish.network.settings.mtu ?? STANDARD_MTU,
    })
  }
  for (const wish of wishes.filter((wish) => wish.rides)) {
    const carrier = placements.get(`${wish.cloud.name}/ctlplane`)
    if (!carrier?.bridge) {
      findings.push(finding(noBridge, { owner: wish.owner }, { where: locate(settingPathOrCloud(wish, 'bridge')) }))
      continue
    }
    const mtu = wish.network.settings.mtu ?? carrier.mtu
    placements.set(wish.owner, { ...carrier, segment: undefined, vlan: undefined, mtu })
  }
  const segments = listSegments(own, placements)
  findings.push(...lintSegments(site, own, placements, segments, locate))
  return { placements, segments, findings }
}

function grantTags(
  site: Site,
  wishes: readonly NetworkRequest[],
  lock: Lock,
  findings: Finding[],
  locate: Locate,
): ReadonlyMap<string, Tag> {
  const { nodes } = site.cluster
  const byNic = groupBy(wishes, (wish) => canonicalNic(nodes, wish.nic))
  const lockedByNic = groupBy(
    lockEntries(lock).filter(({ locked }) => locked.nic !== undefined),
    ({ locked }) => canonicalNic(nodes, locked.nic ?? ''),
  )
  const wishOf = new Map(wishes.map((wish) => [wish.owner, wish]))
  const grants = new Map<string, Tag>()
  for (const [nic, asking] of byNic) {
    const held = new Map(
      (lockedByNic.get(nic) ?? []).map(({ owner, name, locked }) => [
        owner,
        { tag: locked.vlan ?? ('untagged' as const), group: groupOf(name, site) },
      ]),
    )
    const tagWishes = asking.map((wish) => tagWish(wish, site))
    const result = assignTags(site.addressing.vlans, tagWishes, held)
    for (const [owner, tag] of result.grants) grants.set(owner, tag)
    for (const finding of result.findings) findings.push(tagFinding(finding, nic, wishOf, locate))
  }
  return grants
}

/** Where sharing is chosen, the clouds' networks of one name share one tag. */
function groupOf(network: string, { addressing }: Site): string | undefined {
  return addressing.isolation === 'shared-vlan' ? network : undefined
}

function tagWish(wish: NetworkRequest, site: Site): TagWish {
  const { owner, network, tag } = wish
  const group = groupOf(network.name, site)
  // A template says "untagged" to every cloud, and only one can have it.
  const proposed = tag === 'untagged' && !wish.tagIsPin
  const ratherUntagged = proposed || (tag === undefined && network.name === 'ctlplane')
  return { owner, tag: proposed ? undefined : tag, ratherUntagged, group }
}

function tagFinding(
  one: TagFinding,
  nic: string,
  wishOf: ReadonlyMap<string, NetworkRequest>,
  locate: Locate,
): Finding {
  const wish = wishOf.get(one.owner)
  const where = wish && locate(settingPathOrCloud(wish, 'vlan'))
  if (one.kind === 'exhausted') {
    const { first, last } = one.range
    const range = locate(['spec', 'addressing', 'vlans'])
    return finding(vlansExhausted, { owner: one.owner, first, last }, { where: range })
  }
  const owners = [one.holder, one.owner].map((owner) => {
    const known = wishOf.get(owner)
    return known ? formatOwner(owner, settingPathOrCloud(known, 'vlan'), locate) : `${owner} (leaving)`
  })
  const segment = describeSegment(segmentId(nic, one.tag))
  if (one.kind === 'held twice') {
    return finding(lockConflict, { a: one.holder, b: one.owner, what: segment }, { owners })
  }
  const facts = { a: one.holder, b: one.owner, segment, free: one.free }
  return finding(duplicateVlan, facts, { where, owners })
}

function listSegments(
  wishes: readonly NetworkRequest[],
  placements: ReadonlyMap<string, Placement>,
): readonly Segment[] {
  const placed = wishes.flatMap((wish) => {
    const placement = placements.get(wish.owner)
    return placement?.segment === undefined ? [] : [{ owner: wish.owner, id: placement.segment, placement }]
  })
  const segments = [...groupBy(placed, ({ id }) => id)].map(([id, members]): Segment => {
    const { nic, vlan, carrier, bridge } = (members[0] as (typeof members)[number]).placement
    return {
      id,
      nic,
      ...(vlan !== undefined && { vlan }),
      interface: carrier,
      ...(bridge !== undefined && { bridge }),
      mtu: Math.max(...members.map(({ placement }) => placement.mtu)),
      networks: members.map(({ owner }) => owner),
    }
  })
  return segments.sort((a, b) => a.nic.localeCompare(b.nic) || (a.vlan ?? 0) - (b.vlan ?? 0))
}
