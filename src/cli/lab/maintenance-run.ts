/** Runs `lab status`, `doctor`, `down`, `snapshot` and `backup`. */
import { systemClock } from '../../clock/clock.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { runProcess } from '../../exec/process.ts'
import { createDriveContext, type DriveSettings } from '../../lab/drive/driver.ts'
import { diagnose, gatherFacts } from '../../lab/drive/lab-doctor.ts'
import { type LabStatus, readLabStatus } from '../../lab/drive/lab-status.ts'
import { backupSteps, downSteps, listSnapshots, snapshotSteps } from '../../lab/drive/maintenance.ts'
import { runSteps } from '../../lab/drive/run-steps.ts'
import type { DriveContext, Step } from '../../lab/drive/stage.ts'
import { openReadOnlyState, openStateStore, withLabLock } from '../../lab/drive/state.ts'
import { deleteNeedsName, notRendered } from '../../lab/findings/lab-run.ts'
import { isRendered } from '../../lab/tree.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialise, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import type { OpenedLab } from './lab-file.ts'

export function driveSettings({ lab, folder }: OpenedLab, io: Io): Omit<DriveSettings, 'store'> {
  return { lab, folder, system: process.platform, env: io.env, exec: runProcess }
}

/** For commands that change nothing. */
async function createReadOnlyContext(opened: OpenedLab, io: Io): Promise<DriveContext> {
  requireRendered(opened)
  return createDriveContext({ ...driveSettings(opened, io), store: await openReadOnlyState(opened.folder) })
}

function requireRendered({ folder, displayFolder }: OpenedLab): void {
  if (!isRendered(folder)) throw failure(notRendered, { folder: displayFolder }, { exitCode: 1 })
}

/** Runs steps that belong to no stage under the lab's lock, and prints their progress line by line. */
async function runLabSteps(
  name: string,
  opened: OpenedLab,
  io: Io,
  buildSteps: (context: DriveContext) => readonly Step[] | Promise<readonly Step[]>,
): Promise<void> {
  requireRendered(opened)
  const { folder } = opened
  const settings = driveSettings(opened, io)
  await withLabLock(folder, async () => {
    const store = await openStateStore(folder)
    const context = createDriveContext({ ...settings, store })
    const env = { ...io.env, ...context.tools.env }
    const runner = { folder, exec: settings.exec, env, secrets: [], store }
    await runSteps(name, await buildSteps(context), runner, {
      emit: (event) => {
        if (event.kind === 'progress') io.stderr(`${event.message}\n`)
      },
      stop: io.stop,
      clock: systemClock,
    })
  })
}

export async function printStatus(opened: OpenedLab, output: Format, io: Io): Promise<ExitCode> {
  const status = await readLabStatus(await createReadOnlyContext(opened, io))
  io.stdout(output === 'table' ? formatStatus(status, io) : await serialiseResult(status, output))
  return 0
}

function formatStatus({ nodes, stages, disk }: LabStatus, { columns, colour }: Io): string {
  const rows = nodes.map((node) => [
    node.name,
    node.status,
    node.address,
    node.usedGiB === undefined ? '-' : `${node.usedGiB}`,
    `${node.nominalGiB}`,
    node.next,
  ])
  const glance = disk.glanceGiB === undefined ? '' : `, of which Glance ${disk.glanceGiB} GiB`
  return `${formatTable(['NODE', 'STATUS', 'ADDRESS', 'USED GiB', 'NOMINAL GiB', 'NEXT'], rows, columns, colour.stdout)}
disk: ${disk.usedGiB} of ${disk.nominalGiB} GiB used${glance}
stages: ${stages.map(({ name, state }) => `${name} ${state}`).join(', ')}
`
}

export async function printDiagnosis(opened: OpenedLab, output: Format, io: Io): Promise<ExitCode> {
  const findings = diagnose(await gatherFacts(await createReadOnlyContext(opened, io), Date.now))
  if (output === 'table') {
    printFindings(findings, io)
    const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`
    io.stdout(findings.length === 0 ? `${opened.lab.name} is healthy\n` : `${count}\n`)
  } else io.stdout(await serialise({ lab: opened.lab.name, findings }, output))
  return hasErrors(findings) ? 1 : 0
}

/** `typed` is the value of `--delete`: true when the option has none. */
export async function bringDown(opened: OpenedLab, typed: string | true | undefined, io: Io): Promise<void> {
  const { name } = opened.lab
  if (typed !== undefined && typed !== name) {
    throw failure(deleteNeedsName, { lab: name, typed: typed === true ? undefined : typed }, { exitCode: 2 })
  }
  const remove = typed === name
  await runLabSteps('down', opened, io, (context) => downSteps(context, remove))
  io.stderr(remove ? `${name} is deleted\n` : `${name} is stopped; \`lab up\` starts it again\n`)
}

export function runSnapshot(opened: OpenedLab, verb: 'create' | 'apply', tag: string, io: Io): Promise<void> {
  return runLabSteps('snapshot', opened, io, (context) => snapshotSteps(context, verb, tag))
}

export async function printSnapshots(opened: OpenedLab, output: Format, io: Io): Promise<void> {
  const snapshots = await listSnapshots(await createReadOnlyContext(opened, io))
  const rows = snapshots.map(({ tag, complete, nodes }) => [tag, complete ? 'yes' : 'no', nodes.join(', ')])
  const table = (): string => formatTable(['TAG', 'COMPLETE', 'NODES'], rows, io.columns, io.colour.stdout)
  io.stdout(output === 'table' ? table() : await serialiseResult({ snapshots }, output))
}

export function runBackup(opened: OpenedLab, io: Io): Promise<void> {
  return runLabSteps('backup', opened, io, (context) => backupSteps(context, Date.now()))
}
