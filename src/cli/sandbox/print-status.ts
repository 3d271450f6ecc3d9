/** A sandbox on the screen. */
import type { SandboxStatus } from '../../sandbox/sandbox.ts'
import type { Io } from '../io.ts'
import { type Format, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

export async function printStatus(status: SandboxStatus, output: Format, io: Io): Promise<string> {
  if (output !== 'table') return serialise(status, output)
  const facts: readonly (readonly [string, string])[] = [
    ['sandbox', `${status.name} (${stateOf(status)})`],
    ['server', status.server],
    ['kubeconfig', status.kubeconfig],
    ['CRDs', status.crds],
    ['network', status.netns ? 'its own namespace' : "this machine's, loopback"],
    ...(status.actors.length > 0 ? [['actors', status.actors.join(', ')] as const] : []),
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  const head = facts.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
  if (status.programs.length === 0) return head
  const rows = status.programs.map((program) => [
    program.name,
    program.state,
    String(program.pid ?? ''),
    String(program.restarts),
  ])
  return `${head}\n${formatTable(['PROGRAM', 'STATE', 'PID', 'RESTARTS'], rows, io.columns)}`
}

export async function printList(all: readonly SandboxStatus[], output: Format, io: Io): Promise<string> {
  if (output === 'name') return all.map((sandboxStatus) => `${sandboxStatus.name}\n`).join('')
  if (output !== 'table') return serialise(all, output)
  const rows = all.map((sandboxStatus) => [
    sandboxStatus.name,
    stateOf(sandboxStatus),
    sandboxStatus.crds,
    sandboxStatus.netns ? 'namespace' : 'loopback',
    sandboxStatus.server,
  ])
  return formatTable(['NAME', 'STATE', 'CRDS', 'NETWORK', 'SERVER'], rows, io.columns)
}

function stateOf({ running, ready }: SandboxStatus): string {
  if (!running) return 'stopped'
  return ready ? 'ready' : 'not ready'
}
