/** Room: what the clouds need against what the cluster has, with the addresses that others hold already. */
import type { KubeObject } from '../../api/object.ts'
import { keyOf } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { tooFewAddresses } from '../../errors/room.ts'
import { rangeSize } from '../../net/range.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { ingressOf } from '../readiness/services.ts'
import { knowsRoom, roomFindings, roomKinds } from '../room/room.ts'
import { counted, type SiteCheck } from './check.ts'
import { NODE, SERVICE } from './kinds.ts'
import { holderOf, spansOf } from './spans.ts'

export const room: SiteCheck = {
  scope: 'site',
  id: 'room',
  title: 'Room',
  promise: 'the nodes, volumes and addresses are enough for the clouds, and their number is supported',
  kinds: [NODE, SERVICE],
  besides: roomKinds,
  look: ({ plan, documents, live }) => {
    const nodes = plan.from.cluster.nodes.map(({ name }) => name)
    const findings = roomFindings({ nodes, clouds: plan.clouds, documents }, live)
    const told = knowsRoom(live) ? counted(nodes.length, 'node') : 'no figures: the nodes tell none'
    return { seen: told, findings: [...findings, ...addressFindings(plan, live)] }
  },
}

function addressFindings(plan: Plan, live: SnapshotIndex): readonly Finding[] {
  const holders = live.all('Service').filter((service) => ingressOf(service).length > 0)
  return plan.clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) => addressFinding(cloud, network, holders)),
  )
}

function addressFinding(
  cloud: PlannedCloud,
  network: PlannedNetwork,
  holders: readonly KubeObject[],
): readonly Finding[] {
  const spans = spansOf(network, 'vips')
  const size = spans.reduce((sum, { range }) => sum + rangeSize(range), 0n)
  const needed = new Set(network.vips.map(({ address }) => address)).size
  const others = holders.filter(({ metadata }) => metadata.namespace !== cloud.namespace)
  const taken = others.flatMap((service) =>
    ingressOf(service)
      .filter((address) => holderOf(spans, address) !== undefined)
      .map((address) => ({ address, service: keyOf(service.metadata) })),
  )
  const free = Number(size) - new Set(taken.map(({ address }) => address)).size
  if (taken.length === 0 || free >= needed) return []
  const who = [...new Set(taken.map(({ service }) => service))].join(', ')
  return [finding(tooFewAddresses, { owner: `${cloud.name}/${network.name}`, needed, free, holders: who })]
}
