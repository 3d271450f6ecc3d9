/** Defines `stackloom status`: shows the state of deployed clouds, by default only what is not ready. */
import type { Command } from 'commander'
import pc from 'picocolors'
import type { GroupStatus, ObjectStatus } from '../../deploy/deployment-status.ts'
import { nothingDeployed } from '../../deploy/findings/down.ts'
import type { Inventory } from '../../deploy/inventory.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Readiness } from '../../verify/readiness/verdict.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type CloudFlags, type NamedCloud, selectClouds, withCloudFlags } from '../deployment.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { oneLine, truncate } from '../output/text.ts'

interface Options extends ClusterFlags, CloudFlags {
  readonly all?: boolean
  readonly from?: string
  readonly dataPlane?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withCloudFlags(command, 'show only this cloud'), [
    'stackloom status                  # only what is not ready',
    'stackloom status --cloud rhoso1 --all',
    'stackloom status --from must-gather/ -o json',
    'stackloom status --data-plane     # nodes, phases, services, and what each is waiting for',
  ])
    .option('-a, --all', 'show what is ready too')
    .option('--data-plane', 'show the nodes outside the cluster with their phases and services')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () =>
        options.dataPlane ? (await import('./data-plane-status.ts')).dataPlaneStatus(options, io) : status(options, io),
      ),
    )
}

async function status(options: Options, io: Io): Promise<ExitCode> {
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
  io.stderr(formatFindings([...first.findings, ...findings], io.colour.stderr))
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
  return `${head}      ${oneLine(readiness.cause)}\n      ${dim(readiness.next)}\n`
}

function worstKind(unready: readonly ObjectStatus[]): Readiness['kind'] {
  if (unready.some(({ readiness }) => readiness.kind === 'failed')) return 'failed'
  return unready.length > 0 ? 'progressing' : 'ready'
}

function statusSign(kind: Readiness['kind'], io: Io): string {
  const { green, red, cyan } = pc.createColors(io.colour.stdout)
  return { ready: green('✓'), failed: red('✗'), progressing: cyan('●') }[kind]
}
