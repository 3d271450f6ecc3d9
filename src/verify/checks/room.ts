/** Room: what the clouds need against what the cluster has, with the addresses that others hold already. */
import { addressFindings } from '../room/addresses.ts'
import { knowsRoom, roomFindings, roomKinds } from '../room/room.ts'
import { counted, type SiteCheck } from './check.ts'
import { NODE, SERVICE } from './kinds.ts'

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
    const count = knowsRoom(live) ? nodes.length : 0
    return { seen: told, count, findings: [...findings, ...addressFindings(plan.clouds, live)] }
  },
}
