/** Implements `stackloom backup`. */
import { randomInt } from 'node:crypto'
import { LOCK } from '../../backup/archive.ts'
import { CONTROL_PLANE } from '../../backup/backup-kinds.ts'
import { nothingToBackUp } from '../../backup/findings.ts'
import { checkRecipients } from '../../backup/seal.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import { runExitCode } from '../command.ts'
import { type NamedCloud, selectOneCloud } from '../deployment.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, type Format, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { findLockFile } from '../planning.ts'
import { openBackupFolder } from './archive-folder.ts'

export interface BackupFlags extends ClusterFlags {
  readonly cloud?: string
  readonly out: string
  readonly recipient: readonly string[]
  readonly file?: string
  readonly lock?: string
  readonly veleroNamespace?: string
  readonly storageLocation?: string
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export async function runBackup(options: BackupFlags, io: Io): Promise<ExitCode> {
  const { backupCloud } = await import('../../deploy/backup/backup-cloud.ts')
  const { readInventories } = await import('../../deploy/inventory.ts')
  const { out, recipient: recipients, veleroNamespace, storageLocation, output } = options
  checkRecipients(recipients)
  const siteFiles = await readSiteFiles(options, io)
  const connection = await openCluster(options, io)
  try {
    const clouds = (await readInventories(connection.client)).flatMap(({ cloud, namespace, ...inventory }) =>
      cloud === undefined || namespace === undefined ? [] : [{ ...inventory, cloud, namespace, name: cloud }],
    )
    const { name: cloud, ...inventory } = selectOneCloud<NamedCloud & (typeof clouds)[number]>(
      clouds,
      options,
      'stackloom backup',
    )
    const { namespace } = inventory
    const { items } = await connection.client.list(CONTROL_PLANE, { namespace })
    if (items.length === 0) throw failure(nothingToBackUp, { cloud, namespace }, { exitCode: 1 })
    const folder = await openBackupFolder(out, cloud, backupName(cloud), io)
    const report = await runWithLease(connection.client, options, io, ({ client, run, sink, stop }) =>
      backupCloud({
        client,
        inventory,
        name: folder.name,
        recipients,
        siteFiles,
        ...(veleroNamespace !== undefined && {
          velero: { namespace: veleroNamespace, ...(storageLocation !== undefined && { storageLocation }) },
        }),
        write: folder.write,
        run,
        sink,
        stop,
      }),
    )
    printFindings(report.findings, io)
    const { outcome, stages, manifest } = report
    io.stdout(
      output === 'table'
        ? formatSummary(report, { columns: io.columns, colour: io.colour.stdout })
        : await serialiseResult({ outcome, stages, manifest }, output, report.findings),
    )
    if (manifest) io.stderr(`${out} has the backup ${manifest.name}; \`stackloom restore ${out}\` restores it\n`)
    return runExitCode(report, io)
  } finally {
    await connection.close()
  }
}

/** Unique, and short enough for the names of Jobs: `rhoso1-20261117-170901-4711`. */
function backupName(cloud: string): string {
  const time = new Date().toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15)
  return `${cloud.slice(0, 20)}-${time}-${randomInt(1000, 10_000)}`
}

async function readSiteFiles(
  { file, lock }: Pick<BackupFlags, 'file' | 'lock'>,
  io: Io,
): Promise<ReadonlyMap<string, string>> {
  if (file === undefined) return new Map()
  const lockFile = findLockFile({ file, ...(lock !== undefined && { lock }) }) ?? ''
  const read = async (name: string): Promise<string> => Buffer.from(await readInput(name, io)).toString('utf8')
  return new Map([
    ['site.yaml', await read(file)],
    [LOCK, await read(lockFile)],
  ])
}
