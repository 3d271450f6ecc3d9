/** Defines `stackloom adopt`: moves a cloud that another tool deployed to pools of its own; every address stays. */
import type { Command } from 'commander'
import type { Adoption } from '../../deploy/adopt/adoption.ts'
import { adoptionNeedsConsent } from '../../deploy/findings/adopt.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { ClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import { type Deployment, selectOneCloud, silentContext, withDeployment, withOneCloudFlag } from '../deployment.ts'
import { timeoutOption } from '../duration.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import { type EventFormat, eventsOption, type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { type PlanningOptions, saveLock, withPlanningOptions } from '../planning.ts'
import { confirmByName } from '../questions.ts'
import { adoptionJson, formatAdoption, formatGaps } from './format-adoption.ts'

interface Options extends PlanningOptions, ClusterFlags {
  readonly cloud?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withOneCloudFlag(withPlanningOptions(command), 'adopt this cloud'), [
    'stackloom adopt --cloud rhoso1             # shows the move, then asks for the name of the cloud',
    'stackloom adopt --cloud rhoso1 --dry-run   # shows the move',
    'stackloom adopt --cloud rhoso1 --yes       # in a pipeline; the same command resumes after any end',
  ])
    .option('-y, --yes', 'agree to the move in advance')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => run(deployment, options, io))))
}

async function run({ planning, connection, view }: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { plan } = planning
  const { client } = connection
  const cloud = selectOneCloud(plan.clouds, options, 'stackloom adopt')
  const { adopt, inspectCloud } = await import('../../deploy/adopt/adopt.ts')
  const { isAdopted } = await import('../../deploy/adopt/adoption.ts')
  const adoption = await inspectCloud({ view, plan, cloud }, silentContext(io))
  const { findings } = adoption
  if (hasErrors(findings)) throw new Failure(findings, 1)
  printFindings(findings, io)
  if (isAdopted(adoption)) {
    io.stderr(`${cloud.name} is as planned: there is nothing to move\n`)
    if (options.output !== 'table') io.stdout(await serialiseResult(adoptionJson(adoption), options.output, findings))
    return 0
  }
  if (options.dryRun) {
    const { output } = options
    io.stdout(
      output === 'table'
        ? formatAdoption(adoption, io.columns, io.colour.stdout)
        : await serialiseResult(adoptionJson(adoption), output, findings),
    )
    io.stderr('dry run: nothing was changed\n')
    return 0
  }
  io.stderr(formatAdoption(adoption, io.columns, io.colour.stderr))
  await askConsent(adoption, options, io)
  await saveLock(planning, io)
  const { report, gaps } = await runWithLease(client, options, io, (leased) => adopt({ view, plan, cloud, ...leased }))
  const terminal = { columns: io.columns, colour: io.colour.stdout }
  io.stdout(
    options.output === 'table'
      ? `${formatSummary(report, terminal)}${formatGaps(gaps)}`
      : await serialiseResult({ ...adoptionJson(adoption, gaps), outcome: report.outcome }, options.output, findings),
  )
  return runExitCode(report, io)
}

async function askConsent(adoption: Adoption, { yes }: Options, io: Io): Promise<void> {
  if (yes) return
  const { interruptedNetworks } = await import('../../deploy/adopt/adoption.ts')
  const { cloud } = adoption
  if (await confirmByName('Type the name of the cloud to move it', cloud, io)) return
  const networks = interruptedNetworks(adoption).map(({ network }) => network)
  throw failure(adoptionNeedsConsent, { cloud, networks }, { exitCode: 1 })
}
