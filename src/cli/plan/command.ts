/** `stackloom plan`: plans every address, name and number of every cloud, checks the plan and writes the lock. */
import path from 'node:path'
import type { Command } from 'commander'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { LedgerEntry } from '../../plan/ledger.ts'
import type { Site } from '../../site/site.ts'
import { type ClusterFlags, gatherSnapshot, withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { selectClouds } from '../deployment.ts'
import { writeOutput } from '../files.ts'
import { type FleetFlags, runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { codeScanningFormats, isCodeScanningFormat } from '../output/code-scanning-formats.ts'
import { countFindings, printFindings } from '../output/findings.ts'
import { outputOption, serialise } from '../output/format.ts'
import { type Planning, type PlanningOptions, planFromFiles, saveLock, withPlanningOptions } from '../planning.ts'
import { repeatable } from '../repeatable.ts'

interface Options extends PlanningOptions, ClusterFlags, FleetFlags {
  readonly live?: boolean
  readonly cloud?: readonly string[]
  readonly check?: boolean
  readonly diff?: boolean
  readonly picture?: string
  readonly topology?: string
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(
    withFleetFlag(withConnectionFlags(withPlanningOptions(command)), ['diff', 'picture', 'topology', 'forget']),
    [
      'stackloom plan                             # plans site.yaml, writes site.lock.yaml',
      'stackloom plan --check --locked            # in a pipeline: is the lock up to date?',
      'stackloom plan --check --locked -o sarif   # the findings for code scanning; -o github for annotations',
      'stackloom plan --diff                      # what would change, and the risk of each change',
      'stackloom plan --cloud rhoso2 -o wide      # one cloud of the plan',
      'stackloom plan --picture plan.svg          # the address map',
      'stackloom plan --topology site.svg         # nodes, NICs, VLANs, bridges, clouds, VIPs',
      'stackloom plan --check --live              # also against what the cluster holds',
      'stackloom plan --check --fleet fleet.yaml  # every site, and the subnets of sites that share routers',
      'stackloom plan --forget rhoso2             # rhoso2 is gone: free its addresses',
    ],
  )
    .option('--cloud <cloud>', 'show only this cloud; all are planned; may be repeated', repeatable)
    .option('--check', 'write nothing; exit 1 if the lock would change')
    .option('--diff', 'write nothing; show what would change in the lock, with the risk of each change')
    .option('--allow-move <owner>', 'allow a cloud, or cloud/network, to move; may be repeated', repeatable)
    .option(
      '--forget <leaving>',
      'free the addresses of a cloud, network or host that is gone; may be repeated',
      repeatable,
    )
    .option('--crd <source>', 'plan for other CRDs: live, a release, or a file or folder with CRDs')
    .option('--live', 'check also against what the cluster holds')
    .option('--picture <file>', 'draw the address map as SVG')
    .option('--topology <file>', 'draw nodes, NICs, segments and clouds: SVG, or Mermaid for a name ending in .mmd')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', 'name', ...codeScanningFormats]))
    .action((options: Options) => act(() => (options.fleet === undefined ? plan(options, io) : planFleet(options, io))))
}

function planFleet(options: Options, io: Io): Promise<ExitCode> {
  if (options.check) return runOrFleet('plan', options, io, plan)
  throw failure(wrongUse, {
    reason: '--fleet needs --check: locks are written site by site',
    command: 'stackloom plan',
  })
}

async function plan(given: Options, io: Io): Promise<ExitCode> {
  // A lock that is not up to date is then a finding, in every format. A site from stdin has none.
  const hasLock = given.file !== '-' || given.lock !== undefined
  const options = { ...given, ...(given.check && hasLock && { locked: true }) }
  for (const option of ['picture', 'topology'] as const) refuseOtherFormat(option, options[option])
  const planning = await planFromFiles(options, io, {
    liveSlots: async () => (await import('../slot-source.ts')).liveSlotTable(options, io),
    ...(options.live && { live: (site) => readLiveEntries(options, site, io) }),
  })
  const shown = selectShown(planning, options)
  io.stdout(await formatPlan(shown, options, io))
  printFindings(planning.findings, io)
  if (options.picture !== undefined) await drawPicture(shown, options.picture, io)
  if (options.topology !== undefined) await drawTopology(shown, options.topology, io)
  const readOnly = options.check || options.diff || options.locked
  const isWritten = !readOnly && (await saveLock(planning, io))
  io.stderr(`${formatTotals(planning)}${isWritten ? '' : ' Nothing was written.'}\n`)
  return hasErrors(planning.findings) ? 1 : 0
}

/** Findings are not selected: a conflict belongs to two clouds. */
function selectShown(planning: Planning, { cloud = [] }: Options): Planning {
  const names = selectClouds(planning.plan.clouds, { cloud })
  if (names.length === 0) return planning
  const clouds = planning.plan.clouds.filter(({ name }) => names.includes(name))
  const changes = planning.changes.filter((change) => names.includes(change.cloud))
  return { ...planning, plan: { ...planning.plan, clouds }, changes }
}

/** `2 clouds, 14 subnets: 1 error, 1 warning.` */
function formatTotals({ plan: { clouds }, findings }: Planning): string {
  const subnets = clouds.flatMap(({ networks }) => networks.flatMap((network) => network.subnets)).length
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  return `${count(clouds.length, 'cloud')}, ${count(subnets, 'subnet')}: ${countFindings(findings)}.`
}

/** What the cluster holds; kinds that cannot be read are reported, and the rest still counts. */
async function readLiveEntries(options: Options, site: Site, io: Io): Promise<readonly LedgerEntry[]> {
  const { liveEntries, liveKinds } = await import('../../plan/live-entries.ts')
  const { snapshot, findings } = await gatherSnapshot(options, liveKinds, io)
  printFindings(findings, io)
  return liveEntries(snapshot, site)
}

async function formatPlan(planning: Planning, { output, diff }: Options, io: Io): Promise<string> {
  const { plan, changes, findings } = planning
  if (isCodeScanningFormat(output)) {
    return (await import('../output/review-findings.ts')).formatForReview(findings, output)
  }
  if (output === 'json' || output === 'yaml') {
    if (diff) return serialise({ changes, findings: plan.findings }, output)
    const { planJson } = await import('../../plan/plan.ts')
    return serialise(planJson(plan), output)
  }
  const { changeTable, planTable } = await import('./table.ts')
  const colour = io.colour.stdout
  if (diff) return changeTable(changes, colour)
  if (output === 'name') {
    return plan.clouds
      .map(({ name, networks }) => networks.map((network) => `${name}/${network.name}\n`).join(''))
      .join('')
  }
  return planTable(plan, { wide: output === 'wide', columns: io.columns, colour })
}

/** Before anything is planned or written. */
function refuseOtherFormat(option: 'picture' | 'topology', file: string | undefined): void {
  const formats = option === 'picture' ? ['.svg'] : ['.svg', '.mmd']
  if (file === undefined || formats.includes(path.extname(file).toLowerCase())) return
  const reason = `--${option} ${file}: the name must end in ${formats.join(' or ')}; other programs convert SVG, such as rsvg-convert`
  throw failure(wrongUse, { reason, command: 'stackloom plan' })
}

async function drawTopology({ plan }: Planning, file: string, io: Io): Promise<void> {
  const topology = await import('../../plan/topology.ts')
  const isMermaid = path.extname(file).toLowerCase() === '.mmd'
  const text = isMermaid ? topology.mermaidTopology(plan) : topology.drawTopology(plan)
  await writeOutput(file, text, io, { replace: true })
  io.stderr(`${file} is drawn\n`)
}

async function drawPicture({ plan }: Planning, file: string, io: Io): Promise<void> {
  const { drawPlan } = await import('../../plan/picture.ts')
  await writeOutput(file, drawPlan(plan), io, { replace: true })
  io.stderr(`${file} is drawn\n`)
}
