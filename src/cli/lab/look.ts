/** `lab status` and `lab doctor`: how a lab is, and what is wrong with it. */
import type { Command } from 'commander'
import { hasErrors } from '../../errors/finding.ts'
import { diagnose, gatherFacts } from '../../lab/drive/doctor.ts'
import { type LabStatus, labStatus } from '../../lab/drive/status.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { lookAt } from './driving.ts'
import { type LabOptions, labOptions, openLab } from './lab-file.ts'

interface Options extends LabOptions {
  readonly output: Format
}

export function defineStatus(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(parent.command('status').description('VMs, real disk use, and how far the stages are')),
    ['stackloom lab status', 'stackloom lab status -o json'],
  )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () => {
        const opened = await openLab(options, io)
        const status = await labStatus(await lookAt(opened, io))
        io.stdout(
          options.output === 'table'
            ? statusText(status, io.columns)
            : await serialise(status, options.output),
        )
        return 0
      }),
    )
}

function statusText({ nodes, stages, disk }: LabStatus, columns: number): string {
  const rows = nodes.map((node) => [
    node.name,
    node.status,
    node.address,
    node.usedGiB === undefined ? '-' : `${node.usedGiB}`,
    `${node.nominalGiB}`,
    node.next,
  ])
  const glance = disk.glanceGiB === undefined ? '' : `, of which Glance ${disk.glanceGiB} GiB`
  return `${formatTable(['NODE', 'STATUS', 'ADDRESS', 'USED GiB', 'NOMINAL GiB', 'NEXT'], rows, columns)}
disk: ${disk.usedGiB} of ${disk.nominalGiB} GiB used${glance}
stages: ${stages.map(({ name, state }) => `${name} ${state}`).join(', ')}
`
}

export function defineDoctor(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(
      parent.command('doctor').description('What is wrong, most of all after a reboot, and what to do'),
    ),
    ['stackloom lab doctor', 'stackloom lab doctor -o json'],
  )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () => {
        const opened = await openLab(options, io)
        const findings = diagnose(await gatherFacts(await lookAt(opened, io), Date.now))
        if (options.output === 'table') {
          io.stderr(formatFindings(findings, io.colour.stderr))
          io.stdout(findings.length === 0 ? `${opened.lab.name} is well\n` : `${findings.length} findings\n`)
        } else io.stdout(await serialise({ lab: opened.lab.name, findings }, options.output))
        return hasErrors(findings) ? 1 : 0
      }),
    )
}
