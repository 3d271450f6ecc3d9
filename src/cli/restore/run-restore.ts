/** Implements `stackloom restore`: checks the archive, asks, restores, and prints which addresses came back. */
import { restoreNeedsConsent } from '../../backup/findings.ts'
import type { CheckedArchive } from '../../deploy/backup/restore-cloud.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { execInPod } from '../../kube/pod-exec.ts'
import { openArchive } from '../backup/archive-folder.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import { runExitCode } from '../command.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, type Format, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { confirmByName } from '../questions.ts'

export interface RestoreFlags extends ClusterFlags {
  readonly identity: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly rehearse?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export async function runRestore(folder: string, options: RestoreFlags, io: Io): Promise<ExitCode> {
  const identities = Buffer.from(await readInput(options.identity, io)).toString('utf8')
  const archive = await openArchive(folder, identities, io)
  if (options.rehearse) {
    const { withDrillCluster } = await import('./drill-cluster.ts')
    return withDrillCluster(archive, io, (kubeconfig, drill) =>
      restore(drill, { ...options, kubeconfig, yes: true }, io),
    )
  }
  if (!options.dryRun) return restore(archive, options, io)
  io.stderr('dry run: nothing was changed\n')
  io.stdout(
    options.output === 'table'
      ? formatArchive(archive, io)
      : await serialiseResult({ manifest: archive.manifest, objects: countKinds(archive) }, options.output),
  )
  return 0
}

/** A restore of a large database takes hours. */
const EXEC_MS = 12 * 3_600_000

async function restore(archive: CheckedArchive, options: RestoreFlags, io: Io): Promise<ExitCode> {
  const { restoreCloud } = await import('../../deploy/backup/restore-cloud.ts')
  const { openLiveView } = await import('../../deploy/live-view.ts')
  const { cloud, namespace } = archive.manifest
  const connection = await openCluster(options, io)
  const view = openLiveView(connection.client)
  try {
    io.stderr(formatArchive(archive, io))
    if (!options.yes && !(await confirmByName('Type the name of the cloud to restore it', cloud, io)))
      throw failure(restoreNeedsConsent, { cloud, namespace, server: connection.server }, { exitCode: 1 })
    const report = await runWithLease(connection.client, options, io, ({ client, run, sink, stop, guard }) =>
      restoreCloud({
        client,
        view,
        archive,
        exec: (pod, command) =>
          execInPod(connection.transport, { namespace, pod, command, timeoutMs: EXEC_MS, signal: stop, guard }),
        run,
        sink,
        stop,
      }),
    )
    printFindings(report.findings, io)
    const { outcome, stages } = report
    const addresses = outcome === 'done' ? archive.addresses.length : undefined
    io.stdout(
      options.output === 'table'
        ? formatSummary(report, { columns: io.columns, colour: io.colour.stdout })
        : await serialiseResult({ outcome, stages, addresses }, options.output, report.findings),
    )
    if (addresses !== undefined) io.stderr(`${cloud} is restored: ${addresses} addresses are as in the backup\n`)
    return runExitCode(report, io)
  } finally {
    await view.close()
    await connection.close()
  }
}

function countKinds({ objects }: CheckedArchive): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind } of objects) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

function formatArchive(archive: CheckedArchive, io: Io): string {
  const { name, cloud, namespace, time, version = '-' } = archive.manifest
  const counts = Object.entries(countKinds(archive)).map(([kind, count]) => `${count} ${kind}`)
  const row = [name, cloud, namespace, time, version, String(archive.addresses.length), counts.join(', ')]
  const header = ['BACKUP', 'CLOUD', 'NAMESPACE', 'TIME', 'VERSION', 'ADDRESSES', 'OBJECTS']
  return formatTable(header, [row], io.columns, io.colour.stdout)
}
