/** What `lab up` does: the run with its printer, or the exact commands of a dry one. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { createDriveContext, type PlannedStage, planStages } from '../../lab/drive/driver.ts'
import { openReadOnlyState } from '../../lab/drive/state.ts'
import { chosenStages, runLabUp } from '../../lab/drive/up.ts'
import { planVms } from '../../lab/drive/vm-plan.ts'
import type { Selection } from '../../run/selection.ts'
import { runExitCode } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { serialise } from '../output/format.ts'
import { choosePrinter } from '../output/run/printer.ts'
import { formatSummary } from '../output/run/summary.ts'
import { askYesNo } from '../questions.ts'
import { driveSettings } from './driving.ts'
import type { OpenedLab } from './lab-file.ts'
import type { UpOptions } from './up.ts'

function buildSelection({ from, until, skip }: UpOptions): Selection {
  return { ...(from && { from: [from] }), ...(until && { until: [until] }), ...(skip && { skip }) }
}

export async function up(opened: OpenedLab, options: UpOptions, io: Io): Promise<ExitCode> {
  io.stderr(
    formatFindings(
      opened.findings.filter((finding) => finding.severity === 'warning'),
      io.colour.stderr,
    ),
  )
  const printer = choosePrinter(options.events, io)
  try {
    const report = await runLabUp({
      ...driveSettings(opened, io),
      replace: await confirmReplacements(opened, options, io),
      rerun: options.from === undefined ? [] : [options.from],
      selection: buildSelection(options),
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
    if (options.output === 'table') io.stdout(formatSummary(report, { columns: io.columns, colour: io.colour.stdout }))
    else io.stdout(await serialise(report, options.output))
    return runExitCode(report, io)
  } finally {
    printer.close()
  }
}

/** A person at a terminal is asked; anybody else says `--replace NODE` beforehand. */
async function confirmReplacements(opened: OpenedLab, options: UpOptions, io: Io): Promise<readonly string[]> {
  const given = options.replace ?? []
  if (!io.interactive) return given
  const context = createDriveContext({ ...driveSettings(opened, io), store: await openReadOnlyState(opened.folder) })
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
  const memory = await openReadOnlyState(opened.folder)
  const settings = {
    ...driveSettings(opened, io),
    store: memory,
    replace: options.replace ?? [],
    rerun: options.from === undefined ? [] : [options.from],
  }
  const stages = chosenStages(settings, buildSelection(options))
  const planned = await planStages(settings, new Set(stages.map((stage) => stage.name)))
  if (options.output !== 'table') io.stdout(await serialise(planned, options.output))
  else io.stdout(planned.map(formatPlannedStage).join('\n'))
  return 0
}

function formatPlannedStage({ stage, skipped, refused, commands }: PlannedStage): string {
  const head = `# ${stage}${skipped === undefined ? '' : `: nothing to do (${skipped})`}\n`
  const why = refused === undefined ? '' : `# would be refused: ${refused}\n`
  return head + why + commands.map((command) => `${command}\n`).join('')
}
