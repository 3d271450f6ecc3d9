/** Defines `stackloom status`: shows the state of deployed clouds, by default only what is not ready. */
import type { Command } from 'commander'
import pc from 'picocolors'
import { systemClock } from '../../clock/clock.ts'
import type { GroupStatus, ObjectStatus } from '../../deploy/deployment-status.ts'
import { nothingDeployed } from '../../deploy/findings/down.ts'
import type { Inventory } from '../../deploy/inventory.ts'
import { aimCommand, readTarget } from '../../errors/command-target.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Readiness } from '../../verify/readiness/verdict.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type CloudFlags, type NamedCloud, selectClouds, withCloudFlags } from '../deployment.ts'
import { type FleetFlags, runOrFleet, withFleetFlag } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { outputOption, serialiseResult } from '../output/format.ts'
import { oneLine, truncate } from '../output/text.ts'

export interface StatusOptions extends ClusterFlags, CloudFlags, FleetFlags {
  readonly all?: boolean
  readonly from?: string
}

interface Options extends StatusOptions {
  readonly dataPlane?: boolean
  readonly watch?: boolean
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withFleetFlag(withCloudFlags(command, 'show only this cloud'), ['watch', 'dataPlane']), [
    'stackloom status                  # only what is not ready',
    'stackloom status --cloud rhoso1 --all',
    'stackloom status --watch          # again after each change',
    'stackloom status --from must-gather/ -o json',
    'stackloom status --fleet fleet.yaml   # every site, worst first',
    'stackloom status --data-plane     # nodes, phases, services, and what each is waiting for',
  ])
    .option('-a, --all', 'show what is ready too')
    .option('-w, --watch', 'show it again after each change, until Ctrl-C')
    .option('--data-plane', 'show the nodes outside the cluster with their phases and services')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () => {
        const { dataPlaneStatus } = await import('./data-plane-status.ts')
        const show = (target: Io) =>
          options.dataPlane ? dataPlaneStatus(options, target) : runOrFleet('status', options, target, status)
        if (!options.watch) return show(io)
        if (options.from === undefined) return showChanges(show, io)
        throw failure(wrongUse, {
          reason: '--watch excludes --from: a dump does not change',
          command: 'stackloom status',
        })
      }),
    )
}

/** How often the cluster is read again. */
const WATCH_MS = 2_000

/** Prints whenever the text differs from the last one. Ends with the stop signal. */
async function showChanges(show: (target: Io) => Promise<ExitCode>, io: Io): Promise<ExitCode> {
  let last = ''
  for (;;) {
    const printed: { readonly write: (text: string) => void; readonly text: string }[] = []
    const collect = (write: (text: string) => void) => (text: string) => void printed.push({ write, text })
    await show(
      Object.create(io, { stdout: { value: collect(io.stdout) }, stderr: { value: collect(io.stderr) } }) as Io,
    )
    const text = printed.map((part) => part.text).join('')
    if (text !== last) for (const part of printed) part.write(part.text)
    last = text
    await systemClock.sleep(WATCH_MS, io.stop)
    io.stop.throwIfAborted()
  }
}

/** Once, at one site. */
export async function status(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { parseInventories, inventoryKinds, statusKinds, computeStatus } = await import(
    '../../deploy/deployment-status.ts'
  )
  const { output } = options
  const first = await gatherSnapshot(options, inventoryKinds, io)
  const inventories = parseInventories(first.snapshot)
  if (inventories.length === 0) throw failure(nothingDeployed, {}, { exitCode: 1 })
  const { snapshot, findings } = await gatherSnapshot(options, statusKinds(inventories), io)
  const selected = selectClouds(inventories.flatMap(toNamedCloud), options)
  const shown = inventories.filter(({ cloud }) => selected.length === 0 || selected.includes(cloud ?? ''))
  const groups = computeStatus(shown, snapshot, Date.now())
  printFindings([...first.findings, ...findings], io)
  io.stdout(
    output === 'table'
      ? formatTree(groups, options.all ?? false, io)
      : await serialiseResult({ clouds: statusJson(groups) }, output, [...first.findings, ...findings]),
  )
  return groups.some(({ objects }) => objects.some(({ readiness }) => readiness.kind === 'failed')) ? 1 : 0
}

/** The inventory of what the clouds share has no cloud. */
function toNamedCloud({ cloud, namespace }: Inventory): readonly NamedCloud[] {
  return cloud === undefined ? [] : [{ name: cloud, ...(namespace !== undefined && { namespace }) }]
}

function statusJson(groups: readonly GroupStatus[]): unknown {
  return groups.map(({ objects, ...group }) => ({
    ...group,
    ready: objects.every(({ readiness }) => readiness.kind === 'ready'),
    objects: objects.map(({ name, readiness }) => ({ name, ...readiness })),
  }))
}

function formatTree(groups: readonly GroupStatus[], all: boolean, io: Io): string {
  return groups.map((group) => formatGroup(group, all, io)).join('')
}

function formatGroup({ cloud, namespace, objects }: GroupStatus, all: boolean, io: Io): string {
  const { bold, dim } = pc.createColors(io.colour.stdout)
  const unready = objects.filter(({ readiness }) => readiness.kind !== 'ready')
  const mark = statusSign(worstKind(unready), io)
  const where = namespace === undefined ? '' : dim(` (namespace ${namespace})`)
  const readyCount = objects.length - unready.length
  const head = `${mark} ${bold(cloud ?? 'shared')}${where}  ${readyCount}/${objects.length} ready\n`
  return head + (all ? objects : unready).map((object) => formatObject(object, io)).join('')
}

function formatObject({ name, readiness }: ObjectStatus, io: Io): string {
  const { dim } = pc.createColors(io.colour.stdout)
  const head = `  ${statusSign(readiness.kind, io)} ${name}\n`
  if (readiness.kind === 'ready') return head
  if (readiness.kind === 'progressing')
    return `${head}      ${dim(truncate(oneLine(`waits for ${readiness.waits}`), io.columns - 7))}\n`
  return `${head}      ${oneLine(readiness.cause)}\n      ${dim(aimCommand(readiness.next, readTarget(io.commandLine ?? [])))}\n`
}

function worstKind(unready: readonly ObjectStatus[]): Readiness['kind'] {
  if (unready.some(({ readiness }) => readiness.kind === 'failed')) return 'failed'
  return unready.length > 0 ? 'progressing' : 'ready'
}

function statusSign(kind: Readiness['kind'], io: Io): string {
  const { green, red, cyan } = pc.createColors(io.colour.stdout)
  return { ready: green('✓'), failed: red('✗'), progressing: cyan('●') }[kind]
}
