/** Defines `stackloom restore`: brings a cloud back from the folder of a backup. */
import { type Command, Option } from 'commander'
import { withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { timeoutOption } from '../duration.ts'
import { eventsOption, outputOption } from '../output/format.ts'
import type { RestoreFlags } from './run-restore.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(command), [
    'stackloom restore rhoso1-backup --identity key.txt             # asks for the name of the cloud',
    'stackloom restore rhoso1-backup --identity key.txt --dry-run   # checks the backup',
    'stackloom restore rhoso1-backup --identity key.txt --rehearse  # in a sandbox, which is removed afterwards',
  ])
    .argument('<dir>', 'the folder of a backup')
    .requiredOption('--identity <file>', 'file with the secret key of age that decrypts the Secrets')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(
      new Option(
        '--rehearse',
        'restore into a new sandbox with simulated operators, compare every address, remove it',
      ).conflicts(['kubeconfig', 'context', 'dryRun']),
    )
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((folder: string, options: RestoreFlags) =>
      act(async () => (await import('./run-restore.ts')).runRestore(folder, options, io)),
    )
}
