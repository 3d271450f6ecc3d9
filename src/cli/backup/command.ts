/** Defines `stackloom backup`: saves a cloud into a folder from which `stackloom restore` brings it back. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { withOneCloudFlag } from '../deployment.ts'
import { timeoutOption } from '../duration.ts'
import { eventsOption, outputOption } from '../output/format.ts'
import { repeatable } from '../repeatable.ts'
import type { BackupFlags } from './run-backup.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withOneCloudFlag(command, 'back up this cloud'), [
    'stackloom backup --cloud rhoso1 --out rhoso1-backup --recipient age1…   # a key of `age-keygen`',
    'stackloom backup --cloud rhoso1 --out rhoso1-backup --recipient age1… -f site.yaml',
    'stackloom backup --cloud rhoso1 --out rhoso1-backup --recipient age1… --velero-namespace openshift-adp',
  ])
    .requiredOption('--out <dir>', 'write the backup to this folder; the same folder resumes an unfinished one')
    .requiredOption('--recipient <key>', 'encrypt Secrets to this public key of age; may be repeated', repeatable)
    .option('-f, --file <file>', 'put this site file and its lock into the backup')
    .option('--lock <file>', 'lock file (default: beside the site file)')
    .option('--velero-namespace <namespace>', 'save volumes by the Velero (OADP) of this namespace, and wait')
    .option('--storage-location <name>', "store volumes in this BackupStorageLocation (default: Velero's)")
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: BackupFlags) => act(async () => (await import('./run-backup.ts')).runBackup(options, io)))
}
