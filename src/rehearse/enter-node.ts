/** Enters a node of a kept rehearsal: runs a script there, or a shell on its serial port. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileInEnclosure } from './enclosure.ts'
import type { KeptRehearsal } from './kept.ts'
import { openAgent, type ScriptResult } from './machine/agent.ts'
import { machineFiles } from './machine/machine.ts'
import { shellScript, type TerminalSize } from './node-scripts.ts'

export interface NodeAddress {
  readonly kept: KeptRehearsal
  readonly node: string
}

export async function runInNode({ kept, node }: NodeAddress, script: string): Promise<ScriptResult> {
  const agent = await openAgent(fileInEnclosure(kept.pid, machineFiles(node).agent))
  try {
    return await agent.run(script)
  } finally {
    agent.close()
  }
}

/** Connects both streams with a new shell until the shell ends. */
export async function openShell(
  address: NodeAddress,
  { input, output, size }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; size: TerminalSize },
): Promise<void> {
  const console: Socket = connect({ path: fileInEnclosure(address.kept.pid, machineFiles(address.node).console) })
  await once(console, 'connect')
  input.pipe(console)
  console.pipe(output, { end: false })
  try {
    await runInNode(address, shellScript(size))
  } finally {
    input.unpipe(console)
    console.destroy()
  }
}
