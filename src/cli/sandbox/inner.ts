/** Commands that the sandbox gives to itself: the processes behind a running one. Hidden from people. */
import type { Command } from 'commander'
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
