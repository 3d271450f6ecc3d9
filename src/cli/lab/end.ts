/** `lab down`, `lab snapshot` and `lab backup`: stopping, deleting, saving, going back. */
import { type Command, Option } from 'commander'
import { failure } from '../../errors/failure.ts'
import { nameNotTyped } from '../../errors/lab-run.ts'
import { backupSteps } from '../../lab/drive/backup.ts'
import { downSteps } from '../../lab/drive/down.ts'
import { listSnapshots, snapshotSteps } from '../../lab/drive/snapshot.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { act as actOn, lookAt } from './driving.ts'
import { type LabOptions, labOptions, openLab } from './lab-file.ts'

interface DownOptions extends LabOptions {
  readonly delete?: string | true
}

export function defineDown(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(
      parent
        .command('down')
        .description('Stop the VMs; with the name of the lab, delete them and their disks'),
    ),
    ['stackloom lab down', 'stackloom lab down --delete osl    # VMs and data disks, for good'],
  )
    .addOption(new Option('--delete [name]', 'delete VMs and data disks: type the name of the lab'))
    .action((options: DownOptions) =>
      act(async () => {
        const opened = await openLab(options, io)
        const { name } = opened.lab
        if (options.delete !== undefined && options.delete !== name) {
          const typed = options.delete === true ? undefined : options.delete
          throw failure(nameNotTyped, { lab: name, typed }, { exitCode: 2 })
        }
        await actOn('down', opened, io, (context) => downSteps(context, options.delete === name))
        io.stderr(
          options.delete === name
            ? `${name} is deleted\n`
            : `${name} is stopped; \`lab up\` brings it back\n`,
        )
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
    const about =
      what === 'create' ? 'Save all VMs, running, data disks included' : 'All VMs go back to a snapshot'
    withExamples(
      labOptions(
        command
          .command(what)
          .argument('<tag>', 'name of the snapshot')
          .description(`${about} (experimental)`),
      ),
      [`stackloom lab snapshot ${what} before-ceph`],
    ).action((tag: string, options: LabOptions) =>
      act(async () => {
        const opened = await openLab(options, io)
        await actOn('snapshot', opened, io, (context) => snapshotSteps(context, what, tag))
        return 0
      }),
    )
  }
  withExamples(
    labOptions(command.command('list').description('The snapshots, and whether every VM has them')),
    ['stackloom lab snapshot list -o json'],
  )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: SnapshotOptions) =>
      act(async () => {
        const found = await listSnapshots(await lookAt(await openLab(options, io), io))
        const rows = found.map((one) => [one.tag, one.complete ? 'yes' : 'no', one.nodes.join(', ')])
        const table = (): string => formatTable(['TAG', 'COMPLETE', 'NODES'], rows, io.columns)
        io.stdout(options.output === 'table' ? table() : await serialise(found, options.output))
        return 0
      }),
    )
}

export function defineBackup(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(
      parent.command('backup').description("The controller's database and images, packed on this machine"),
    ),
    ['stackloom lab backup && stackloom lab up --replace node1    # the same run restores it'],
  ).action((options: LabOptions) =>
    act(async () => {
      await actOn('backup', await openLab(options, io), io, (context) => backupSteps(context, Date.now()))
      return 0
    }),
  )
}
