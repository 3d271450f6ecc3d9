/** Rates what the change of an object does to running clouds; agrees with the risks of `plan --diff`. Pure. */
import { asList, asRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { sameJson } from '../api/same-json.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { parseRange } from '../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../net/range-set.ts'
import type { Risk } from '../plan/changes.ts'
import type { FieldDifference } from '../verify/field-differences.ts'

export function updateRisk(desired: KubeObject, live: KubeObject, fields: readonly FieldDifference[]): Risk {
  if (fields.every(({ path }) => path.startsWith('metadata.'))) return 'safe'
  switch (formatGroupKind(desired)) {
    case 'nmstate.io/NodeNetworkConfigurationPolicy':
      return 'touches node networking'
    case 'metallb.io/IPAddressPool':
      return keepsPoolAddresses(desired, live, fields) ? 'safe' : 'changes a VIP'
    case 'metallb.io/L2Advertisement':
    case 'metallb.io/BGPAdvertisement':
      return 'changes a VIP'
    case 'k8s.cni.cncf.io/NetworkAttachmentDefinition':
      return attachmentRisk(attachmentConfig(desired), attachmentConfig(live))
    // Reservations keep their addresses, even outside the ranges.
    case 'network.openstack.org/NetConfig':
      return fields.every(({ path }) => /\.(allocationRanges|excludeAddresses)\b/.test(path))
        ? 'safe'
        : 'needs recreation'
    case 'dataplane.openstack.org/OpenStackDataPlaneDeployment':
      return 'needs recreation'
    case 'core.openstack.org/OpenStackControlPlane':
      return fields.some(concernsVips) ? 'changes a VIP' : 'restarts pods'
    default:
      return 'safe'
  }
}

/** Looks at the path and at the value, because a whole subtree may be missing. */
function concernsVips({ path, desired }: FieldDifference): boolean {
  return /loadBalancerIPs|address-pool|allow-shared-ip|override\.service/.test(`${path} ${JSON.stringify(desired)}`)
}

function keepsPoolAddresses(desired: KubeObject, live: KubeObject, fields: readonly FieldDifference[]): boolean {
  const addresses = (pool: KubeObject): RangeSet => readRanges(asRecord(pool['spec'])['addresses'])
  const others = fields.filter(({ path }) => !/^spec\.addresses\b/.test(path) && !path.startsWith('metadata.'))
  return others.length === 0 && subtract(addresses(live), addresses(desired)).length === 0
}

function attachmentConfig(attachment: KubeObject): unknown {
  const { config } = asRecord(attachment['spec'])
  try {
    return typeof config === 'string' ? JSON.parse(config) : undefined
  } catch {
    return undefined
  }
}

/**
 * whereabouts counts addresses by network name and subnet: while both stay, running pods keep theirs. With another of
 * them the count starts empty although running pods have addresses.
 */
function attachmentRisk(desired: unknown, live: unknown): Risk {
  if (!sameJson(withoutSpans(desired), withoutSpans(live))) return 'needs recreation'
  return subtract(attachmentSpans(live), attachmentSpans(desired)).length === 0 ? 'safe' : 'restarts pods'
}

function withoutSpans(config: unknown): unknown {
  const { ipam, ...link } = asRecord(config)
  const { range, range_start: _, range_end: __, exclude: ___, ipRanges, ...rest } = asRecord(ipam)
  const ranges = asList(ipRanges).map((each) => asRecord(each)['range'])
  return { ...link, ipam: { ...rest, ranges: range === undefined ? ranges : [range] } }
}

function attachmentSpans(config: unknown): RangeSet {
  const ipam = asRecord(asRecord(config)['ipam'])
  const list = ipam['ipRanges'] === undefined ? [ipam] : asList(ipam['ipRanges']).map(asRecord)
  const whole = list.flatMap(({ range, range_start: start, range_end: end }) =>
    readRanges([typeof start === 'string' && typeof end === 'string' ? `${start}-${end}` : range]),
  )
  return subtract(rangeSet(whole), readRanges(list.flatMap(({ exclude }) => asList(exclude))))
}

function readRanges(texts: unknown): RangeSet {
  return rangeSet(asList(texts).flatMap((text) => (typeof text === 'string' ? (parseRange(text) ?? []) : [])))
}
