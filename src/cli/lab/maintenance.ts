/** `lab down`, `lab snapshot` and `lab backup`: stopping, deleting, saving, going back. */
import { type Command, Option } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption } from '../output/format.ts'
import { type LabOptions, labOptions, openLab } from './lab-file.ts'

interface DownOptions extends LabOptions {
  readonly delete?: string | true
}

export function defineDown(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(
      parent.command('down').description('Stop the VMs; with the name of the lab, delete them and their disks'),
    ),
    ['stackloom lab down', 'stackloom lab down --delete osl    # VMs and data disks, for good'],
  )
    .addOption(new Option('--delete [name]', 'delete VMs and data disks: type the name of the lab'))
    .action((options: DownOptions) =>
      act(async () => {
        const { bringDown } = await import('./maintenance-run.ts')
        await bringDown(await openLab(options, io), options.delete, io)
        return 0
      }),
    )
}

interface SnapshotOptions extends LabOptions {
  readonly output: Format
}

export function defineSnapshot(parent: Command, { io, act }: CommandContext): void {
  const command = withExamples(
    parent.command('snapshot').description('Save all VMs with their disks, or go back (experimental)'),
    [
      'stackloom lab snapshot create before-ceph',
      'stackloom lab snapshot list',
      'stackloom lab snapshot apply before-ceph',
    ],
  )
  for (const what of ['create', 'apply'] as const) {
    const about = what === 'create' ? 'Save all VMs, running, data disks included' : 'All VMs go back to a snapshot'
    withExamples(
      labOptions(
        command.command(what).argument('<tag>', 'name of the snapshot').description(`${about} (experimental)`),
      ),
      [`stackloom lab snapshot ${what} before-ceph`],
    ).action((tag: string, options: LabOptions) =>
      act(async () => {
        const { runSnapshot } = await import('./maintenance-run.ts')
        await runSnapshot(await openLab(options, io), what, tag, io)
        return 0
      }),
    )
  }
  withExamples(labOptions(command.command('list').description('The snapshots, and whether every VM has them')), [
    'stackloom lab snapshot list -o json',
  ])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: SnapshotOptions) =>
      act(async () => {
        const { printSnapshots } = await import('./maintenance-run.ts')
        await printSnapshots(await openLab(options, io), options.output, io)
        return 0
      }),
    )
}

export function defineBackup(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(parent.command('backup').description("The controller's database and images, packed on this machine")),
    ['stackloom lab backup && stackloom lab up --replace node1    # the same run restores it'],
  ).action((options: LabOptions) =>
    act(async () => {
      const { runBackup } = await import('./maintenance-run.ts')
      await runBackup(await openLab(options, io), io)
      return 0
    }),
  )
}
