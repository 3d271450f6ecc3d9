/** Defines `lab status`, `doctor`, `down`, `snapshot` and `backup`. What they do is loaded when one of them runs. */
import { type Command, Option } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption } from '../output/format.ts'
import { type LabOptions, labOptions, openLab } from './lab-file.ts'

export interface PrintOptions extends LabOptions {
  readonly output: Format
}

export function defineStatus(parent: Command, { io, act }: CommandContext): void {
  const command = parent.command('status').description('Show VMs, real disk use and the state of the stages')
  withExamples(labOptions(command), ['stackloom lab status', 'stackloom lab status -o json'])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: PrintOptions) =>
      act(async () => {
        const { printStatus } = await import('./maintenance-run.ts')
        return printStatus(await openLab(options, io), options.output, io)
      }),
    )
}

export function defineDoctor(parent: Command, { io, act }: CommandContext): void {
  const command = parent.command('doctor').description('Diagnose the lab, for example after a reboot of the host')
  withExamples(labOptions(command), ['stackloom lab doctor', 'stackloom lab doctor -o json'])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: PrintOptions) =>
      act(async () => {
        const { printDiagnosis } = await import('./maintenance-run.ts')
        return printDiagnosis(await openLab(options, io), options.output, io)
      }),
    )
}

interface DownOptions extends LabOptions {
  readonly delete?: string | true
}

export function defineDown(parent: Command, { io, act }: CommandContext): void {
  const command = parent.command('down').description('Stop the VMs, or delete them and their disks (--delete)')
  withExamples(labOptions(command), [
    'stackloom lab down',
    'stackloom lab down --delete osl    # deletes VMs and data disks',
  ])
    .addOption(new Option('--delete [name]', 'delete VMs and data disks; the name of the lab confirms it'))
    .action((options: DownOptions) =>
      act(async () => {
        const { bringDown } = await import('./maintenance-run.ts')
        await bringDown(await openLab(options, io), options.delete, io)
        return 0
      }),
    )
}

const SNAPSHOT_VERBS = {
  create: 'Save all running VMs with their data disks (experimental)',
  apply: 'Restore all VMs to a snapshot (experimental)',
} as const

export function defineSnapshot(parent: Command, { io, act }: CommandContext): void {
  const command = withExamples(
    parent.command('snapshot').description('Save all VMs with their disks, or restore them (experimental)'),
    [
      'stackloom lab snapshot create before-ceph',
      'stackloom lab snapshot list',
      'stackloom lab snapshot apply before-ceph',
    ],
  )
  for (const verb of ['create', 'apply'] as const) {
    withExamples(
      labOptions(command.command(verb).argument('<tag>', 'name of the snapshot').description(SNAPSHOT_VERBS[verb])),
      [`stackloom lab snapshot ${verb} before-ceph`],
    ).action((tag: string, options: LabOptions) =>
      act(async () => {
        const { runSnapshot } = await import('./maintenance-run.ts')
        await runSnapshot(await openLab(options, io), verb, tag, io)
        return 0
      }),
    )
  }
  withExamples(labOptions(command.command('list').description('List snapshots and whether every VM has them')), [
    'stackloom lab snapshot list -o json',
  ])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: PrintOptions) =>
      act(async () => {
        const { printSnapshots } = await import('./maintenance-run.ts')
        await printSnapshots(await openLab(options, io), options.output, io)
        return 0
      }),
    )
}

export function defineBackup(parent: Command, { io, act }: CommandContext): void {
  const command = parent.command('backup').description("Copy the controller's database and images to this machine")
  withExamples(labOptions(command), [
    'stackloom lab backup && stackloom lab up --replace node1    # the same run restores it',
  ]).action((options: LabOptions) =>
    act(async () => {
      const { runBackup } = await import('./maintenance-run.ts')
      await runBackup(await openLab(options, io), io)
      return 0
    }),
  )
}
