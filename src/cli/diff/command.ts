/** `stackloom diff`: what `up` would change on the cluster, by server-side dry run. Exit 1 when there is something. */
import type { Command } from 'commander'
import type { ExitCode } from '../../errors/failure.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { collect, type Deployment, silentContext, withDeployment } from '../deployment.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { type PlanningOptions, withPlanningOptions } from '../planning.ts'

interface Options extends PlanningOptions, ClusterFlags {
  readonly cloud?: readonly string[]
  readonly forceConflicts?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withClusterFlags(withPlanningOptions(command)), [
    'stackloom diff -f site.yaml                # 0: nothing, 1: differences, 2: cannot tell',
    'stackloom diff --cloud rhoso2 -o json',
  ])
    .option('--cloud <name>', 'only this cloud, and what the clouds share; may be repeated', collect)
    .option('--force-conflicts', 'as if fields of other managers were taken')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => diff(deployment, options, io))))
}

async function diff({ site, connection, lookout }: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { diffSite, changedDocuments } = await import('../../deploy/site-changes.ts')
  const { dryRun } = await import('../../deploy/dry-run.ts')
  const { formatChanges, changesJson } = await import('../output/changes.ts')
  const { client } = connection
  const selection = { clouds: options.cloud ?? [] }
  const changes = await diffSite(site, { client, lookout }, silentContext(io), selection)
  const told = await dryRun(changes, client, { force: options.forceConflicts ?? false, signal: io.stop })
  if (options.output === 'table')
    io.stdout(formatChanges(told, { columns: io.columns, colour: io.colour.stdout, brief: false }))
  else io.stdout(await serialise({ ...(changesJson(told) as object), refusals: told.refusals }, options.output))
  io.stderr(formatFindings([...told.findings, ...told.refusals], io.colour.stderr))
  const many = changedDocuments(told).length + told.settings.length + told.leftovers.length
  return many === 0 && told.refusals.length === 0 ? 0 : 1
}
