/** `stackloom up`: deploys the site, stage after stage; the same command resumes. */
import type { Command } from 'commander'
import type { SiteChanges } from '../../deploy/site-changes.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { RunReport } from '../../run/engine.ts'
import { lockMismatch, needsConsent } from '../../run/findings.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, runExitCode, withExamples } from '../command.ts'
import {
  collect,
  type Deployment,
  parseSelection,
  type SelectionFlags,
  silentContext,
  withDeployment,
  withSelectionFlags,
} from '../deployment.ts'
import type { Io } from '../io.ts'
import { runWithLease } from '../leased-run.ts'
import { type EventFormat, eventsOption, type Format, outputOption, serialise } from '../output/format.ts'
import { type PlanningOptions, saveLock, withPlanningOptions } from '../planning.ts'
import { askYesNo } from '../questions.ts'
import { formatUpSummary, upJson } from './summary.ts'

interface Options extends PlanningOptions, ClusterFlags, SelectionFlags {
  readonly yes?: boolean
  readonly prune?: boolean
  readonly forceConflicts?: boolean
  readonly configureCluster?: boolean
  readonly events: EventFormat
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withSelectionFlags(withClusterFlags(withPlanningOptions(command))), [
    'stackloom up                               # deploys site.yaml; run it again to resume',
    'stackloom up --cloud rhoso2                # one cloud, and what the clouds share',
    'stackloom up --until netattach             # networks only',
    'stackloom up --yes --events jsonl          # in a pipeline',
  ])
    .option('-y, --yes', 'agree to changes with a risk beforehand')
    .option('--allow-move <name>', 'a cloud, or cloud/network, that may move; may be repeated', collect)
    .option('--prune', 'remove objects of ours that left the site file')
    .option('--force-conflicts', 'take fields that other managers have set')
    .option('--configure-cluster', 'change cluster-wide settings that the site needs (gateway, DNS)')
    .addOption(eventsOption())
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => withDeployment(options, io, (deployment) => run(deployment, options, io))))
}

async function run(deployment: Deployment, options: Options, io: Io): Promise<ExitCode> {
  const { planning, connection, lookout, site } = deployment
  const { client } = connection
  const { diffSite, rejectUnfit } = await import('../../deploy/site-changes.ts')
  const { up } = await import('../../deploy/up.ts')
  const { discoverHosts } = await import('../../deploy/discover-hosts.ts')
  const selection = parseSelection(options)
  const changes = await diffSite(site, { client, lookout }, silentContext(io), selection)
  rejectUnfit(changes)
  await refuseContradiction(deployment, changes, options)
  const consent = await agree(changes, options, io)
  await saveLock(planning, io)
  const report = await runWithLease(client, options.events, io, (leased) =>
    up({
      ...leased,
      client,
      lookout,
      site,
      selection,
      what: `up ${options.file}`,
      discoverHosts: discoverHosts(connection),
      lock: planning.lock,
      force: options.forceConflicts ?? false,
      mayConfigureCluster: consent.configure,
      ...(options.prune && { prune: changes.leftovers }),
    }),
  )
  await tell(report, deployment, options, io)
  return runExitCode(report, io)
}

async function tell(report: RunReport, { planning, site }: Deployment, options: Options, io: Io): Promise<void> {
  if (options.output !== 'table') io.stdout(await serialise(upJson(report, planning.plan), options.output))
  else io.stdout(formatUpSummary(report, planning.plan, site, { columns: io.columns, colour: io.colour.stdout }))
}

/** Shows what would change, and asks where it costs something. */
async function agree(
  changes: SiteChanges,
  { yes, configureCluster }: Options,
  io: Io,
): Promise<{ readonly configure: boolean }> {
  const { changedDocuments, riskyChanges } = await import('../../deploy/site-changes.ts')
  const { formatChanges } = await import('../output/changes.ts')
  if (changedDocuments(changes).length > 0 || changes.settings.length > 0)
    io.stderr(formatChanges(changes, { columns: io.columns, colour: io.colour.stderr, brief: true }))
  const risks = riskyChanges(changes)
  if (risks.length > 0 && !yes) {
    const kinds = [...new Set(risks.map(({ risk }) => risk))].join(', ')
    const answer = await askYesNo(`${risks.length} changes have a risk (${kinds}). Go on?`, io)
    if (!answer) throw failure(needsConsent, { many: risks.length, risks: kinds }, { exitCode: 1 })
  }
  if (changes.settings.length === 0 || configureCluster) return { configure: configureCluster ?? false }
  const what = changes.settings.map((setting) => setting.what).join('; ')
  return { configure: await askYesNo(`Change the cluster's settings (${what})?`, io) }
}

/** What the cluster has on record was deployed by somebody's lock: another lock that moves it is not to be followed. */
async function refuseContradiction(
  { planning }: Deployment,
  { inventories }: SiteChanges,
  { allowMove = [] }: Options,
): Promise<void> {
  const { parseRecordedLock, findLockConflicts } = await import('../../deploy/recorded-lock.ts')
  const lock = parseRecordedLock(inventories.find(({ cloud }) => cloud === undefined)?.lock)
  const moved = lock ? findLockConflicts(lock, planning.lock, allowMove) : []
  if (moved.length > 0) throw failure(lockMismatch, { moved }, { exitCode: 1 })
}
