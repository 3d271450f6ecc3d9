/** `stackloom status --data-plane`: shows nodes, phases and services in one table. */
import pc from 'picocolors'
import { type NodeState, type PhaseState, summarizedKinds, summarizeNodes } from '../../dataplane/node-summary.ts'
import { nodeServices } from '../../dataplane/service-definitions/all.ts'
import type { ServiceDefinition } from '../../dataplane/service-definitions/definition.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialiseResult } from '../output/format.ts'
import { formatTable, type Row } from '../output/table.ts'
import { oneLine, truncate } from '../output/text.ts'

export interface DataPlaneOptions extends ClusterFlags {
  readonly from?: string
  readonly all?: boolean
  readonly output: Format
}

export async function dataPlaneStatus(options: DataPlaneOptions, io: Io): Promise<ExitCode> {
  const { snapshot, findings } = await gatherSnapshot(options, summarizedKinds(), io)
  printFindings(findings, io)
  const { namespace, output, all = false } = options
  const states = summarizeNodes(snapshot).filter((node) => namespace === undefined || node.namespace === namespace)
  io.stdout(
    output === 'table' ? formatNodes(states, all, io) : await serialiseResult({ nodes: states }, output, findings),
  )
  const hasFailed = (node: NodeState): boolean =>
    node.state === 'failed' || node.services.some(({ state }) => state === 'failed')
  return states.some(hasFailed) ? 1 : 0
}

/** Nodes that are done are only counted; `--all` shows them. */
function formatNodes(states: readonly NodeState[], all: boolean, io: Io): string {
  const open = states.filter(({ waits }) => waits !== undefined)
  const shown = all ? states : open
  const head = `${states.length - open.length} of ${states.length} nodes are done\n`
  if (shown.length === 0) return head
  const hasNamespaces = new Set(states.map(({ namespace }) => namespace)).size > 1
  const kinds = states[0]?.services.map(({ kind }) => kind) ?? []
  const header = ['NODE', 'PHASE -1', 'PHASE 0', ...kinds.map((kind) => serviceColumn(kind))]
  const rows = shown.map(
    (node): Row => [
      hasNamespaces ? `${node.namespace}/${node.node}` : node.node,
      paintState(node.machine, node.machine, io),
      paintState(`${node.done}/${node.steps}`, node.state, io),
      ...node.services.map(({ state }) => paintState(state, state, io)),
    ],
  )
  const lines = formatTable(header, rows, io.columns, io.colour.stdout).split('\n').slice(0, -1)
  const waits = ['', ...shown.map((node) => node.waits)]
  const body = lines.flatMap((line, index) => {
    const why = waits[index]
    return why ? [line, `    ${truncate(oneLine(why), io.columns - 4)}`] : [line]
  })
  return `${head}${body.join('\n')}\n`
}

/** `OVN METADATA` for the service `ovn-metadata`. */
export function serviceColumn(kind: string, services: readonly ServiceDefinition[] = nodeServices): string {
  const service = services.find(({ annotation }) => annotation.kind.kind === kind)
  return service ? service.name.replaceAll('-', ' ').toUpperCase() : kind
}

function paintState(text: string, state: PhaseState, io: Io): string {
  const { green, red, cyan, dim } = pc.createColors(io.colour.stdout)
  const paint = { ready: green, failed: red, waiting: cyan, none: dim }[state]
  return paint(state === 'none' && text === 'none' ? '-' : text)
}
