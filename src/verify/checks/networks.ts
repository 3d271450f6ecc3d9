/** Networks of pods and hosts: attachments and NetConfig as planned, and what was given out lies in its span. */
import type { KubeObject } from '../../api/object.ts'
import { keyOf } from '../../api/object.ts'
import { at, textAt } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { podAddressOutside, podOfOther, reservationOutside } from '../../errors/verify-networks.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { asPlanned, desiredOf } from './as-planned.ts'
import { type CloudCheck, type CloudLook, counted, placeOf } from './check.ts'
import { ATTACHMENT, NET_CONFIG, RESERVATION, WHEREABOUTS } from './kinds.ts'
import { contains, holderOf, landOf, spansOf, spanWords, subnetsOf } from './spans.ts'

export const attachments: CloudCheck = {
  scope: 'cloud',
  id: 'network-attachments',
  title: 'NetworkAttachmentDefinitions',
  promise: 'every NetworkAttachmentDefinition is as planned: master, range and name of the book',
  kinds: [ATTACHMENT],
  look: (look) => {
    const planned = desiredOf(look.desired, ATTACHMENT)
    return {
      seen: counted(planned.length, 'definition'),
      count: planned.length,
      findings: asPlanned(look, planned, undefined, withParsedConfig),
    }
  },
}

/** The configuration is JSON in a text: its meaning counts, not its spaces. */
function withParsedConfig(object: KubeObject): KubeObject {
  const config = textAt(object, 'spec', 'config')
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
  look: (look) => {
    const planned = desiredOf(look.desired, NET_CONFIG)
    return {
      seen: counted(planned.length, 'NetConfig'),
      count: planned.length,
      findings: asPlanned(look, planned),
    }
  },
}

interface PodAddress {
  readonly pool: KubeObject
  readonly pod: string
  readonly address: string
}

/** What whereabouts has given: the pool's first address plus the offset that is the key. */
export function podAddressesOf(pool: KubeObject): readonly PodAddress[] {
  const [base = ''] = (textAt(pool, 'spec', 'range') ?? '').split('/')
  const first = parseAddress(base)
  if (!first) return []
  const allocations = (at(pool, 'spec', 'allocations') ?? {}) as Record<string, unknown>
  return Object.entries(allocations).flatMap(([offset, allocation]) => {
    if (!/^\d+$/.test(offset)) return []
    const address = formatAddress({ family: first.family, value: first.value + BigInt(offset) })
    return [{ pool, pod: textAt(allocation, 'podref') ?? '', address }]
  })
}

export const whereaboutsSpans: CloudCheck = {
  scope: 'cloud',
  id: 'whereabouts-pools',
  title: 'whereabouts IPPools',
  promise: 'whereabouts holds addresses of the pods spans only, for pods of this namespace only',
  kinds: [WHEREABOUTS],
  look: (look) => {
    const given = look.live.all(groupKindOf(WHEREABOUTS)).flatMap(podAddressesOf)
    const inCloud = given.filter((one) => networkOfPod(one, look))
    return {
      seen: `${counted(inCloud.length, 'address')} of pods`,
      count: inCloud.length,
      findings: inCloud.flatMap((one) => judgePod(one, look)),
    }
  },
}

/** The network of the cloud that a pod's address is in: for its own pods wherever in the subnet that is. */
function networkOfPod({ pod, address }: PodAddress, { plan, cloud }: CloudLook): PlannedNetwork | undefined {
  const ranges = pod.startsWith(`${cloud.namespace}/`) ? subnetsOf(cloud) : landOf(plan, cloud)
  return holderOf(ranges, address)?.network
}

function judgePod(one: PodAddress, look: CloudLook): readonly Finding[] {
  const { pool, pod, address } = one
  const { cloud } = look
  const network = networkOfPod(one, look)
  if (!network) return []
  const where = placeOf(pool, 'spec.allocations')
  if (!pod.startsWith(`${cloud.namespace}/`))
    return [finding(podOfOther, { cloud: cloud.name, pod, address, network: network.name }, { where })]
  const spans = spansOf(network, 'pods')
  const isEndpoint = network.endpoints.some((one) => one.address === address)
  if (isEndpoint || holderOf(spans, address)) return []
  const facts = { pool: keyOf(pool.metadata), pod, address, planned: spanWords(spans, 'pods') }
  return [finding(podAddressOutside, facts, { where })]
}

export const reservations: CloudCheck = {
  scope: 'cloud',
  id: 'reservations',
  title: 'Reservations',
  promise: 'Reservations hold addresses of the hosts spans only',
  kinds: [RESERVATION],
  look: ({ cloud, live }) => {
    const own = live
      .all(groupKindOf(RESERVATION))
      .filter(({ metadata }) => metadata.namespace === cloud.namespace)
    return {
      seen: counted(own.length, 'Reservation'),
      count: own.length,
      findings: own.flatMap((one) => judgeReservation(one, cloud)),
    }
  },
}

function judgeReservation(reservation: KubeObject, cloud: PlannedCloud): readonly Finding[] {
  const held = (at(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>
  return Object.entries(held).flatMap(([name, one]) => {
    const text = textAt(one, 'address') ?? ''
    const address = parseAddress(text)
    const network = networkNamed(cloud, name)
    const spans = network ? spansOf(network, 'hosts') : []
    const isPlanned = network?.hosts.some((host) => host.address === text) ?? false
    if (!address || isPlanned || contains(spans, address)) return []
    const facts = {
      reservation: keyOf(reservation.metadata),
      network: name,
      address: text,
      planned: spanWords(spans, 'hosts'),
    }
    return [finding(reservationOutside, facts, { where: placeOf(reservation, `spec.reservation.${name}`) })]
  })
}

/** NetConfig's names are compared without regard to case: the API of 2023 writes `InternalApi`. */
function networkNamed(cloud: PlannedCloud, name: string): PlannedNetwork | undefined {
  return cloud.networks.find((network) => network.name === name.toLowerCase())
}
