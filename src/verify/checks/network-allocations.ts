/** Checks attachments and NetConfig against the plan, and that allocated addresses are in their spans. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { allocatedPodAddresses, type PodAddress } from '../../api/pod-networks.ts'
import { formatObjectName, getField, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { fieldDifferences } from '../field-differences.ts'
import { attachmentsKept, keptDiffers, keptMissing } from '../findings/check-findings.ts'
import { foreignPod, podAddressOutside, reservationOutside } from '../findings/network-findings.ts'
import {
  ATTACHMENT,
  type CloudCheck,
  type CloudContext,
  formatCount,
  locateObject,
  NET_CONFIG,
  outcome,
  RESERVATION,
  WHEREABOUTS,
} from './check-definition.ts'
import { compareWithPlan, filterByKind, formatValue } from './compare-with-plan.ts'
import { contains, exclusiveRanges, findRange, formatSpans, spanRanges, subnetRanges } from './planned-ranges.ts'

export const attachments: CloudCheck = {
  scope: 'cloud',
  id: 'network-attachments',
  title: 'NetworkAttachmentDefinitions',
  promise: 'every NetworkAttachmentDefinition is as planned: master, range and network name',
  kinds: [ATTACHMENT],
  run: (context) => {
    const planned = filterByKind(context.desired, ATTACHMENT)
    const kept = keptAttachments(context)
    return outcome(planned.length + kept.length, 'definition', [
      ...compareWithPlan(context, planned, undefined, withParsedConfig),
      ...checkKept(kept, context),
    ])
  },
}

function keptAttachments({ kept = [], cloud }: CloudContext): readonly KubeObject[] {
  const objects = kept.filter((document) => document.cloud === cloud.name).map(({ object }) => object)
  return filterByKind(objects, ATTACHMENT)
}

/** What decides which addresses pods get; the rest may be as the other tool has it. */
const ADDRESS_FIELD = /^spec\.config\.ipam\.(range|range_start|range_end|exclude|ipRanges)\b/

function checkKept(planned: readonly KubeObject[], { cloud, live }: CloudContext): readonly Finding[] {
  const found = planned.map((object) => ({
    object: withParsedConfig(object),
    has: live.get(formatGroupKind(ATTACHMENT), object.metadata.name, object.metadata.namespace),
  }))
  const unnamed = found.filter(
    ({ object, has }) =>
      has && fieldDifferences(object, withParsedConfig(has)).some(({ path }) => path.endsWith('.network_name')),
  )
  return [
    ...found.flatMap(({ object, has }) => {
      const what = formatObjectName(object)
      if (!has) return [finding(keptMissing, { cloud: cloud.name, what }, { where: locateObject(object) })]
      return fieldDifferences(object, withParsedConfig(has))
        .filter(({ path }) => ADDRESS_FIELD.test(path))
        .map(({ path, desired, live: value }) => {
          const facts = { what, path, planned: formatValue(desired), live: formatValue(value) }
          return finding(keptDiffers, facts, { where: locateObject(has, path) })
        })
    }),
    ...(unnamed.length > 0
      ? [finding(attachmentsKept, { cloud: cloud.name, networks: unnamed.map(({ object }) => object.metadata.name) })]
      : []),
  ]
}

/** Parses the JSON configuration, so that formatting does not matter. */
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
  run: (context) => {
    const planned = filterByKind(context.desired, NET_CONFIG)
    return outcome(planned.length, 'NetConfig', compareWithPlan(context, planned))
  },
}

export const whereaboutsSpans: CloudCheck = {
  scope: 'cloud',
  id: 'whereabouts-pools',
  title: 'whereabouts IPPools',
  promise: 'whereabouts allocates only addresses of the pods spans, only for pods of this namespace',
  kinds: [WHEREABOUTS],
  run: (context) => {
    const given = context.live.all(formatGroupKind(WHEREABOUTS)).flatMap(allocatedPodAddresses)
    const findNetwork = createNetworkFinder(context)
    const inCloud = given.flatMap((podAddress) => {
      const network = findNetwork(podAddress)
      return network ? [{ podAddress, network }] : []
    })
    return {
      seen: `${formatCount(inCloud.length, 'address')} of pods`,
      count: inCloud.length,
      findings: inCloud.flatMap(({ podAddress, network }) => checkPodAddress(podAddress, network, context)),
    }
  },
}

/** Finds the network of a pod address: in whole subnets for pods of this cloud, in exclusive ranges for other pods. */
function createNetworkFinder({ plan, cloud }: CloudContext): (address: PodAddress) => PlannedNetwork | undefined {
  // Computed once: a site has thousands of pod addresses.
  const subnets = subnetRanges(cloud)
  const exclusive = exclusiveRanges(plan, cloud)
  return ({ pod, address }) => findRange(pod.startsWith(`${cloud.namespace}/`) ? subnets : exclusive, address)?.network
}

function checkPodAddress(
  { pool, pod, address }: PodAddress,
  network: PlannedNetwork,
  { cloud }: CloudContext,
): readonly Finding[] {
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
  promise: 'Reservations contain only addresses of the hosts spans',
  kinds: [RESERVATION],
  run: ({ cloud, live }) => {
    const cloudReservations = live
      .all(formatGroupKind(RESERVATION))
      .filter(({ metadata }) => metadata.namespace === cloud.namespace)
    return outcome(
      cloudReservations.length,
      'Reservation',
      cloudReservations.flatMap((reservation) => checkReservation(reservation, cloud)),
    )
  },
}

function checkReservation(reservation: KubeObject, cloud: PlannedCloud): readonly Finding[] {
  const held = (getField(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>
  return Object.entries(held).flatMap(([name, entry]) => {
    const text = getString(entry, 'address') ?? ''
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

/** Network names are compared case-insensitively: the Role/Node API uses `InternalApi`. */
function findNetwork(cloud: PlannedCloud, name: string): PlannedNetwork | undefined {
  return cloud.networks.find((network) => network.name === name.toLowerCase())
}
