/** Lints the segments of a draft: VLAN ids, NICs, names, mtu, sharing. Pure. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { Site } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import { describeSegment, type Placement, STANDARD_MTU } from '../draft/draft.ts'
import { listDevices, NAME_LIMIT } from '../draft/interfaces.ts'
import {
  duplicateBridge,
  mtuAboveBase,
  nicNamesDiffer,
  trunkHasNetwork,
  trunkInvalid,
  trunkUnused,
  vlanOutOfRange,
  vlanShared,
} from '../findings/segments.ts'
import { interfaceTooLong } from '../findings/site.ts'
import type { Segment } from '../plan.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { parseVlanRange } from '../vlan-range.ts'

export function lintSegments(
  site: Site,
  requests: readonly NetworkRequest[],
  placements: ReadonlyMap<string, Placement>,
  segments: readonly Segment[],
  locate: Locate,
): readonly Finding[] {
  const each = requests.flatMap((request) => {
    const placement = placements.get(request.owner)
    if (!placement) return []
    return [
      ...lintTag(request, placement, locate),
      ...lintMtu(site, request, placement, locate),
      ...lintNames(site, request, placement, locate),
    ]
  })
  return [...each, ...lintSharing(site, segments, locate)]
}

function lintTag(request: NetworkRequest, { vlan }: Placement, locate: Locate): readonly Finding[] {
  if (vlan === undefined || (vlan >= 1 && vlan <= 4094)) return []
  return [
    finding(vlanOutOfRange, { owner: request.owner, vlan }, { where: locate(settingPathOrCloud(request, 'vlan')) }),
  ]
}

/** Also of networks without a segment of their own, such as datacentre. */
export function lintTrunks(
  requests: readonly NetworkRequest[],
  placements: ReadonlyMap<string, Placement>,
  locate: Locate,
): readonly Finding[] {
  return requests.flatMap((request) => {
    const { owner, nic, network } = request
    const { trunk, attach } = network.settings
    const locateTrunk = (...rest: readonly number[]) => ({
      where: locate(settingPathOrCloud(request, 'trunk', ...rest)),
    })
    if (!trunk) return []
    if (attach !== 'bridge') return [finding(trunkUnused, { owner, trunk: trunk.join(', ') }, locateTrunk())]
    return trunk.flatMap((written, index) => {
      const range = parseVlanRange(written)
      if (!range) return [finding(trunkInvalid, { owner, written: String(written) }, locateTrunk(index))]
      // A pod that may tag with the VLAN of a network is on that network.
      return requests.flatMap((other) => {
        const vlan = placements.get(other.owner)?.vlan
        if (other.nic !== nic || vlan === undefined || vlan < range.first || vlan > range.last) return []
        return [finding(trunkHasNetwork, { owner, vlan, holder: other.owner }, locateTrunk(index))]
      })
    })
  })
}

/** A VLAN cannot carry longer frames than its NIC; one node with a smaller mtu is enough. */
function lintMtu(site: Site, request: NetworkRequest, { mtu }: Placement, locate: Locate): readonly Finding[] {
  const { nodes, bonds } = site.cluster
  const bondMtu = new Map(bonds.map((bond) => [bond.name, bond.mtu]))
  for (const node of nodes) {
    const device = node.nics[request.nic]
    const base = bondMtu.get(device ?? '') ?? node.mtu ?? STANDARD_MTU
    if (device === undefined || mtu <= base) continue
    const facts = { owner: request.owner, mtu, base, interface: device }
    return [finding(mtuAboveBase, facts, { where: locate(settingPathOrCloud(request, 'mtu')) })]
  }
  return []
}

function lintNames(site: Site, request: NetworkRequest, placement: Placement, locate: Locate): readonly Finding[] {
  const { owner } = request
  const findings: Finding[] = []
  const names = listDevices(site.cluster.nodes, request.nic)
  const { nodes, bonds } = site.cluster
  const cards = new Set([...nodes.flatMap(({ nics }) => Object.values(nics)), ...bonds.flatMap(({ ports }) => ports)])
  if (placement.vlan === undefined && !placement.bridge && names.length > 1) {
    const facts = { owner, nic: request.nic, names: names.join(' and ') }
    findings.push(finding(nicNamesDiffer, facts, { where: locate(settingPathOrCloud(request, 'nic')) }))
  }
  for (const [key, name] of [
    ['interface', placement.carrier],
    ['bridge', placement.bridge],
  ] as const) {
    const isCreated = key === 'bridge' || placement.vlan !== undefined
    if (name && isCreated && cards.has(name)) {
      const facts = { a: 'a NIC of the cluster', b: owner, name }
      findings.push(finding(duplicateBridge, facts, { where: locate(settingPathOrCloud(request, key)) }))
    }
    // Names of NICs are checked with the nodes.
    if (!name || name.length <= NAME_LIMIT || names.includes(name)) continue
    findings.push(finding(interfaceTooLong, { owner, name }, { where: locate(settingPathOrCloud(request, key)) }))
  }
  return findings
}

/** Where the site chooses to share, it gets one warning for the clouds that do; otherwise sharing is an error already. */
function lintSharing(site: Site, segments: readonly Segment[], locate: Locate): readonly Finding[] {
  if (site.addressing.isolation !== 'shared-vlan') return []
  const byClouds = new Map<string, Segment[]>()
  for (const segment of segments) {
    const clouds = [...new Set(segment.networks.map((owner) => owner.slice(0, owner.indexOf('/'))))]
    if (clouds.length < 2) continue
    const key = clouds.join(' and ')
    byClouds.set(key, [...(byClouds.get(key) ?? []), segment])
  }
  return [...byClouds].map(([clouds, shared]) =>
    finding(
      vlanShared,
      { clouds, count: shared.length },
      {
        where: locate(['spec', 'addressing', 'isolation']),
        owners: shared.map(({ id, networks }) => `${networks.join(' and ')} on ${describeSegment(id)}`),
      },
    ),
  )
}
