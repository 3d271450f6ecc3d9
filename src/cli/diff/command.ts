/** Defines `stackloom diff`: shows what `up` would change, by server-side dry run. Exits with 1 for differences. */
import type { Command } from 'commander'
import type { ExitCode } from '../../errors/failure.ts'
import type { ClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import {
  type CloudFlags,
  type Deployment,
  selectClouds,
  silentContext,
  withCloudFlags,
  withDeployment,
} from '../deployment.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { type PlanningOptions, withPlanningOptions } from '../planning.ts'

interface Options extends PlanningOptions, ClusterFlags, CloudFlags {
  readonly forceConflicts?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withCloudFlags(withPlanningOptions(command), 'limit to this cloud and what the clouds share'), [
    'stackloom diff -f site.yaml                # exits with 0: nothing, 1: differences, 2: cannot tell',
    'stackloom diff --cloud rhoso2 -o json',
  ])
    .option('--force-conflicts', 'compare as if fields of other managers were taken over')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => diff(deployment, options, io))))
}

async function diff(deployment: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { planning, documents, connection, view } = deployment
  const { diffSite, changedDocuments, dryRun } = await import('../../deploy/site-changes.ts')
  const { formatChanges, changesJson } = await import('../output/changes.ts')
  const { client } = connection
  const deps = { client, view, plan: planning.plan, documents }
  const changes = await diffSite(deps, silentContext(io), { clouds: selectClouds(planning.plan.clouds, options) })
  const result = await dryRun(changes, client, { force: options.forceConflicts ?? false, signal: io.stop })
  const { settings, leftovers, findings, refusals } = result
  io.stdout(
    options.output === 'table'
      ? formatChanges(result, { columns: io.columns, colour: io.colour.stdout, brief: false })
      : await serialise({ ...(changesJson(result) as object), refusals }, options.output),
  )
  printFindings([...findings, ...refusals], io)
  const isEmpty = [changedDocuments(result), settings, leftovers, refusals].every((list) => list.length === 0)
  return isEmpty ? 0 : 1
}
