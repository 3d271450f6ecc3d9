/** `stackloom status`: how the deployed clouds are, by default only what is not fine. */
import type { Command } from 'commander'
import pc from 'picocolors'
import type { GroupStatus, ObjectStatus } from '../../deploy/deployment-status.ts'
import { nothingDeployed } from '../../deploy/findings/down.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Readiness } from '../../verify/readiness/verdict.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { collect } from '../deployment.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { oneLine, truncate } from '../output/text.ts'

interface Options extends ClusterFlags {
  readonly cloud?: readonly string[]
  readonly all?: boolean
  readonly from?: string
  readonly dataPlane?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withClusterFlags(command), [
    'stackloom status                  # only what is not fine',
    'stackloom status --cloud rhoso1 --all',
    'stackloom status --from must-gather/ -o json',
    'stackloom status --data-plane     # nodes, phases, services, and what each waits for',
  ])
    .option('--cloud <name>', 'only this cloud; may be repeated', collect)
    .option('-a, --all', 'what is fine, too')
    .option('--data-plane', 'the nodes outside the cluster: their phases and services')
    .option('--from <folder>', 'a folder of dumps instead of a live cluster')
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
  const { cloud: wanted = [], output } = options
  const first = await gatherSnapshot(options, inventoryKinds, io)
  const inventories = parseInventories(first.snapshot)
  if (inventories.length === 0) throw failure(nothingDeployed, {}, { exitCode: 1 })
  const { snapshot, findings } = await gatherSnapshot(options, statusKinds(inventories), io)
  const chosen = inventories.filter(({ cloud }) => wanted.length === 0 || wanted.includes(cloud ?? ''))
  const groups = computeStatus(chosen, snapshot, Date.now())
  io.stderr(formatFindings([...first.findings, ...findings], io.colour.stderr))
  io.stdout(output === 'table' ? formatTree(groups, options.all ?? false, io) : await serialise(jsonOf(groups), output))
  return groups.some(({ objects }) => objects.some(({ readiness }) => readiness.kind === 'failed')) ? 1 : 0
}

function jsonOf(groups: readonly GroupStatus[]): unknown {
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
  const open = objects.filter(({ readiness }) => readiness.kind !== 'ready')
  const mark = statusSign(worstKind(open), io)
  const where = namespace === undefined ? '' : dim(` (namespace ${namespace})`)
  const fine = objects.length - open.length
  const head = `${mark} ${bold(cloud ?? 'shared')}${where}  ${fine}/${objects.length} ready\n`
  return head + (all ? objects : open).map((object) => formatObject(object, io)).join('')
}

function formatObject({ name, readiness }: ObjectStatus, io: Io): string {
  const { dim } = pc.createColors(io.colour.stdout)
  const head = `  ${statusSign(readiness.kind, io)} ${name}\n`
  if (readiness.kind === 'ready') return head
  if (readiness.kind === 'progressing')
    return `${head}      ${dim(truncate(oneLine(`waits for ${readiness.waits}`), io.columns - 7))}\n`
  return `${head}      ${oneLine(readiness.cause)}\n      ${dim(readiness.next)}\n`
}

function worstKind(open: readonly ObjectStatus[]): Readiness['kind'] {
  if (open.some(({ readiness }) => readiness.kind === 'failed')) return 'failed'
  return open.length > 0 ? 'progressing' : 'ready'
}

function statusSign(kind: Readiness['kind'], io: Io): string {
  const { green, red, cyan } = pc.createColors(io.colour.stdout)
  return { ready: green('✓'), failed: red('✗'), progressing: cyan('●') }[kind]
}
