/** Starts the nodes of a rehearsal and gives each its identity and its NICs. */
import { failure } from '../errors/failure.ts'
import { lastLines } from '../exec/process.ts'
import type { Enclosure } from './enclosure.ts'
import { machineFailed } from './findings.ts'
import type { Agent } from './machine/agent.ts'
import { plugNic, startMachine } from './machine/machine.ts'
import type { SavedMachine } from './machine/saved-machine.ts'
import { identityScript, type NodeIdentity } from './node-scripts.ts'
import { type RehearsedNode, SWITCH_MTU } from './topology.ts'

export interface RunningNode {
  readonly name: string
  readonly agent: Agent
  /** Pulls all its cables. */
  readonly cutOff: () => Promise<void>
  /** Closes the connections to it; it runs on. */
  readonly disconnect: () => void
}

/** A restore reads some hundred megabytes: seconds, or more on a busy machine. */
const RESTORE_MS = 300_000

export async function startNode(
  enclosure: Enclosure,
  { name, nics }: RehearsedNode,
  { saved, settings, addressed = [] }: { readonly saved: SavedMachine } & Pick<NodeIdentity, 'settings' | 'addressed'>,
  signal?: AbortSignal,
): Promise<RunningNode> {
  const machine = await startMachine(enclosure, { ...saved, name, writable: false, timeoutMs: RESTORE_MS, signal })
  const cables = [...nics, ...addressed.map(({ nic }) => nic)]
  for (const [slot, nic] of cables.entries()) await plugNic(machine, { ...nic, maxMtu: SWITCH_MTU }, slot)
  const script = identityScript({ name, now: Date.now(), nics, settings, addressed })
  const { code, output } = await machine.agent.run(script, { signal })
  if (code !== 0) throw failure(machineFailed, { name, reason: lastLines(output) })
  const disconnect = (): void => {
    machine.agent.close()
    machine.qmp.close()
  }
  const cutOff = async (): Promise<void> => {
    for (const slot of cables.keys()) await machine.qmp.execute('set_link', { name: `card${slot}`, up: false })
  }
  return { name, agent: machine.agent, cutOff, disconnect }
}
