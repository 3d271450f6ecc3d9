/** `stackloom adopt`: moves a cloud that other tools have deployed to pools of its own; every address stays. */
import type { Command } from 'commander'
import type { AdoptReport } from '../../deploy/adopt/adopt.ts'
import type { Adoption } from '../../deploy/adopt/adoption.ts'
import { adoptionNeedsConsent } from '../../deploy/findings/adopt.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import { type Deployment, findCloud, silentContext, withDeployment } from '../deployment.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { formatFindings } from '../output/findings.ts'
import { type EventFormat, eventsOption, type Format, outputOption, serialise } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { type PlanningOptions, saveLock, withPlanningOptions } from '../planning.ts'
import { confirmByName } from '../questions.ts'
import { adoptionJson, formatAdoption, formatGaps } from './show.ts'

interface Options extends PlanningOptions, ClusterFlags {
  readonly cloud: string
  readonly yes?: boolean
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withClusterFlags(withPlanningOptions(command)), [
    'stackloom adopt --cloud rhoso1             # shows the move, then asks for the name of the cloud',
    'stackloom adopt --cloud rhoso1 --yes       # in a pipeline; the same command goes on after any end',
  ])
    .requiredOption('--cloud <name>', 'the cloud to adopt')
    .option('-y, --yes', 'agree to the move beforehand')
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => run(deployment, options, io))))
}

async function run(deployment: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { planning, lookout } = deployment
  const { plan } = planning
  const cloud = findCloud(plan.clouds, options.cloud)
  const { inspectCloud } = await import('../../deploy/adopt/adopt.ts')
  const { isAdopted } = await import('../../deploy/adopt/adoption.ts')
  const before = await inspectCloud({ lookout, plan, cloud }, silentContext(io))
  const { findings } = before
  if (hasErrors(findings)) throw new Failure(findings, 1)
  io.stderr(formatFindings(findings, io.colour.stderr))
  if (isAdopted(before)) {
    io.stderr(`${cloud.name} is as planned: there is nothing to move\n`)
    if (options.output !== 'table') io.stdout(await serialise(adoptionJson(before), options.output))
    return 0
  }
  io.stderr(formatAdoption(before, io.columns))
  await agree(before, options, io)
  await saveLock(planning, io)
  const { report, gaps } = await move(deployment, cloud, options, io)
  const look = { columns: io.columns, colour: io.colour.stdout }
  if (options.output === 'table') io.stdout(`${formatSummary(report, look)}${formatGaps(gaps)}`)
  else io.stdout(await serialise({ ...adoptionJson(before, gaps), outcome: report.outcome }, options.output))
  return runExitCode(report, io)
}

async function agree(adoption: Adoption, { yes }: Options, io: Io): Promise<void> {
  if (yes) return
  const { interruptedNetworks } = await import('../../deploy/adopt/adoption.ts')
  const { cloud } = adoption
  if (await confirmByName('Type the name of the cloud to move it', cloud, io)) return
  const networks = interruptedNetworks(adoption).map(({ network }) => network)
  throw failure(adoptionNeedsConsent, { cloud, networks }, { exitCode: 1 })
}

async function move(
  { planning, connection, lookout }: Deployment,
  cloud: PlannedCloud,
  { events }: Options,
  io: Io,
): Promise<AdoptReport> {
  const { client } = connection
  const { plan } = planning
  const { adopt } = await import('../../deploy/adopt/adopt.ts')
  return runWithLease(client, events, io, (run) => adopt({ client, lookout, plan, cloud, ...run }))
}
