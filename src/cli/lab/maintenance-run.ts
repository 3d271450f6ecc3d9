/** What `lab down`, `lab snapshot` and `lab backup` do: steps that are no stage, told line by line. */
import { failure } from '../../errors/failure.ts'
import { backupSteps } from '../../lab/drive/backup.ts'
import { downSteps } from '../../lab/drive/maintenance.ts'
import { listSnapshots, snapshotSteps } from '../../lab/drive/snapshot.ts'
import { deleteNeedsName } from '../../lab/findings/lab-run.ts'
import type { Io } from '../io.ts'
import { type Format, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { createReadOnlyContext, runLabSteps } from './driving.ts'
import type { OpenedLab } from './lab-file.ts'

/** `typed` is what stands behind `--delete`: true when nothing does. */
export async function bringDown(opened: OpenedLab, typed: string | true | undefined, io: Io): Promise<void> {
  const { name } = opened.lab
  if (typed !== undefined && typed !== name) {
    throw failure(deleteNeedsName, { lab: name, typed: typed === true ? undefined : typed }, { exitCode: 2 })
  }
  const remove = typed === name
  await runLabSteps('down', opened, io, (context) => downSteps(context, remove))
  io.stderr(remove ? `${name} is deleted\n` : `${name} is stopped; \`lab up\` brings it back\n`)
}

export function runSnapshot(opened: OpenedLab, what: 'create' | 'apply', tag: string, io: Io): Promise<void> {
  return runLabSteps('snapshot', opened, io, (context) => snapshotSteps(context, what, tag))
}

export async function printSnapshots(opened: OpenedLab, output: Format, io: Io): Promise<void> {
  const found = await listSnapshots(await createReadOnlyContext(opened, io))
  const rows = found.map((snapshot) => [snapshot.tag, snapshot.complete ? 'yes' : 'no', snapshot.nodes.join(', ')])
  const table = (): string => formatTable(['TAG', 'COMPLETE', 'NODES'], rows, io.columns)
  io.stdout(output === 'table' ? table() : await serialise(found, output))
}

export function runBackup(opened: OpenedLab, io: Io): Promise<void> {
  return runLabSteps('backup', opened, io, (context) => backupSteps(context, Date.now()))
}
