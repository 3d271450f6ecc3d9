/** Defines `lab up`. */
import type { Command } from 'commander'
import { stageNames } from '../../lab/drive/stage.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type EventFormat, eventsOption, type Format, outputOption } from '../output/format.ts'
import { repeatable } from '../repeatable.ts'
import { type LabOptions, labOptions, openValidLab } from './lab-file.ts'

export interface UpOptions extends LabOptions {
  readonly fromStage?: string
  readonly until?: string
  readonly skip?: readonly string[]
  readonly dryRun?: boolean
  readonly replace?: readonly string[]
  readonly overwrite?: boolean
  readonly events: EventFormat
  readonly output: Format
}

export function defineUp(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(parent.command('up').description('Render the lab and run every stage; run it again to resume')),
    [
      'stackloom lab up',
      'stackloom lab up --until vms          # only up to the VMs',
      'stackloom lab up --from-stage deploy',
      'stackloom lab up --dry-run            # print the commands',
      'stackloom lab up --replace node2      # allow a replacement; data disks are kept',
    ],
  )
    .option('--from-stage <stage>', `run this stage and those that need it: ${stageNames.join(', ')}`)
    .option('--until <stage>', 'run this stage and those before it')
    .option('--skip <stage>', 'skip this stage; may be repeated', repeatable)
    .option('--dry-run', 'print the commands and run nothing')
    .option('--replace <node>', 'allow the VM of this node to be replaced; may be repeated', repeatable)
    .option('--overwrite', 'overwrite rendered files that were edited by hand')
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: UpOptions) =>
      act(async () => {
        const opened = await openValidLab(options, io)
        const { dryRun, up } = await import('./up-run.ts')
        return options.dryRun ? dryRun(opened, options, io) : up(opened, options, io)
      }),
    )
}
