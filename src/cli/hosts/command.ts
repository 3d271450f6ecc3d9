/** Defines `stackloom hosts`: shows which hosts have what is declared, and deploys those that do not. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { withCloudFlags } from '../deployment.ts'
import { timeoutOption } from '../duration.ts'
import { eventsOption, outputOption } from '../output/format.ts'
import type { DeployOptions } from './deploy-hosts.ts'
import type { ShowOptions } from './show-hosts.ts'

export function define(command: Command, context: CommandContext): void {
  defineShow(command, context)
  defineDeploy(command, context)
}

function defineShow(command: Command, { io, act }: CommandContext): void {
  withExamples(withCloudFlags(command, 'show only this cloud'), [
    'stackloom hosts                   # hosts in the same state are one line',
    'stackloom hosts --behind          # only those that a deployment would change',
    'stackloom hosts --cloud rhoso1 -o wide',
    'stackloom hosts --from must-gather/ -o json',
  ])
    .option('--behind', 'only hosts that lack what is declared, also those that were never deployed')
    .option('--failed', 'only hosts on which a deployment failed')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: ShowOptions) => act(async () => (await import('./show-hosts.ts')).showHosts(options, io)))
}

function defineDeploy(command: Command, { io, act }: CommandContext): void {
  const deploy = command
    .command('deploy')
    .description('Deploy exactly the hosts that are behind or failed, and wait; run it again to resume')
  withExamples(withCloudFlags(deploy, 'deploy only hosts of this cloud'), [
    'stackloom hosts deploy --behind --dry-run     # prints the deployments',
    'stackloom hosts deploy --behind --cloud rhoso1 --yes',
    'stackloom hosts deploy --failed',
  ])
    .option('--behind', 'only hosts that lack what is declared, also those that were never deployed')
    .option('--failed', 'only hosts on which a deployment failed')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    // Options that `hosts` has too are parsed there, also after `deploy`.
    .action((_: unknown, used: Command) =>
      act(async () => (await import('./deploy-hosts.ts')).deployHosts(used.optsWithGlobals<DeployOptions>(), io)),
    )
}
