/** Networks of pods and hosts: attachments and NetConfig as planned, and what was given out lies in its span. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { getField, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { foreignPod, podAddressOutside, reservationOutside } from '../findings/network-findings.ts'
import {
  ATTACHMENT,
  type CloudCheck,
  type CloudContext,
  formatCount,
  locateObject,
  NET_CONFIG,
  RESERVATION,
  WHEREABOUTS,
} from './check-definition.ts'
import { compareWithPlan, filterByKind } from './compare-with-plan.ts'
import { contains, exclusiveRanges, findRange, formatSpans, spanRanges, subnetRanges } from './planned-ranges.ts'

export const attachments: CloudCheck = {
  scope: 'cloud',
  id: 'network-attachments',
  title: 'NetworkAttachmentDefinitions',
  promise: 'every NetworkAttachmentDefinition is as planned: master, range and name of the book',
  kinds: [ATTACHMENT],
  run: (look) => {
    const planned = filterByKind(look.desired, ATTACHMENT)
    return {
      seen: formatCount(planned.length, 'definition'),
      count: planned.length,
      findings: compareWithPlan(look, planned, undefined, withParsedConfig),
    }
  },
}

/** The configuration is JSON in a text: its meaning counts, not its spaces. */
function withParsedConfig(object: KubeObject): KubeObject {
  const config = getString(object, 'spec', 'config')
  if (config === undefined) return object
  try {
    return { ...object, spec: { config: JSON.parse(config) as unknown } }
  } catch {
    return object
  }
}

export const netConfig: CloudCheck = {
  scope: 'cloud',
  id: 'netconfig',
  title: 'NetConfig',
  promise: 'the NetConfig has the planned networks and allocation ranges',
  kinds: [NET_CONFIG],
  run: (look) => {
    const planned = filterByKind(look.desired, NET_CONFIG)
    return {
      seen: formatCount(planned.length, 'NetConfig'),
      count: planned.length,
      findings: compareWithPlan(look, planned),
    }
  },
}

interface PodAddress {
  readonly pool: KubeObject
  readonly pod: string
  readonly address: string
}

/** What whereabouts has given: the pool's first address plus the offset that is the key. */
export function allocatedPodAddresses(pool: KubeObject): readonly PodAddress[] {
  const [base = ''] = (getString(pool, 'spec', 'range') ?? '').split('/')
  const first = parseAddress(base)
  if (!first) return []
  const allocations = (getField(pool, 'spec', 'allocations') ?? {}) as Record<string, unknown>
  return Object.entries(allocations).flatMap(([offset, allocation]) => {
    if (!/^\d+$/.test(offset)) return []
    const address = formatAddress({ family: first.family, value: first.value + BigInt(offset) })
    return [{ pool, pod: getString(allocation, 'podref') ?? '', address }]
  })
}

export const whereaboutsSpans: CloudCheck = {
  scope: 'cloud',
  id: 'whereabouts-pools',
  title: 'whereabouts IPPools',
  promise: 'whereabouts holds addresses of the pods spans only, for pods of this namespace only',
  kinds: [WHEREABOUTS],
  run: (look) => {
    const given = look.live.all(formatGroupKind(WHEREABOUTS)).flatMap(allocatedPodAddresses)
    const inCloud = given.filter((podAddress) => findPodNetwork(podAddress, look))
    return {
      seen: `${formatCount(inCloud.length, 'address')} of pods`,
      count: inCloud.length,
      findings: inCloud.flatMap((podAddress) => checkPodAddress(podAddress, look)),
    }
  },
}

/** The network of the cloud that a pod's address is in: for its own pods wherever in the subnet that is. */
function findPodNetwork({ pod, address }: PodAddress, { plan, cloud }: CloudContext): PlannedNetwork | undefined {
  const ranges = pod.startsWith(`${cloud.namespace}/`) ? subnetRanges(cloud) : exclusiveRanges(plan, cloud)
  return findRange(ranges, address)?.network
}

function checkPodAddress(one: PodAddress, look: CloudContext): readonly Finding[] {
  const { pool, pod, address } = one
  const { cloud } = look
  const network = findPodNetwork(one, look)
  if (!network) return []
  const where = locateObject(pool, 'spec.allocations')
  if (!pod.startsWith(`${cloud.namespace}/`))
    return [finding(foreignPod, { cloud: cloud.name, pod, address, network: network.name }, { where })]
  const spans = spanRanges(network, 'pods')
  const isEndpoint = network.endpoints.some((endpoint) => endpoint.address === address)
  if (isEndpoint || findRange(spans, address)) return []
  const facts = { pool: objectKey(pool.metadata), pod, address, planned: formatSpans(spans, 'pods') }
  return [finding(podAddressOutside, facts, { where })]
}

export const reservations: CloudCheck = {
  scope: 'cloud',
  id: 'reservations',
  title: 'Reservations',
  promise: 'Reservations hold addresses of the hosts spans only',
  kinds: [RESERVATION],
  run: ({ cloud, live }) => {
    const own = live.all(formatGroupKind(RESERVATION)).filter(({ metadata }) => metadata.namespace === cloud.namespace)
    return {
      seen: formatCount(own.length, 'Reservation'),
      count: own.length,
      findings: own.flatMap((one) => checkReservation(one, cloud)),
    }
  },
}

function checkReservation(reservation: KubeObject, cloud: PlannedCloud): readonly Finding[] {
  const held = (getField(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>
  return Object.entries(held).flatMap(([name, one]) => {
    const text = getString(one, 'address') ?? ''
    const address = parseAddress(text)
    const network = findNetwork(cloud, name)
    const spans = network ? spanRanges(network, 'hosts') : []
    const isPlanned = network?.hosts.some((host) => host.address === text) ?? false
    if (!address || isPlanned || contains(spans, address)) return []
    const facts = {
      reservation: objectKey(reservation.metadata),
      network: name,
      address: text,
      planned: formatSpans(spans, 'hosts'),
    }
    return [finding(reservationOutside, facts, { where: locateObject(reservation, `spec.reservation.${name}`) })]
  })
}

/** NetConfig's names are compared without regard to case: the API of 2023 writes `InternalApi`. */
function findNetwork(cloud: PlannedCloud, name: string): PlannedNetwork | undefined {
  return cloud.networks.find((network) => network.name === name.toLowerCase())
}
