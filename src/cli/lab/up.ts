/** `lab up`: everything, stage by stage; the same command resumes. */
import type { Command } from 'commander'
import { stageNames } from '../../lab/drive/names.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type EventFormat, eventsOption, type Format, outputOption } from '../output/format.ts'
import { type LabOptions, labOptions, openValidLab } from './lab-file.ts'

export interface UpOptions extends LabOptions {
  readonly from?: string
  readonly until?: string
  readonly skip?: readonly string[]
  readonly dryRun?: boolean
  readonly replace?: readonly string[]
  readonly overwrite?: boolean
  readonly events: EventFormat
  readonly output: Format
}

const collect = (word: string, before: readonly string[] = []): readonly string[] => [...before, word]

export function defineUp(parent: Command, { io, act }: CommandContext): void {
  withExamples(labOptions(parent.command('up').description('Render, then run every stage; the same command resumes')), [
    'stackloom lab up',
    'stackloom lab up --until vms          # the VMs only',
    'stackloom lab up --from deploy',
    'stackloom lab up --dry-run            # the exact commands',
    'stackloom lab up --replace node2      # consent to a replacement; data disks stay',
  ])
    .option('--from <stage>', `this stage and those that need it: ${stageNames.join(', ')}`)
    .option('--until <stage>', 'this stage and those before it')
    .option('--skip <stage>', 'not this stage; may be repeated', collect)
    .option('--dry-run', 'print the exact commands, do nothing')
    .option('--replace <node>', 'this VM may be replaced; may be repeated', collect)
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
