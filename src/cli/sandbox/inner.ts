/** Commands that the sandbox gives to itself: the processes behind a running one. Hidden from people. */
import type { Command } from 'commander'
import { connect } from '../../kube/connect.ts'
import { play } from '../../sandbox/actors/registry.ts'
import { sandboxFolder } from '../../sandbox/folder.ts'
import { supervise } from '../../sandbox/supervisor.ts'
import type { CommandContext } from '../command.ts'

export function defineSupervise(parent: Command, { act }: CommandContext): void {
  parent
    .command('supervise', { hidden: true })
    .argument('<folder>')
    .action((folder: string) =>
      act(async () => {
        await supervise(sandboxFolder(folder))
        return 0
      }),
    )
}

export function defineAct(parent: Command, { io, act }: CommandContext): void {
  parent
    .command('act', { hidden: true })
    .requiredOption('--kubeconfig <file>')
    .argument('<names...>')
    .action((names: readonly string[], { kubeconfig }: { kubeconfig: string }) =>
      act(async () => {
        const connection = await connect({ kubeconfig, env: {} })
        const log = (entry: object): void => io.stderr(`${JSON.stringify(entry)}\n`)
        await play({ connection, names, signal: io.stop, log })
        await connection.close()
        return 0
      }),
    )
}
