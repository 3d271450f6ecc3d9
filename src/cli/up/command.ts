/** Defines `stackloom up`: deploys the site in stages; the same command resumes. */
import type { Command } from 'commander'
import pc from 'picocolors'
import { lockMismatch, needsConsent } from '../../deploy/findings/up.ts'
import type { SiteChanges } from '../../deploy/site-changes.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { RunReport } from '../../run/engine.ts'
import type { ClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import {
  type Deployment,
  parseSelection,
  type SelectionFlags,
  silentContext,
  withDeployment,
  withSelectionFlags,
} from '../deployment.ts'
import { timeoutOption } from '../duration.ts'
import { askToInterrupt } from '../interruption.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { printFindings } from '../output/findings.ts'
import {
  type EventFormat,
  eventsOption,
  type Format,
  outputOption,
  serialise,
  serialiseResult,
} from '../output/format.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'
import { type PlanningOptions, saveLock, withPlanningOptions } from '../planning.ts'
import { askYesNo } from '../questions.ts'
import { repeatable } from '../repeatable.ts'

interface Options extends PlanningOptions, ClusterFlags, SelectionFlags {
  readonly yes?: boolean
  readonly prune?: boolean
  readonly forceConflicts?: boolean
  readonly configureCluster?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withSelectionFlags(withPlanningOptions(command)), [
    'stackloom up                               # deploys site.yaml; run it again to resume',
    'stackloom up --cloud rhoso2                # one cloud, and what the clouds share',
    'stackloom up --until netattach             # networks only',
    'stackloom up --dry-run                     # what would change, asked of the API server',
    'stackloom up --yes --timeout 90m           # stops safely; the same command continues',
    'stackloom up --yes --events jsonl          # in a pipeline',
  ])
    .option('-y, --yes', 'agree to changes with a risk in advance')
    .option('--allow-move <owner>', 'allow a cloud, or cloud/network, to move; may be repeated', repeatable)
    .option('--prune', 'delete objects of Stackloom that left the site file')
    .option('--force-conflicts', 'take over fields that other managers have set')
    .option('--configure-cluster', 'change cluster-wide settings that the site needs (gateway, DNS)')
    .option('--dry-run', 'show what would happen and change nothing')
    .addOption(timeoutOption())
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => run(deployment, options, io))))
}

async function run(deployment: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { planning, documents, connection, view } = deployment
  const { plan, lock } = planning
  const { client } = connection
  const { diffSite, rejectUnfit } = await import('../../deploy/site-changes.ts')
  const { up } = await import('../../deploy/up.ts')
  const { discoverHosts } = await import('../../deploy/stages/data-plane-stage.ts')
  const selection = parseSelection(plan.clouds, options)
  const changes = await diffSite({ client, view, plan, documents }, silentContext(io), selection)
  rejectUnfit(changes)
  await rejectLockConflicts(deployment, changes, options)
  if (options.dryRun) return showChanges(changes, deployment, options, io)
  await rejectRefusedUpdates(changes, deployment, options, io)
  const { mayConfigureCluster } = await askConsent(changes, options, io)
  const leaving = options.prune ? changes.leftovers.map(({ ref }) => ref) : []
  const mayInterrupt = await askToInterrupt(leaving, client, options, io)
  await saveLock(planning, io)
  const report = await runWithLease(client, options, io, ({ guard, ...leased }) =>
    up({
      ...leased,
      view,
      plan,
      documents,
      selection,
      what: `up ${options.file}`,
      discoverHosts: discoverHosts(connection, guard),
      lock,
      force: options.forceConflicts ?? false,
      mayConfigureCluster,
      mayInterrupt,
      ...(options.prune && { prune: changes.leftovers }),
    }),
  )
  const failedClouds = report.stages.flatMap(({ cloud, outcome }) => (outcome === 'failed' && cloud ? [cloud] : []))
  const namespaces = plan.clouds.filter(({ name }) => failedClouds.includes(name)).map(({ namespace }) => namespace)
  if (namespaces.length > 0) {
    const { keepFailures } = await import('../hosts/keep-failures.ts')
    await keepFailures(connection, namespaces, io.stop)
  }
  io.stdout(
    options.output === 'table'
      ? formatUpSummary(report, plan, { columns: io.columns, colour: io.colour.stdout })
      : await serialiseResult(upJson(report, plan), options.output, [...planning.findings, ...changes.findings]),
  )
  return runExitCode(report, io)
}

/** As `diff`, but differences are what `up` is for: only what the server refuses is a failure. */
async function showChanges(
  changes: SiteChanges,
  { connection }: Deployment,
  { forceConflicts = false, output }: Options,
  io: Io,
): Promise<ExitCode> {
  const { dryRun } = await import('../../deploy/site-changes.ts')
  const { changesJson, formatChanges } = await import('../output/changes.ts')
  const result = await dryRun(changes, connection.client, { force: forceConflicts, signal: io.stop })
  const { findings, refusals } = result
  io.stdout(
    output === 'table'
      ? formatChanges(result, { columns: io.columns, colour: io.colour.stdout, brief: false })
      : await serialise({ ...(changesJson(result) as object), refusals }, output),
  )
  printFindings([...findings, ...refusals], io)
  io.stderr('dry run: nothing was changed\n')
  return refusals.length > 0 ? 1 : 0
}

/** An update that the operators refuse stops the run before its first write, not in the middle. */
async function rejectRefusedUpdates(
  { documents }: SiteChanges,
  { connection }: Deployment,
  { forceConflicts = false }: Options,
  io: Io,
): Promise<void> {
  const { findRefusedUpdates } = await import('../../deploy/refused-updates.ts')
  const refused = await findRefusedUpdates(documents, connection.client, { force: forceConflicts, signal: io.stop })
  if (refused.length > 0) throw new Failure(refused, 1)
}

/** Shows what would change, and asks before a change with a risk. */
async function askConsent(
  changes: SiteChanges,
  { yes, configureCluster }: Options,
  io: Io,
): Promise<{ readonly mayConfigureCluster: boolean }> {
  const { changedDocuments, riskyChanges } = await import('../../deploy/site-changes.ts')
  const { formatChanges } = await import('../output/changes.ts')
  if (changedDocuments(changes).length > 0 || changes.settings.length > 0)
    io.stderr(formatChanges(changes, { columns: io.columns, colour: io.colour.stderr, brief: true }))
  const risky = riskyChanges(changes)
  if (risky.length > 0 && !yes) {
    const risks = [...new Set(risky.map(({ risk }) => risk))].join(', ')
    const isAgreed = await askYesNo(`${risky.length} changes have a risk (${risks}). Go on?`, io)
    if (!isAgreed) throw failure(needsConsent, { many: risky.length, risks }, { exitCode: 1 })
  }
  if (changes.settings.length === 0 || configureCluster) return { mayConfigureCluster: configureCluster ?? false }
  const settings = changes.settings.map(({ what }) => what).join('; ')
  return { mayConfigureCluster: await askYesNo(`Change the cluster's settings (${settings})?`, io) }
}

/** The cluster records the lock that it was deployed with; another lock must not move addresses of running clouds. */
async function rejectLockConflicts(
  { planning }: Deployment,
  { inventories }: SiteChanges,
  { allowMove = [] }: Options,
): Promise<void> {
  const { findLockConflicts, parseRecordedLock } = await import('../../deploy/inventory.ts')
  const recorded = parseRecordedLock(inventories.find(({ cloud }) => cloud === undefined)?.lock)
  const moved = recorded ? findLockConflicts(recorded, planning.lock, allowMove) : []
  if (moved.length > 0) throw failure(lockMismatch, { moved }, { exitCode: 1 })
}

/** Formats the outcome of each stage, and for each deployed cloud its VIPs and how to access it. */
function formatUpSummary(
  report: RunReport,
  plan: Plan,
  terminal: { readonly columns: number; readonly colour: boolean },
): string {
  const { bold, dim } = pc.createColors(terminal.colour)
  const deployed = plan.clouds.filter(({ name }) => isDeployed(report, name))
  const clouds = deployed.map((cloud) => {
    const rows = vipRows(cloud).map(({ network, address, slots }) => [`  ${network}`, address, slots.join(' ')])
    const table = formatTable(['  NETWORK', 'VIP', 'FOR'], rows, terminal.columns, terminal.colour)
    const access = `  ${dim(`stackloom access --cloud ${cloud.name}`)}`
    return `\n${bold(cloud.name)} in namespace ${cloud.namespace}\n${table}${access}\n`
  })
  const resume = report.outcome === 'done' ? '' : 'run the same command again to resume: finished stages are skipped\n'
  const empty = plan.clouds.length === 0 ? 'the site has no clouds\n' : ''
  return `${formatSummary(report, terminal)}${clouds.join('')}${resume}${empty}`
}

function isDeployed({ stages }: RunReport, cloud: string): boolean {
  const controlPlane = stages.filter((stage) => stage.cloud === cloud && stage.name === 'control-plane')
  return controlPlane.some(({ outcome }) => outcome === 'done' || outcome === 'skipped')
}

interface VipRow {
  readonly network: string
  readonly address: string
  readonly slots: readonly string[]
}

function vipRows(cloud: PlannedCloud): readonly VipRow[] {
  return cloud.networks.flatMap(({ name: network, vips }) => {
    const addresses = [...new Set(vips.map(({ address }) => address))]
    return addresses.map((address) => ({
      network,
      address,
      slots: vips.filter((vip) => vip.address === address).map(({ slot }) => slot),
    }))
  })
}

function upJson({ outcome, ms, stages }: RunReport, plan: Plan): object {
  const clouds = plan.clouds.map((cloud) => ({ name: cloud.name, namespace: cloud.namespace, vips: vipRows(cloud) }))
  return { outcome, ms, stages, clouds }
}
