/** `stackloom update`: brings one cloud to another version of OpenStack, in upstream's order. */
import type { Command } from 'commander'
import { updateNeedsConsent } from '../../deploy/findings/update.ts'
import type { UpdateOptions } from '../../deploy/update/update.ts'
import type { UpdatePlan } from '../../deploy/update/update-plan.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { RunReport } from '../../run/engine.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import { type Deployment, findCloud, silentContext, withDeployment } from '../deployment.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { formatFindings } from '../output/findings.ts'
import { type EventFormat, eventsOption, type Format, outputOption, serialise } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { type PlanningOptions, withPlanningOptions } from '../planning.ts'
import { confirmByName } from '../questions.ts'

interface Options extends PlanningOptions, ClusterFlags {
  readonly cloud: string
  readonly to?: string
  readonly yes?: boolean
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withClusterFlags(withPlanningOptions(command)), [
    'stackloom update --cloud rhoso1            # shows the versions, then asks for the name of the cloud',
    'stackloom update --cloud rhoso1 --to 0.7.0 --yes',
  ])
    .requiredOption('--cloud <name>', 'the cloud to update; no other is touched')
    .option('--to <version>', "the version (default: the site file's, or the newest that the operator has)")
    .option('-y, --yes', 'agree to the update beforehand')
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => run(deployment, options, io))))
}

async function run(deployment: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { planning, lookout } = deployment
  const cloud = findCloud(planning.plan.clouds, options.cloud)
  const { planUpdate, updateKinds, isUpdated } = await import('../../deploy/update/update-plan.ts')
  await lookout.watch(updateKinds, silentContext(io))
  const { name, namespace, from } = cloud
  const { version: written } = from.file
  const wish = { cloud: name, namespace, ...(options.to && { to: options.to }), ...(written && { written }) }
  const plan = planUpdate(wish, lookout.index())
  const { version, wanted } = plan
  if (hasErrors(plan.findings) || !version || wanted === undefined) throw new Failure(plan.findings, 1)
  io.stderr(formatFindings(plan.findings, io.colour.stderr))
  if (isUpdated(plan)) {
    io.stdout(options.output === 'table' ? versions(plan, io.columns) : await serialise(planJson(plan), options.output))
    return 0
  }
  io.stderr(versions(plan, io.columns))
  if (!options.yes && !(await confirmByName('Type the name of the cloud to update it', name, io)))
    throw failure(updateNeedsConsent, { cloud: name, from: plan.deployed ?? 'nothing', to: wanted }, { exitCode: 1 })
  const report = await work(deployment, { ...plan, version, wanted }, options, io)
  const look = { columns: io.columns, colour: io.colour.stdout }
  if (options.output === 'table') io.stdout(formatSummary(report, look))
  else io.stdout(await serialise({ ...planJson(plan), outcome: report.outcome, stages: report.stages }, options.output))
  return runExitCode(report, io)
}

async function work(
  { planning, connection, lookout }: Deployment,
  plan: UpdateOptions['plan'],
  { events }: Options,
  io: Io,
): Promise<RunReport> {
  const { client } = connection
  const { site } = planning.plan
  const { update } = await import('../../deploy/update/update.ts')
  return runWithLease(client, events, io, (run) => update({ client, lookout, site, plan, ...run }))
}

function versions({ cloud, available, target, deployed, wanted }: UpdatePlan, columns: number): string {
  const row = [cloud, deployed ?? '-', target ?? '-', available ?? '-', wanted ?? '-']
  return formatTable(['CLOUD', 'DEPLOYED', 'TARGET', 'AVAILABLE', 'WANTED'], [row], columns)
}

function planJson({ cloud, namespace, available, target, deployed, wanted, nodeSets, findings }: UpdatePlan): object {
  return { cloud, namespace, deployed, target, available, wanted, nodeSets, findings }
}
