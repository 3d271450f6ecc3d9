/**
 * `lab snapshot`: all VMs, running, so that memory and every disk are in it. Experimental, as Lima says itself.
 */
import { failure } from '../../errors/failure.ts'
import { incompleteSnapshot, snapshotNeedsRunning } from '../findings/lab-run.ts'
import { requireMacos } from './lima-state.ts'
import type { DriveContext } from './stage.ts'
import { run, type Step } from './step.ts'

export async function snapshotSteps(
  context: DriveContext,
  what: 'create' | 'apply',
  tag: string,
): Promise<readonly Step[]> {
  requireMacos(context)
  const { lab, tools, world } = context
  const { instances } = await world()
  const idle = lab.nodes.filter((node) => instances.get(node.instance)?.status !== 'Running')
  if (idle.length > 0) {
    throw failure(snapshotNeedsRunning, { nodes: idle.map((node) => node.name) }, { exitCode: 1 })
  }
  if (what === 'apply') await refuseIncomplete(context, tag)
  const said = what === 'create' ? 'is saved as' : 'goes back to'
  return lab.nodes.map((node) =>
    run(tools.limactl('snapshot', what, node.instance, '--tag', tag), `${node.name} ${said} ${tag}`),
  )
}

/** Lima goes back VM by VM: the one that cannot must be known before the first one does. */
async function refuseIncomplete(context: DriveContext, tag: string): Promise<void> {
  const found = await listSnapshots(context)
  const has = found.find((snapshot) => snapshot.tag === tag)
  if (has?.complete) return
  const missing = context.lab.nodes.map((node) => node.name).filter((name) => !has?.nodes.includes(name))
  const known = found.filter((snapshot) => snapshot.complete).map((snapshot) => snapshot.tag)
  throw failure(incompleteSnapshot, { tag, missing, known }, { exitCode: 1 })
}

export interface Snapshot {
  readonly tag: string
  readonly nodes: readonly string[]
  /** Whether every node has it: only then the lab can go back. */
  readonly complete: boolean
}

export async function listSnapshots(context: DriveContext): Promise<readonly Snapshot[]> {
  requireMacos(context)
  const { lab, tools } = context
  const tags = new Map<string, string[]>()
  for (const node of lab.nodes) {
    const { stdout } = await tools.query(tools.limactl('snapshot', 'list', node.instance, '--quiet'))
    for (const tag of stdout.split('\n').filter((line) => line.trim() !== '')) {
      tags.set(tag.trim(), [...(tags.get(tag.trim()) ?? []), node.name])
    }
  }
  return [...tags].map(([tag, nodes]) => ({ tag, nodes, complete: nodes.length === lab.nodes.length }))
}
