/** Runs `lab up`: the stages with a printer, or the commands of a dry run. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { createDriveContext, type PlannedStage, planStages, runLabUp, selectLabStages } from '../../lab/drive/driver.ts'
import { openReadOnlyState } from '../../lab/drive/state.ts'
import { planVms } from '../../lab/drive/vm-plan.ts'
import { recordRun, runRecordFolder } from '../../run/run-record.ts'
import type { Selection } from '../../run/selection.ts'
import { runExitCode } from '../command.ts'
import type { Io } from '../io.ts'
import { nameCommand } from '../leased-run.ts'
import { serialiseResult } from '../output/format.ts'
import { choosePrinter } from '../output/run/printer.ts'
import { formatSummary } from '../output/run/summary.ts'
import { openTraces } from '../output/run/traces.ts'
import { askYesNo } from '../questions.ts'
import { type OpenedLab, printWarnings } from './lab-file.ts'
import { driveSettings } from './maintenance-run.ts'
import type { UpOptions } from './up.ts'

function buildSelection({ fromStage, until, skip }: UpOptions): Selection {
  return { ...(fromStage && { from: [fromStage] }), ...(until && { until: [until] }), ...(skip && { skip }) }
}

export async function up(opened: OpenedLab, options: UpOptions, io: Io): Promise<ExitCode> {
  printWarnings(opened, io)
  const traces = await openTraces(io)
  const printer = choosePrinter(options.events, io)
  try {
    const report = await runLabUp({
      ...driveSettings(opened, io),
      replace: await confirmReplacements(opened, options, io),
      rerun: options.fromStage === undefined ? [] : [options.fromStage],
      selection: buildSelection(options),
      run: randomUUID(),
      what: `lab up ${options.file}`,
      sink: nameCommand(traces.record(recordRun(printer.sink, runRecordFolder(io.env), systemClock.now())), io),
      clock: systemClock,
      stop: io.stop,
      overwrite: options.overwrite ?? false,
      onRendered: ({ made }) => {
        if (made.length > 0 && options.events !== 'jsonl') io.stderr(`generated: ${made.join(', ')}\n`)
      },
    })
    printer.close()
    if (options.output === 'table') io.stdout(formatSummary(report, { columns: io.columns, colour: io.colour.stdout }))
    else io.stdout(await serialiseResult(report, options.output))
    return runExitCode(report, io)
  } finally {
    printer.close()
    await traces.close()
  }
}

/** Asks at a terminal about every VM that must be replaced. Without a terminal only `--replace NODE` counts. */
async function confirmReplacements(opened: OpenedLab, options: UpOptions, io: Io): Promise<readonly string[]> {
  const confirmed = [...(options.replace ?? [])]
  if (!io.interactive) return confirmed
  const context = createDriveContext({ ...driveSettings(opened, io), store: await openReadOnlyState(opened.folder) })
  for (const action of planVms(context, await context.readLima())) {
    if (action.kind !== 'replace' || confirmed.includes(action.node.name)) continue
    const question = `replace ${action.node.name} (${action.fields.join(', ')})? Its data disks are kept`
    if (await askYesNo(question, io)) confirmed.push(action.node.name)
  }
  return confirmed
}

export async function dryRun(opened: OpenedLab, options: UpOptions, io: Io): Promise<ExitCode> {
  const settings = {
    ...driveSettings(opened, io),
    store: await openReadOnlyState(opened.folder),
    replace: options.replace ?? [],
    rerun: options.fromStage === undefined ? [] : [options.fromStage],
  }
  const stages = selectLabStages(settings, buildSelection(options))
  const planned = await planStages(settings, new Set(stages.map((stage) => stage.name)))
  if (options.output !== 'table') io.stdout(await serialiseResult({ stages: planned }, options.output))
  else io.stdout(planned.map(formatPlannedStage).join('\n'))
  return 0
}

function formatPlannedStage({ stage, skipped, refused, commands }: PlannedStage): string {
  const head = `# ${stage}${skipped === undefined ? '' : `: nothing to do (${skipped})`}\n`
  const why = refused === undefined ? '' : `# would be refused: ${refused}\n`
  return head + why + commands.map((command) => `${command}\n`).join('')
}
