/** `lab status` and `lab doctor`: how a lab is, and what is wrong with it. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption } from '../output/format.ts'
import { type LabOptions, labOptions, openLab } from './lab-file.ts'

export interface LookOptions extends LabOptions {
  readonly output: Format
}

export function defineStatus(parent: Command, { io, act }: CommandContext): void {
  withExamples(labOptions(parent.command('status').description('VMs, real disk use, and how far the stages are')), [
    'stackloom lab status',
    'stackloom lab status -o json',
  ])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: LookOptions) =>
      act(async () => {
        const { printStatus } = await import('./look-run.ts')
        return printStatus(await openLab(options, io), options, io)
      }),
    )
}

export function defineDoctor(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(parent.command('doctor').description('What is wrong, most of all after a reboot, and what to do')),
    ['stackloom lab doctor', 'stackloom lab doctor -o json'],
  )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: LookOptions) =>
      act(async () => {
        const { printDiagnosis } = await import('./look-run.ts')
        return printDiagnosis(await openLab(options, io), options, io)
      }),
    )
}
