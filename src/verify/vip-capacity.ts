/** Addresses for LoadBalancer Services: what the clouds have planned, against what others hold already. Pure. */
import { type KubeObject, objectKey } from '../api/object.ts'
import type { SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { rangeSize } from '../net/range.ts'
import type { PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { findRange, spanRanges } from './checks/planned-ranges.ts'
import { plannedVipTaken, tooFewAddresses } from './findings/capacity-findings.ts'
import { ingressAddresses } from './readiness/load-balancer.ts'

interface HeldAddress {
  readonly address: string
  readonly service: KubeObject
}

/** Networks whose span has fewer free addresses than the cloud needs. */
export function vipCapacityFindings(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return findHeldByOthers(clouds, live).flatMap(({ cloud, network, taken }) => {
    const size = spanRanges(network, 'vips').reduce((sum, { range }) => sum + rangeSize(range), 0n)
    const needed = new Set(network.vips.map(({ address }) => address)).size
    const free = Number(size) - new Set(taken.map(({ address }) => address)).size
    if (taken.length === 0 || free >= needed) return []
    const holders = [...new Set(taken.map(({ service }) => objectKey(service.metadata)))].join(', ')
    return [finding(tooFewAddresses, { owner: `${cloud.name}/${network.name}`, needed, free, holders })]
  })
}

/** Planned VIPs that somebody else holds: before a deployment, when the cloud's own Service is not there to complain. */
export function takenVipFindings(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return findHeldByOthers(clouds, live).flatMap(({ cloud, network, taken }) =>
    taken.flatMap(({ address, service }) => {
      const slots = network.vips.filter((vip) => vip.address === address).map(({ slot }) => slot)
      if (slots.length === 0) return []
      const { apiVersion, kind, metadata } = service
      const { name, namespace = '' } = metadata
      const facts = { owner: `${cloud.name}/${network.name}`, address, slots, holder: objectKey(metadata) }
      return [finding(plannedVipTaken, facts, { where: { apiVersion, kind, namespace, name } })]
    }),
  )
}

function findHeldByOthers(clouds: readonly PlannedCloud[], live: SnapshotIndex) {
  const held = live
    .all('Service')
    .flatMap((service): readonly HeldAddress[] => ingressAddresses(service).map((address) => ({ address, service })))
  return clouds.flatMap((cloud) =>
    cloud.networks.map((network: PlannedNetwork) => {
      const spans = spanRanges(network, 'vips')
      const taken = held.filter(
        ({ address, service }) =>
          service.metadata.namespace !== cloud.namespace && findRange(spans, address) !== undefined,
      )
      return { cloud, network, taken }
    }),
  )
}
