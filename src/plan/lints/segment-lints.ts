/**
 * What is wrong with segments that have been given: ids, NICs, names, mtu, sharing.
 *
 * Pure; changes nothing.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { interfaceTooLong } from '../../errors/plan.ts'
import { mtuAboveBase, nicNamesDiffer, vlanOutOfRange, vlanShared } from '../../errors/segments.ts'
import type { Site } from '../../site/site.ts'
import { devicesOf, NAME_LIMIT } from '../draft/interface-names.ts'
import { type Placement, STANDARD_MTU } from '../draft/placement.ts'
import { segmentWords } from '../draft/segment-id.ts'
import type { Segment } from '../plan.ts'
import type { Locate } from '../reader.ts'
import { type NetworkWish, placeOf } from '../wishes.ts'

export function lintSegments(
  site: Site,
  wishes: readonly NetworkWish[],
  placements: ReadonlyMap<string, Placement>,
  segments: readonly Segment[],
  locate: Locate,
): readonly Finding[] {
  const each = wishes.flatMap((wish) => {
    const placement = placements.get(wish.owner)
    if (!placement) return []
    return [
      ...lintTag(wish, placement, locate),
      ...lintMtu(site, wish, placement, locate),
      ...lintNames(site, wish, placement, locate),
    ]
  })
  return [...each, ...lintSharing(site, segments, locate)]
}

function lintTag(wish: NetworkWish, { vlan }: Placement, locate: Locate): readonly Finding[] {
  if (vlan === undefined || (vlan >= 1 && vlan <= 4094)) return []
  return [finding(vlanOutOfRange, { owner: wish.owner, vlan }, { where: locate(placeOf(wish, 'vlan')) })]
}

/** A VLAN cannot carry longer frames than what it lies on; one node that cannot is enough. */
function lintMtu(site: Site, wish: NetworkWish, { mtu }: Placement, locate: Locate): readonly Finding[] {
  const { nodes, bonds } = site.cluster
  const bondMtu = new Map(bonds.map((bond) => [bond.name, bond.mtu]))
  for (const node of nodes) {
    const device = node.nics[wish.nic]
    const base = bondMtu.get(device ?? '') ?? node.mtu ?? STANDARD_MTU
    if (device === undefined || mtu <= base) continue
    const facts = { owner: wish.owner, mtu, base, interface: device }
    return [finding(mtuAboveBase, facts, { where: locate(placeOf(wish, 'mtu')) })]
  }
  return []
}

function lintNames(site: Site, wish: NetworkWish, placement: Placement, locate: Locate): readonly Finding[] {
  const { owner } = wish
  const findings: Finding[] = []
  const names = devicesOf(site.cluster.nodes, wish.nic)
  if (placement.vlan === undefined && !placement.bridge && names.length > 1) {
    const facts = { owner, nic: wish.nic, names: names.join(' and ') }
    findings.push(finding(nicNamesDiffer, facts, { where: locate(placeOf(wish, 'nic')) }))
  }
  for (const [key, name] of [
    ['interface', placement.carrier],
    ['bridge', placement.bridge],
  ] as const) {
    // A NIC's own name is the node's, and judged there.
    if (!name || name.length <= NAME_LIMIT || names.includes(name)) continue
    findings.push(finding(interfaceTooLong, { owner, name }, { where: locate(placeOf(wish, key)) }))
  }
  return findings
}

/** Whoever chose to share is told once what that means; whoever did not has an error already. */
function lintSharing(site: Site, segments: readonly Segment[], locate: Locate): readonly Finding[] {
  if (site.addressing.isolation !== 'shared-vlan') return []
  return segments
    .filter(({ networks }) => new Set(networks.map((owner) => owner.slice(0, owner.indexOf('/')))).size > 1)
    .map(({ id, networks }) => {
      const facts = { segment: segmentWords(id), networks: networks.join(' and ') }
      return finding(vlanShared, facts, {
        where: locate(['spec', 'addressing', 'isolation']),
        owners: networks,
      })
    })
}
