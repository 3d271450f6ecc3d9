/**
 * What is wrong with segments that have been given: ids, NICs, names, mtu, sharing.
 *
 * Pure; changes nothing.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { Site } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import { describeSegment, type Placement, STANDARD_MTU } from '../draft/draft.ts'
import { listDevices, NAME_LIMIT } from '../draft/interfaces.ts'
import { mtuAboveBase, nicNamesDiffer, vlanOutOfRange, vlanShared } from '../findings/segments.ts'
import { interfaceTooLong } from '../findings/site.ts'
import type { Segment } from '../plan.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'

export function lintSegments(
  site: Site,
  wishes: readonly NetworkRequest[],
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

function lintTag(wish: NetworkRequest, { vlan }: Placement, locate: Locate): readonly Finding[] {
  if (vlan === undefined || (vlan >= 1 && vlan <= 4094)) return []
  return [finding(vlanOutOfRange, { owner: wish.owner, vlan }, { where: locate(settingPathOrCloud(wish, 'vlan')) })]
}

/** A VLAN cannot carry longer frames than what it lies on; one node that cannot is enough. */
function lintMtu(site: Site, wish: NetworkRequest, { mtu }: Placement, locate: Locate): readonly Finding[] {
  const { nodes, bonds } = site.cluster
  const bondMtu = new Map(bonds.map((bond) => [bond.name, bond.mtu]))
  for (const node of nodes) {
    const device = node.nics[wish.nic]
    const base = bondMtu.get(device ?? '') ?? node.mtu ?? STANDARD_MTU
    if (device === undefined || mtu <= base) continue
    const facts = { owner: wish.owner, mtu, base, interface: device }
    return [finding(mtuAboveBase, facts, { where: locate(settingPathOrCloud(wish, 'mtu')) })]
  }
  return []
}

function lintNames(site: Site, wish: NetworkRequest, placement: Placement, locate: Locate): readonly Finding[] {
  const { owner } = wish
  const findings: Finding[] = []
  const names = listDevices(site.cluster.nodes, wish.nic)
  if (placement.vlan === undefined && !placement.bridge && names.length > 1) {
    const facts = { owner, nic: wish.nic, names: names.join(' and ') }
    findings.push(finding(nicNamesDiffer, facts, { where: locate(settingPathOrCloud(wish, 'nic')) }))
  }
  for (const [key, name] of [
    ['interface', placement.carrier],
    ['bridge', placement.bridge],
  ] as const) {
    // A NIC's own name is the node's, and judged there.
    if (!name || name.length <= NAME_LIMIT || names.includes(name)) continue
    findings.push(finding(interfaceTooLong, { owner, name }, { where: locate(settingPathOrCloud(wish, key)) }))
  }
  return findings
}

/** Whoever chose to share is told once what that means; whoever did not has an error already. */
function lintSharing(site: Site, segments: readonly Segment[], locate: Locate): readonly Finding[] {
  if (site.addressing.isolation !== 'shared-vlan') return []
  return segments
    .filter(({ networks }) => new Set(networks.map((owner) => owner.slice(0, owner.indexOf('/')))).size > 1)
    .map(({ id, networks }) => {
      const facts = { segment: describeSegment(id), networks: networks.join(' and ') }
      return finding(vlanShared, facts, {
        where: locate(['spec', 'addressing', 'isolation']),
        owners: networks,
      })
    })
}
