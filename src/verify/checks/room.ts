/** Room: what the clouds need against what the cluster has, with the addresses that others hold already. */

import { capacityFindings, capacityKinds, hasNodeCapacity } from '../capacity.ts'
import { vipCapacityFindings } from '../vip-capacity.ts'
import { formatCount, type SiteCheck } from './check-definition.ts'
import { NODE, SERVICE } from './kinds.ts'

export const capacity: SiteCheck = {
  scope: 'site',
  id: 'room',
  title: 'Room',
  promise: 'the nodes, volumes and addresses are enough for the clouds, and their number is supported',
  kinds: [NODE, SERVICE],
  optionalKinds: capacityKinds,
  run: ({ plan, documents, live }) => {
    const nodes = plan.from.cluster.nodes.map(({ name }) => name)
    const findings = capacityFindings({ nodes, clouds: plan.clouds, documents }, live)
    const told = hasNodeCapacity(live) ? formatCount(nodes.length, 'node') : 'no figures: the nodes tell none'
    const count = hasNodeCapacity(live) ? nodes.length : 0
    return { seen: told, count, findings: [...findings, ...vipCapacityFindings(plan.clouds, live)] }
  },
}
