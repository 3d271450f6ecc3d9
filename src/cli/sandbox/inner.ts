/** Commands that the sandbox gives to itself: the processes behind a running one. Hidden from people.
 * Each loads its own part alone: a supervisor must be there at once, and stays for long. */
import type { Command } from 'commander'
import type { CommandContext } from '../command.ts'

export function defineSupervise(parent: Command, { act }: CommandContext): void {
  parent
    .command('supervise', { hidden: true })
    .argument('<folder>')
    .action((folder: string) =>
      act(async () => {
        const { sandboxFolder } = await import('../../sandbox/folder.ts')
        const { supervise } = await import('../../sandbox/supervisor.ts')
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
        const { connect } = await import('../../kube/connect.ts')
        const { runActors } = await import('../../sandbox/actors/registry.ts')
        const connection = await connect({ kubeconfig, env: {} })
        const log = (entry: object): void => io.stderr(`${JSON.stringify(entry)}\n`)
        await runActors({ connection, names, signal: io.stop, log })
        await connection.close()
        return 0
      }),
    )
}
