/** `lab up`: everything, stage by stage; the same command resumes. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { systemClock } from '../../clock/clock.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { Failure } from '../../errors/failure.ts'
import { driveContext, type PlannedStage, planStages, stagesOf } from '../../lab/drive/drive.ts'
import { stageNames } from '../../lab/drive/names.ts'
import { readOnlyMemory } from '../../lab/drive/state.ts'
import { labUp } from '../../lab/drive/up.ts'
import { planVms } from '../../lab/drive/vm-plan.ts'
import { type Selection, select } from '../../run/selection.ts'
import { askYesNo } from '../ask.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { exitCodeOf } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { choosePrinter, type EventFormat, eventsOption } from '../output/run/printer.ts'
import { formatSummary } from '../output/run/summary.ts'
import { driveSettings } from './driving.ts'
import { type LabOptions, labOptions, type OpenedLab, openSoundLab } from './lab-file.ts'

interface Options extends LabOptions {
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
  withExamples(
    labOptions(parent.command('up').description('Render, then run every stage; the same command resumes')),
    [
      'stackloom lab up',
      'stackloom lab up --until vms          # the VMs only',
      'stackloom lab up --from deploy',
      'stackloom lab up --dry-run            # the exact commands',
      'stackloom lab up --replace node2      # consent to a replacement; data disks stay',
    ],
  )
    .option('--from <stage>', `this stage and those that need it: ${stageNames.join(', ')}`)
    .option('--until <stage>', 'this stage and those before it')
    .option('--skip <stage>', 'not this stage; may be repeated', collect)
    .option('--dry-run', 'print the exact commands, do nothing')
    .option('--replace <node>', 'this VM may be replaced; may be repeated', collect)
    .option('--overwrite', 'overwrite rendered files that were edited by hand')
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () => {
        const opened = await openSoundLab(options, io)
        return options.dryRun ? dryRun(opened, options, io) : up(opened, options, io)
      }),
    )
}

function selectionOf({ from, until, skip }: Options): Selection {
  return { ...(from && { from: [from] }), ...(until && { until: [until] }), ...(skip && { skip }) }
}

async function up(opened: OpenedLab, options: Options, io: Io): Promise<ExitCode> {
  io.stderr(
    formatFindings(
      opened.findings.filter((one) => one.severity === 'warning'),
      io.colour.stderr,
    ),
  )
  const printer = choosePrinter(options.events, io)
  try {
    const report = await labUp({
      ...driveSettings(opened, io),
      replace: await consent(opened, options, io),
      again: options.from === undefined ? [] : [options.from],
      selection: selectionOf(options),
      run: randomUUID(),
      what: `lab up ${options.file}`,
      sink: printer.sink,
      clock: systemClock,
      stop: io.stop,
      overwrite: options.overwrite ?? false,
      onRendered: ({ made }) => {
        if (made.length > 0 && options.events !== 'jsonl') io.stderr(`made: ${made.join(', ')}\n`)
      },
    })
    printer.close()
    if (options.output === 'table')
      io.stdout(formatSummary(report, { columns: io.columns, colour: io.colour.stdout }))
    else io.stdout(await serialise(report, options.output))
    return exitCodeOf(report, io)
  } finally {
    printer.close()
  }
}

/** A person at a terminal is asked; anybody else says `--replace NODE` beforehand. */
async function consent(opened: OpenedLab, options: Options, io: Io): Promise<readonly string[]> {
  const given = options.replace ?? []
  if (!io.interactive) return given
  const context = driveContext({ ...driveSettings(opened, io), memory: await readOnlyMemory(opened.folder) })
  const world = await context.world()
  const agreed: string[] = [...given]
  for (const action of planVms(opened.lab, (context.read('ssh/id_ed25519.pub') ?? '').trim(), world)) {
    if (action.kind !== 'replace' || agreed.includes(action.node.name)) continue
    const question = `replace ${action.node.name} (${action.fields.join(', ')})? Its data disks stay`
    if (await askYesNo(question, io)) agreed.push(action.node.name)
  }
  return agreed
}

async function dryRun(opened: OpenedLab, options: Options, io: Io): Promise<ExitCode> {
  const memory = await readOnlyMemory(opened.folder)
  const settings = {
    ...driveSettings(opened, io),
    memory,
    replace: options.replace ?? [],
    again: options.from === undefined ? [] : [options.from],
  }
  const { stages, findings } = select(stagesOf(settings), selectionOf(options))
  if (findings.length > 0) throw new Failure(findings, 2)
  const planned = await planStages(settings, new Set(stages.map((stage) => stage.name)))
  if (options.output !== 'table') io.stdout(await serialise(planned, options.output))
  else io.stdout(planned.map(stageText).join('\n'))
  return 0
}

function stageText({ stage, skipped, refused, commands }: PlannedStage): string {
  const head = `# ${stage}${skipped === undefined ? '' : `: nothing to do (${skipped})`}\n`
  const why = refused === undefined ? '' : `# would be refused: ${refused}\n`
  return head + why + commands.map((command) => `${command}\n`).join('')
}
