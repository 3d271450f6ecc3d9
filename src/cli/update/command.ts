/** Defines `stackloom update`: updates one cloud to another version of OpenStack, in upstream's order. */
import { type Command, Option } from 'commander'
import { updateNeedsConsent } from '../../deploy/findings/update.ts'
import { lastTransition, type UpdatePlan } from '../../deploy/update/update-plan.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { ClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import { type Deployment, selectOneCloud, silentContext, withDeployment, withOneCloudFlag } from '../deployment.ts'
import { readDuration, timeoutOption } from '../duration.ts'
import { type FleetFlags, withFleetFlag } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, eventsOption, outputOption, serialise } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { type PlanningOptions, withPlanningOptions } from '../planning.ts'
import { confirmByName } from '../questions.ts'

export interface UpdateOptions extends PlanningOptions, ClusterFlags, FleetFlags {
  readonly pause?: number
  readonly checkTimeout: number
  readonly cloud?: string
  readonly to?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
}

export function define(command: Command, { io, act }: CommandContext): void {
  const described = withOneCloudFlag(withPlanningOptions(command), 'update this cloud and no other')
  withExamples(withFleetFlag(described), [
    'stackloom update --cloud rhoso1            # shows the versions, then asks for the name of the cloud',
    'stackloom update --cloud rhoso1 --dry-run  # shows the versions',
    'stackloom update --cloud rhoso1 --to 0.7.0 --yes',
    'stackloom update --fleet fleet.yaml --to 0.7.0   # canaries first; verify and doctor before the next cloud',
  ])
    .option('--to <version>', "go to this version (default: the site file's, or the newest of the operator)")
    .option('-y, --yes', 'agree to the update in advance')
    .option('--dry-run', 'show what would happen and change nothing')
    .option(
      '--pause <duration>',
      "with --fleet: run canaries this long first (default: the fleet file's)",
      readDuration,
    )
    .addOption(
      new Option('--check-timeout <duration>', 'with --fleet: how long verify and doctor may take to become clean')
        .argParser(readDuration)
        .default(120_000, '2m'),
    )
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: UpdateOptions) =>
      act(async () => {
        if (options.fleet === undefined) return updateCloud(options, io)
        const { updateFleet } = await import('./update-fleet.ts')
        return updateFleet(options, io, { plan: planClouds, update: updateCloud })
      }),
    )
}

function updateCloud(options: UpdateOptions, io: Io): Promise<ExitCode> {
  return withDeployment(options, io, (deployment) => run(deployment, options, io))
}

/** Prints the versions of every cloud of the site, or of the selected one, as JSON. */
function planClouds(options: UpdateOptions, io: Io): Promise<ExitCode> {
  return withDeployment(options, io, async ({ planning, view }) => {
    const { planUpdate, updateKinds } = await import('../../deploy/update/update-plan.ts')
    await view.watch(updateKinds, silentContext(io))
    const { clouds } = planning.plan
    const { cloud, namespace, to } = options
    const all = cloud === undefined && namespace === undefined
    const selected = all ? clouds : [selectOneCloud(clouds, options, 'stackloom update')]
    const plans = selected.map(({ name, from, ...planned }) => {
      const { version: written } = from.file
      const request = { cloud: name, namespace: planned.namespace, ...(to && { to }), ...(written && { written }) }
      return planUpdate(request, view.index())
    })
    const findings = plans.flatMap((plan) => plan.findings)
    io.stdout(await serialise({ clouds: plans.map(planJson), findings }, 'json'))
    return hasErrors(findings) ? 1 : 0
  })
}

async function run({ planning, connection, view }: Deployment, options: UpdateOptions, io: Io): Promise<ExitCode> {
  const { planUpdate, updateKinds, isUpdated } = await import('../../deploy/update/update-plan.ts')
  const { update } = await import('../../deploy/update/update.ts')
  const { name, namespace, from } = selectOneCloud(planning.plan.clouds, options, 'stackloom update')
  const { version: written } = from.file
  const { to, output } = options
  await view.watch(updateKinds, silentContext(io))
  const request = { cloud: name, namespace, ...(to && { to }), ...(written && { written }) }
  const plan = planUpdate(request, view.index())
  const { version, wanted, findings } = plan
  if (hasErrors(findings) || !version || wanted === undefined) throw new Failure(findings, 1)
  printFindings(findings, io)
  if (isUpdated(plan) || options.dryRun) {
    if (options.dryRun) io.stderr('dry run: nothing was changed\n')
    io.stdout(
      output === 'table' ? formatVersions(plan, io.columns, io.colour.stdout) : await serialise(planJson(plan), output),
    )
    return 0
  }
  io.stderr(formatVersions(plan, io.columns, io.colour.stderr))
  if (!options.yes && !(await confirmByName('Type the name of the cloud to update it', name, io))) {
    const facts = { cloud: name, from: plan.deployed ?? 'nothing', to: wanted }
    throw failure(updateNeedsConsent, facts, { exitCode: 1 })
  }
  const { client } = connection
  const { site } = planning.plan
  const report = await runWithLease(client, options, io, (leased) =>
    update({ view, site, plan: { ...plan, version, wanted }, ...leased }),
  )
  if (report.outcome === 'failed') {
    const { keepFailures } = await import('../hosts/keep-failures.ts')
    await keepFailures(connection, [plan.namespace], io.stop)
  }
  const { outcome, stages } = report
  const terminal = { columns: io.columns, colour: io.colour.stdout }
  io.stdout(
    output === 'table'
      ? formatSummary(report, terminal)
      : await serialise({ ...planJson(plan), outcome, stages }, output),
  )
  return runExitCode(report, io)
}

function formatVersions(
  { cloud, available, target, deployed, wanted }: UpdatePlan,
  columns: number,
  colour: boolean,
): string {
  const row = [cloud, deployed ?? '-', target ?? '-', available ?? '-', wanted ?? '-']
  return formatTable(['CLOUD', 'DEPLOYED', 'TARGET', 'AVAILABLE', 'REQUESTED'], [row], columns, colour)
}

function planJson(plan: UpdatePlan): object {
  const { cloud, namespace, available, target, deployed, wanted, nodeSets, findings } = plan
  return { cloud, namespace, deployed, target, available, wanted, since: lastTransition(plan), nodeSets, findings }
}
