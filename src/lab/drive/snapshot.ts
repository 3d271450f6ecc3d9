/**
 * `lab snapshot`: all VMs, running, so that memory and every disk are in it. Experimental, as Lima says itself.
 */
import { failure } from '../../errors/failure.ts'
import { snapshotNeedsRunning } from '../../errors/lab-run.ts'
import type { DriveContext } from './stage.ts'
import { run, type Step } from './step.ts'

export async function snapshotSteps(
  context: DriveContext,
  what: 'create' | 'apply',
  tag: string,
): Promise<readonly Step[]> {
  const { lab, tools, world } = context
  const { instances } = await world()
  const idle = lab.nodes.filter((node) => instances.get(node.instance)?.status !== 'Running')
  if (idle.length > 0) {
    throw failure(snapshotNeedsRunning, { nodes: idle.map((node) => node.name) }, { exitCode: 1 })
  }
  const said = what === 'create' ? 'is saved as' : 'goes back to'
  return lab.nodes.map((node) =>
    run(tools.limactl('snapshot', what, node.instance, '--tag', tag), `${node.name} ${said} ${tag}`),
  )
}

export interface Snapshot {
  readonly tag: string
  readonly nodes: readonly string[]
  /** Whether every node has it: only then the lab can go back. */
  readonly complete: boolean
}

export async function listSnapshots({ lab, tools }: DriveContext): Promise<readonly Snapshot[]> {
  const tags = new Map<string, string[]>()
  for (const node of lab.nodes) {
    const { stdout } = await tools.ask(tools.limactl('snapshot', 'list', node.instance, '--quiet'))
    for (const tag of stdout.split('\n').filter((line) => line.trim() !== '')) {
      tags.set(tag.trim(), [...(tags.get(tag.trim()) ?? []), node.name])
    }
  }
  return [...tags].map(([tag, nodes]) => ({ tag, nodes, complete: nodes.length === lab.nodes.length }))
}
