/** Defines `stackloom certificates`: shows when certificates end and how old credentials are. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { withCloudFlags } from '../deployment.ts'
import { runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import { outputOption } from '../output/format.ts'
import type { ShowOptions } from './show-certificates.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withFleetFlag(withCloudFlags(command, 'show only this cloud')), [
    'stackloom certificates                 # those that end soon, and what has an older copy',
    'stackloom certificates -o wide         # all of them, and the age of credentials',
    'stackloom certificates --cloud rhoso1 -o json',
    'stackloom certificates --fleet fleet.yaml',
    'stackloom certificates --from must-gather/',
  ])
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action((options: ShowOptions) =>
      act(async () =>
        runOrFleet('certificates', options, io, (await import('./show-certificates.ts')).showCertificates),
      ),
    )
}
