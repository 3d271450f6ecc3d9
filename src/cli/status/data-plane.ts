/** `stackloom status --data-plane`: nodes, phases and services in one table. */
import pc from 'picocolors'
import type { ExitCode } from '../../errors/failure.ts'
import { nodeServices } from '../../node-services/all.ts'
import type { ServiceDefinition } from '../../node-services/definition.ts'
import { dataPlaneKinds, dataPlaneStates, type NodeState, type PhaseState } from '../../verify/data-plane.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, serialise } from '../output/format.ts'
import { fit, oneLine } from '../output/run/text.ts'
import { formatTable, type Row } from '../output/table.ts'

export interface DataPlaneOptions extends ClusterFlags {
  readonly from?: string
  readonly all?: boolean
  readonly output: Format
}

export async function dataPlaneStatus(options: DataPlaneOptions, io: Io): Promise<ExitCode> {
  const { snapshot, findings } = await gatherSnapshot(options, dataPlaneKinds(), io)
  io.stderr(formatFindings(findings, io.colour.stderr))
  const { namespace, output, all = false } = options
  const states = dataPlaneStates(snapshot).filter(
    (one) => namespace === undefined || one.namespace === namespace,
  )
  io.stdout(output === 'table' ? table(states, all, io) : await serialise(states, output))
  const failed = (one: NodeState): boolean =>
    one.state === 'failed' || one.services.some(({ state }) => state === 'failed')
  return states.some(failed) ? 1 : 0
}

/** Nodes with nothing to say are counted; `--all` shows them. */
function table(states: readonly NodeState[], all: boolean, io: Io): string {
  const open = states.filter(({ waits }) => waits !== undefined)
  const shown = all ? states : open
  const head = `${states.length - open.length} of ${states.length} nodes are done\n`
  if (shown.length === 0) return head
  const spaces = new Set(states.map(({ namespace }) => namespace)).size > 1
  const kinds = states[0]?.services.map(({ kind }) => kind) ?? []
  const header = ['NODE', 'PHASE -1', 'PHASE 0', ...kinds.map((kind) => columnOf(kind))]
  const rows = shown.map(
    (one): Row => [
      spaces ? `${one.namespace}/${one.node}` : one.node,
      painted(one.machine, one.machine, io),
      painted(`${one.done}/${one.steps}`, one.state, io),
      ...one.services.map(({ state }) => painted(state, state, io)),
    ],
  )
  const lines = formatTable(header, rows, io.columns).split('\n').slice(0, -1)
  const waits = ['', ...shown.map((one) => one.waits)]
  const body = lines.flatMap((line, index) => {
    const why = waits[index]
    return why ? [line, `    ${fit(oneLine(why), io.columns - 4)}`] : [line]
  })
  return `${head}${body.join('\n')}\n`
}

/** `OVN METADATA` of the service `ovn-metadata`. */
export function columnOf(kind: string, services: readonly ServiceDefinition[] = nodeServices): string {
  const service = services.find(({ annotation }) => annotation.kind.kind === kind)
  return service ? service.name.replaceAll('-', ' ').toUpperCase() : kind
}

function painted(text: string, state: PhaseState, io: Io): string {
  const { green, red, cyan, dim } = pc.createColors(io.colour.stdout)
  const paint = { ready: green, failed: red, waiting: cyan, none: dim }[state]
  return paint(state === 'none' && text === 'none' ? '-' : text)
}
