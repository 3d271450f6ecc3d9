/** `sandbox stop|status|kubeconfig|reset`: commands for existing sandboxes. */
import type { Command } from 'commander'
import type { CloudState } from '../../sandbox/openstack/cloud.ts'
import type { CloudRecord } from '../../sandbox/openstack/clouds.ts'
import type { SandboxStatus } from '../../sandbox/sandbox.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { DEFAULT_NAME, sandboxContext } from './context.ts'

/** Loaded on demand: the supervisor does not need it. */
const sandboxes = () => import('../../sandbox/sandbox.ts')

export function defineStop(parent: Command, { io, act }: CommandContext): void {
  withExamples(parent.command('stop').description('Stop a sandbox and keep its data'), ['stackloom sandbox stop'])
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .action(({ name }: { name: string }) =>
      act(async () => {
        const { stopSandbox } = await sandboxes()
        const ran = await stopSandbox(name, sandboxContext(io))
        io.stderr(ran ? `sandbox ${name} is stopped; its data is kept\n` : `sandbox ${name} was not running\n`)
        return 0
      }),
    )
}

export function defineStatus(parent: Command, { io, act }: CommandContext): void {
  withExamples(parent.command('status').description('Show the state of sandboxes and their programs'), [
    'stackloom sandbox status               # all sandboxes',
    'stackloom sandbox status --name two -o json',
  ])
    .option('--name <name>', 'show only this sandbox')
    .addOption(outputOption(['table', 'json', 'yaml', 'name']))
    .action(({ name, output }: { name?: string; output: Format }) =>
      act(async () => {
        const { listSandboxes, sandboxStatus } = await sandboxes()
        const context = sandboxContext(io)
        if (name === undefined) {
          io.stdout(await printList(await listSandboxes(context), output, io))
          return 0
        }
        const status = await sandboxStatus(name, context)
        io.stdout(output === 'name' ? `${name}\n` : await printStatus(status, output, io))
        io.stderr(output === 'table' ? formatFindings(status.findings, io.colour.stderr) : '')
        return status.ready ? 0 : 1
      }),
    )
}

export function defineKubeconfig(parent: Command, { io, act }: CommandContext): void {
  withExamples(parent.command('kubeconfig').description('Print the path of the kubeconfig'), [
    'export KUBECONFIG="$(stackloom sandbox kubeconfig)"',
  ])
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .action(({ name }: { name: string }) =>
      act(async () => {
        const { sandboxStatus } = await sandboxes()
        io.stdout(`${(await sandboxStatus(name, sandboxContext(io))).kubeconfig}\n`)
        return 0
      }),
    )
}

export function defineReset(parent: Command, { io, act }: CommandContext): void {
  withExamples(parent.command('reset').description('Stop a sandbox and delete its data'), [
    'stackloom sandbox reset --name two',
  ])
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .action(({ name }: { name: string }) =>
      act(async () => {
        const { resetSandbox } = await sandboxes()
        const existed = await resetSandbox(name, sandboxContext(io))
        io.stderr(existed ? `sandbox ${name} is deleted\n` : `there was no sandbox ${name}\n`)
        return 0
      }),
    )
}

export async function printStatus(status: SandboxStatus, output: Format, io: Io): Promise<string> {
  if (output !== 'table') return serialise(status, output)
  const facts: readonly (readonly [string, string])[] = [
    ['sandbox', `${status.name} (${stateOf(status)})`],
    ['server', status.server],
    ['kubeconfig', status.kubeconfig],
    ['CRDs', status.crds],
    ['network', status.netns ? 'its own namespace' : 'loopback of this machine'],
    ...(status.nodes ? [['nodes', status.nodes.map(({ name }) => name).join(', ')] as const] : []),
    ...(status.actors.length > 0 ? [['actors', status.actors.join(', ')] as const] : []),
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  const head = facts.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
  const clouds = formatClouds(status, io)
  if (status.programs.length === 0) return head
  const rows = status.programs.map((program) => [
    program.name,
    program.state,
    String(program.pid ?? ''),
    String(program.restarts),
  ])
  return `${head}\n${clouds}${formatTable(['PROGRAM', 'STATE', 'PID', 'RESTARTS'], rows, io.columns, io.colour.stdout)}`
}

function formatClouds({ clouds = [] }: SandboxStatus, io: Io): string {
  if (clouds.length === 0) return ''
  const rows = clouds.map(({ cloud, namespace, state, services, simulated }) => [
    cloud,
    namespace,
    formatCloudState(state),
    services.join(', '),
    simulated.join(', '),
  ])
  const columns = ['CLOUD', 'NAMESPACE', 'STATE', 'RUNNING', 'SIMULATED']
  return `${formatTable(columns, rows, io.columns, io.colour.stdout)}\n${formatComputes(clouds, io)}`
}

function formatComputes(clouds: readonly CloudRecord[], io: Io): string {
  const rows = clouds.flatMap(({ cloud, computes }) =>
    computes.map(({ name, cell, state }) => [name, cloud, cell, state]),
  )
  if (rows.length === 0) return ''
  return `${formatTable(['COMPUTE HOST', 'CLOUD', 'CELL', 'STATE'], rows, io.columns, io.colour.stdout)}\n`
}

function formatCloudState(state: CloudState): string {
  if (state.kind === 'starting') return `starting: ${state.doing}`
  if (state.kind === 'failed') return `failed: ${state.doing}: ${state.reason}`
  const failing = state.answers.filter(({ problem }) => problem !== undefined).map(({ service }) => service)
  return failing.length === 0 ? 'ready' : `not ready: ${failing.join(', ')}`
}

async function printList(all: readonly SandboxStatus[], output: Format, io: Io): Promise<string> {
  if (output === 'name') return all.map((sandboxStatus) => `${sandboxStatus.name}\n`).join('')
  if (output !== 'table') return serialiseResult({ sandboxes: all }, output)
  if (all.length === 0) io.stderr('no sandbox exists; `stackloom sandbox start` creates one\n')
  const rows = all.map((sandboxStatus) => [
    sandboxStatus.name,
    stateOf(sandboxStatus),
    sandboxStatus.crds,
    sandboxStatus.netns ? 'namespace' : 'loopback',
    sandboxStatus.server,
  ])
  return formatTable(['NAME', 'STATE', 'CRDS', 'NETWORK', 'SERVER'], rows, io.columns, io.colour.stdout)
}

function stateOf({ running, ready }: SandboxStatus): string {
  if (!running) return 'stopped'
  return ready ? 'ready' : 'not ready'
}
