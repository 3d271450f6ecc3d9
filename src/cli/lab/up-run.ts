/** What `lab up` does: the run with its printer, or the exact commands of a dry one. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { driveContext, type PlannedStage, planStages } from '../../lab/drive/drive.ts'
import { readOnlyMemory } from '../../lab/drive/state.ts'
import { chosenStages, labUp } from '../../lab/drive/up.ts'
import { planVms } from '../../lab/drive/vm-plan.ts'
import type { Selection } from '../../run/selection.ts'
import { askYesNo } from '../ask.ts'
import { exitCodeOf } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { serialise } from '../output/format.ts'
import { choosePrinter } from '../output/run/printer.ts'
import { formatSummary } from '../output/run/summary.ts'
import { driveSettings } from './driving.ts'
import type { OpenedLab } from './lab-file.ts'
import type { UpOptions } from './up.ts'

function selectionOf({ from, until, skip }: UpOptions): Selection {
  return { ...(from && { from: [from] }), ...(until && { until: [until] }), ...(skip && { skip }) }
}

export async function up(opened: OpenedLab, options: UpOptions, io: Io): Promise<ExitCode> {
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
async function consent(opened: OpenedLab, options: UpOptions, io: Io): Promise<readonly string[]> {
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

export async function dryRun(opened: OpenedLab, options: UpOptions, io: Io): Promise<ExitCode> {
  const memory = await readOnlyMemory(opened.folder)
  const settings = {
    ...driveSettings(opened, io),
    memory,
    replace: options.replace ?? [],
    again: options.from === undefined ? [] : [options.from],
  }
  const stages = chosenStages(settings, selectionOf(options))
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
