/** Addresses for LoadBalancer Services: what the clouds have planned, against what others hold already. Pure. */
import { type KubeObject, keyOf } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { plannedVipTaken, tooFewAddresses } from '../../errors/room.ts'
import { rangeSize } from '../../net/range.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { holderOf, spansOf } from '../checks/spans.ts'
import { ingressOf } from '../readiness/services.ts'

interface Held {
  readonly address: string
  readonly service: KubeObject
}

/** Networks whose span has fewer free addresses than the cloud needs. */
export function addressFindings(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return heldByOthers(clouds, live).flatMap(({ cloud, network, taken }) => {
    const size = spansOf(network, 'vips').reduce((sum, { range }) => sum + rangeSize(range), 0n)
    const needed = new Set(network.vips.map(({ address }) => address)).size
    const free = Number(size) - new Set(taken.map(({ address }) => address)).size
    if (taken.length === 0 || free >= needed) return []
    const holders = [...new Set(taken.map(({ service }) => keyOf(service.metadata)))].join(', ')
    return [finding(tooFewAddresses, { owner: `${cloud.name}/${network.name}`, needed, free, holders })]
  })
}

/** Planned VIPs that somebody else holds: before a deployment, when the cloud's own Service is not there to complain. */
export function takenVips(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return heldByOthers(clouds, live).flatMap(({ cloud, network, taken }) =>
    taken.flatMap(({ address, service }) => {
      const slots = network.vips.filter((vip) => vip.address === address).map(({ slot }) => slot)
      if (slots.length === 0) return []
      const { apiVersion, kind, metadata } = service
      const { name, namespace = '' } = metadata
      const facts = { owner: `${cloud.name}/${network.name}`, address, slots, holder: keyOf(metadata) }
      return [finding(plannedVipTaken, facts, { where: { apiVersion, kind, namespace, name } })]
    }),
  )
}

function heldByOthers(clouds: readonly PlannedCloud[], live: SnapshotIndex) {
  const held = live
    .all('Service')
    .flatMap((service): readonly Held[] => ingressOf(service).map((address) => ({ address, service })))
  return clouds.flatMap((cloud) =>
    cloud.networks.map((network: PlannedNetwork) => {
      const spans = spansOf(network, 'vips')
      const taken = held.filter(
        ({ address, service }) =>
          service.metadata.namespace !== cloud.namespace && holderOf(spans, address) !== undefined,
      )
      return { cloud, network, taken }
    }),
  )
}
