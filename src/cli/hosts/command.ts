/** Defines `stackloom hosts`: shows which hosts have what is declared, and deploys those that do not. */
import { type Command, InvalidArgumentError } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { withCloudFlags } from '../deployment.ts'
import { parseDuration, timeoutOption } from '../duration.ts'
import { runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import { eventsOption, outputOption } from '../output/format.ts'
import type { ChangeOptions } from './change-host.ts'
import type { DeployOptions } from './deploy-hosts.ts'
import type { ShowOptions } from './show-hosts.ts'

export function define(command: Command, context: CommandContext): void {
  defineShow(command, context)
  defineDeploy(command, context)
  defineRemove(command, context)
  defineDrain(command, context)
  defineEnable(command, context)
}

function defineShow(command: Command, { io, act }: CommandContext): void {
  withExamples(withFleetFlag(withCloudFlags(command, 'show only this cloud')), [
    'stackloom hosts                   # hosts in the same state are one line',
    'stackloom hosts --behind          # only those that a deployment would change',
    'stackloom hosts --cloud rhoso1 -o wide',
    'stackloom hosts --fleet fleet.yaml --behind',
    'stackloom hosts --from must-gather/ -o json',
  ])
    .option('--behind', 'only hosts that lack what is declared, also those that were never deployed')
    .option('--failed', 'only hosts on which a deployment failed')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: ShowOptions) =>
      act(async () => runOrFleet('hosts', options, io, (await import('./show-hosts.ts')).showHosts)),
    )
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

function defineRemove(command: Command, context: CommandContext): void {
  const remove = command
    .command('remove')
    .description('Take a host out of its cloud, and prove that nothing is left; run it again to resume')
  withExamples(withMigrationOptions(withCloudFlags(remove, 'the cloud of the host')), [
    'stackloom hosts remove compute-3 --dry-run',
    'stackloom hosts remove compute-3 --drain',
    'stackloom hosts remove compute-3 --off --yes      # the machine is gone',
  ])
    .option('--drain', 'migrate the instances of the host; without it, instances stop the removal')
    .option('--off', 'the host is off for good: do not stop its services by Ansible')
  withRunOptions(remove, 'remove', context)
}

function defineDrain(command: Command, context: CommandContext): void {
  const drain = command
    .command('drain')
    .description('Keep Nova from using a host and migrate its instances, for maintenance; run it again to resume')
  withExamples(withMigrationOptions(withCloudFlags(drain, 'the cloud of the host')), [
    'stackloom hosts drain compute-3 --dry-run',
    'stackloom hosts drain compute-3 --parallel 4',
    'stackloom hosts enable compute-3          # after the maintenance',
  ])
  withRunOptions(drain, 'drain', context)
}

function defineEnable(command: Command, context: CommandContext): void {
  const enable = command.command('enable').description('Let Nova use a host again after maintenance')
  withExamples(withCloudFlags(enable, 'the cloud of the host'), ['stackloom hosts enable compute-3'])
  withRunOptions(enable, 'enable', context)
}

function withMigrationOptions(command: Command): Command {
  return command
    .option('--parallel <count>', 'instances that move at the same time (default: 2)', parseParallel)
    .option('--instance-timeout <duration>', 'how long one instance may move (default: 30m)', parseInstanceTimeout)
}

function parseParallel(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('a number from 1 to 99')
  return Number(text)
}

function parseInstanceTimeout(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('a duration such as 90s or 1h30m')
  return ms
}

function withRunOptions(command: Command, action: 'remove' | 'drain' | 'enable', { io, act }: CommandContext): void {
  command
    .argument('<host>', 'name of the host, as in its node set')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((host: string, _: unknown, used: Command) =>
      act(async () => {
        const { runHostAction } = await import('./change-host.ts')
        return runHostAction(action, host, used.optsWithGlobals<ChangeOptions>(), io)
      }),
    )
}
