/** Virtual machines behind switches without the rest of a rehearsal, for tests of programs in nodes. */
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { ensureNodeImage } from '../../../src/rehearse/image/node-image.ts'
import { ensureOpenVswitch } from '../../../src/rehearse/image/unpacked-packages.ts'
import { ensureSavedMachine } from '../../../src/rehearse/machine/saved-machine.ts'
import { type RunningNode, startNode } from '../../../src/rehearse/nodes.ts'
import { startSwitch } from '../../../src/rehearse/switch/switch.ts'
import { SWITCH_MTU, type Topology } from '../../../src/rehearse/topology.ts'
import { sandboxContext } from '../../sandbox-context.ts'

export interface RunningTopology {
  readonly nodes: readonly RunningNode[]
  readonly close: () => Promise<void>
}

export async function startTopology(topology: Topology, settings: readonly string[]): Promise<RunningTopology> {
  const context = sandboxContext()
  const openVswitch = await ensureOpenVswitch(context)
  const saved = await ensureSavedMachine(await ensureNodeImage(context), context)
  const enclosure = await openEnclosure()
  try {
    await startSwitch(enclosure, openVswitch, topology.switches)
    const nodes: RunningNode[] = []
    for (const node of topology.nodes) nodes.push(await startNode(enclosure, node, { saved, settings }))
    return { nodes, close: enclosure.close }
  } catch (error) {
    await enclosure.close()
    throw error
  }
}

/** One node whose switch carries VLAN 20. */
export function singleNodeTopology(names: readonly string[]): Topology {
  const nics = names.map((name, index) => ({ name, mac: `52:54:00:5c:00:0${index}`, port: `n0p${index}` }))
  const ports = nics.map(({ name, port }) => ({ name: port, node: 'node', nic: name, vlans: [20], mtu: SWITCH_MTU }))
  return { nodes: [{ name: 'node', nics }], switches: [{ role: 'main', ports }], routers: [] }
}
