/** Starts the nodes of a rehearsal and gives each its identity and its NICs. */
import { failure } from '../errors/failure.ts'
import { lastLines } from '../exec/process.ts'
import type { Enclosure } from './enclosure.ts'
import { machineFailed } from './findings.ts'
import type { Agent } from './machine/agent.ts'
import { plugNic, startMachine } from './machine/machine.ts'
import type { SavedMachine } from './machine/saved-machine.ts'
import { identityScript } from './node-scripts.ts'
import { type RehearsedNode, SWITCH_MTU } from './topology.ts'

export interface RunningNode {
  readonly name: string
  readonly agent: Agent
  /** Closes the connections to it; it runs on. */
  readonly disconnect: () => void
}

/** A restore reads some hundred megabytes: seconds, or more on a busy machine. */
const RESTORE_MS = 300_000

export async function startNode(
  enclosure: Enclosure,
  { name, nics }: RehearsedNode,
  { saved, settings }: { readonly saved: SavedMachine; readonly settings: readonly string[] },
  signal?: AbortSignal,
): Promise<RunningNode> {
  const machine = await startMachine(enclosure, { ...saved, name, writable: false, timeoutMs: RESTORE_MS, signal })
  for (const [slot, nic] of nics.entries()) await plugNic(machine, { ...nic, maxMtu: SWITCH_MTU }, slot)
  const { code, output } = await machine.agent.run(identityScript(name, nics, settings), { signal })
  if (code !== 0) throw failure(machineFailed, { name, reason: lastLines(output) })
  const disconnect = (): void => {
    machine.agent.close()
    machine.qmp.close()
  }
  return { name, agent: machine.agent, disconnect }
}
