/** Defines `stackloom down`: takes clouds out of the cluster and verifies that nothing is left. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { objectKey } from '../../api/object.ts'
import { nameNotConfirmed } from '../../deploy/findings/down.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { ObjectRef } from '../../kube/client.ts'
import type { Connection } from '../../kube/connect.ts'
import type { RunReport } from '../../run/engine.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import { type CloudFlags, selectClouds, withCloudFlags } from '../deployment.ts'
import { timeoutOption } from '../duration.ts'
import { askToInterrupt } from '../interruption.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { type EventFormat, eventsOption, type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { confirmByName } from '../questions.ts'
import { siteFileOption } from '../site-file.ts'

interface Options extends ClusterFlags, CloudFlags {
  readonly all?: boolean
  readonly file: string
  readonly yes?: boolean
  readonly deleteData?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withCloudFlags(command, 'take down this cloud'), [
    'stackloom down --cloud rhoso2',
    'stackloom down --cloud rhoso2 --dry-run    # what would be deleted',
    'stackloom down --cloud rhoso2 --delete-data --yes',
    'stackloom down --all                       # the clouds, then what they shared',
  ])
    .option('--all', 'take down every cloud, node networking, and the operators that Stackloom installed')
    .addOption(siteFileOption('site file whose lock is freed of what is gone'))
    .option('-y, --yes', 'do not ask for the name, nor before a running data plane deployment is deleted')
    .option('--delete-data', 'delete the volumes of the clouds too')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => takeDown(options, io)))
}

async function takeDown(options: Options, io: Io): Promise<ExitCode> {
  const { all = false } = options
  const isSelected = options.cloud !== undefined || options.namespace !== undefined
  if (all === isSelected) {
    const reason = all ? '--all excludes --cloud and -n' : 'name a cloud with --cloud or -n, or use --all'
    throw failure(wrongUse, { reason, command: 'stackloom down' })
  }
  const connection = await openCluster(options, io)
  try {
    const cloud = await findClouds(connection, options)
    if (options.dryRun) return await showRemovals(connection, { ...options, cloud }, io)
    await confirm({ ...options, cloud }, io)
    const mayInterrupt = await askAboutDeployments(connection, { ...options, cloud }, io)
    const report = await run(connection, { ...options, cloud }, mayInterrupt, io)
    const terminal = { columns: io.columns, colour: io.colour.stdout }
    io.stdout(
      options.output === 'table' ? formatSummary(report, terminal) : await serialiseResult(report, options.output),
    )
    if (report.outcome === 'done') await freeLock({ ...options, cloud }, io)
    return runExitCode(report, io)
  } finally {
    await connection.close()
  }
}

/** The objects that Stackloom created are deleted; what existed before is kept. */
async function showRemovals({ client }: Connection, { all, cloud = [], output }: Options, io: Io): Promise<ExitCode> {
  const { refuseKeptControlPlanes, selectInventories } = await import('../../deploy/down/down.ts')
  const { readInventories } = await import('../../deploy/inventory.ts')
  const inventories = await readInventories(client)
  const selected = selectInventories(inventories, all ? 'all' : cloud)
  await refuseKeptControlPlanes(client, selected)
  const shared = all ? inventories.filter((inventory) => inventory.cloud === undefined) : []
  const groups = [...selected, ...shared].map(({ cloud: name, namespace, objects }) => ({
    ...(name !== undefined && { cloud: name }),
    ...(namespace !== undefined && { namespace }),
    deleted: objects.filter(({ adopted }) => !adopted),
    kept: objects.filter(({ adopted }) => adopted),
  }))
  io.stdout(output === 'table' ? groups.map(formatRemovals).join('') : await serialiseResult({ groups }, output))
  io.stderr('dry run: nothing was changed\n')
  return 0
}

function formatRemovals({ cloud, deleted, kept }: Removals): string {
  const list = (sign: string, refs: readonly ObjectRef[]): string =>
    refs.map((ref) => `  ${sign} ${ref.kind} ${objectKey(ref)}\n`).join('')
  return `${cloud ?? 'shared'}: ${deleted.length} to delete, ${kept.length} to keep\n${list('-', deleted)}${list('=', kept)}`
}

interface Removals {
  readonly cloud?: string
  readonly deleted: readonly ObjectRef[]
  readonly kept: readonly ObjectRef[]
}

/** A cloud that left the site file can be taken down too, so a namespace is looked up in the cluster. */
async function findClouds({ client }: Connection, options: Options): Promise<readonly string[]> {
  const { cloud = [], namespace } = options
  if (namespace === undefined) return cloud
  const { readInventories } = await import('../../deploy/inventory.ts')
  const deployed = (await readInventories(client)).flatMap((inventory) =>
    inventory.cloud === undefined ? [] : [{ name: inventory.cloud, namespace: inventory.namespace ?? '' }],
  )
  return [...new Set([...cloud, ...selectClouds(deployed, { namespace })])]
}

async function confirm({ cloud = [], all, yes }: Options, io: Io): Promise<void> {
  if (yes) return
  for (const name of all ? ['all'] : cloud) {
    const question = all ? 'Type "all" to take every cloud down' : 'Type the name of the cloud to take down'
    if (!(await confirmByName(question, name, io))) throw failure(nameNotConfirmed, { name }, { exitCode: 1 })
  }
}

async function askAboutDeployments({ client }: Connection, options: Options, io: Io): Promise<boolean> {
  const { selectInventories } = await import('../../deploy/down/down.ts')
  const { readInventories } = await import('../../deploy/inventory.ts')
  const { all, cloud = [] } = options
  const selected = selectInventories(await readInventories(client), all ? 'all' : cloud)
  const refs = selected.flatMap(({ objects }) => objects)
  return askToInterrupt(refs, client, options, io)
}

async function run({ client }: Connection, options: Options, mayInterrupt: boolean, io: Io): Promise<RunReport> {
  const { down } = await import('../../deploy/down/down.ts')
  const { deleteSystemNamespace, waitForSystemNamespace, forgetRecordedClouds } = await import(
    '../../deploy/inventory.ts'
  )
  const { all, cloud = [], deleteData = false } = options
  const report = await runWithLease(client, options, io, async (leased) => {
    const done = await down({ clouds: all ? 'all' : cloud, deleteData, mayInterrupt, ...leased })
    if (done.outcome !== 'done') return done
    // The Lease is in the namespace, so it is deleted last; and still under the Lease, or another run may use it already.
    if (all) await deleteSystemNamespace(leased.client)
    else await forgetRecordedClouds(leased.client, cloud)
    return done
  })
  if (all && report.outcome === 'done') await waitForSystemNamespace(client)
  return report
}

/** Removes clouds that left the site file and are gone from the cluster from the lock file. */
async function freeLock({ cloud = [], file }: Options, io: Io): Promise<void> {
  if (cloud.length === 0 || file === '-' || !existsSync(path.resolve(io.cwd, file))) return
  const { planFromFiles, saveLock } = await import('../planning.ts')
  // A new plan, because the lock file may be older than the removal of the cloud from the site file.
  const { lock } = await planFromFiles({ file }, io)
  const leaving = cloud.filter((name) => lock.clouds[name]?.leaving)
  if (leaving.length > 0) await saveLock(await planFromFiles({ file, forget: leaving }, io), io)
}
