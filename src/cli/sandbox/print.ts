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
  const rows = status.programs.map((one) => [
    one.name,
    one.state,
    String(one.pid ?? ''),
    String(one.restarts),
  ])
  return `${head}\n${formatTable(['PROGRAM', 'STATE', 'PID', 'RESTARTS'], rows, io.columns)}`
}

export async function printList(all: readonly SandboxStatus[], output: Format, io: Io): Promise<string> {
  if (output === 'name') return all.map((one) => `${one.name}\n`).join('')
  if (output !== 'table') return serialise(all, output)
  const rows = all.map((one) => [
    one.name,
    stateOf(one),
    one.crds,
    one.netns ? 'namespace' : 'loopback',
    one.server,
  ])
  return formatTable(['NAME', 'STATE', 'CRDS', 'NETWORK', 'SERVER'], rows, io.columns)
}

function stateOf({ running, ready }: SandboxStatus): string {
  if (!running) return 'stopped'
  return ready ? 'ready' : 'not ready'
}
