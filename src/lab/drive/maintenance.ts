/** `lab down`: stops the VMs, or deletes them with all their disks. Nothing else of the lab is touched. */
import type { Exec } from '../../exec/process.ts'
import type { StageContext } from '../../run/stage.ts'
import { requireMacos } from './lima-state.ts'
import { runSteps, type StepRunner } from './run-steps.ts'
import type { DriveContext } from './stage.ts'
import type { StateStore } from './state.ts'
import { run, type Step } from './step.ts'

export async function downSteps(context: DriveContext, remove: boolean): Promise<readonly Step[]> {
  requireMacos(context)
  const { lab, tools, world } = context
  const { instances, disks } = await world()
  const present = lab.nodes.filter((node) => instances.has(node.instance))
  // Computes first: a controller that goes away under them makes every stop slow.
  const ordered = [...present].reverse()
  const stops = ordered
    .filter((node) => instances.get(node.instance)?.status === 'Running')
    .map((node) => run(tools.limactl('stop', node.instance), `${node.name} stops`))
  if (!remove) return stops
  const own = lab.nodes.flatMap((node) => node.disks).filter((disk) => disks.has(disk.name))
  return [
    ...stops,
    ...ordered.map((node) => run(tools.limactl('delete', '--force', node.instance), `${node.name} is deleted`)),
    ...own.map((disk) => run(tools.limactl('disk', 'delete', disk.name), `${disk.name} is deleted`)),
    { kind: 'note', update: () => ({ stages: {}, generations: {} }) },
  ]
}

export interface StepRunSettings {
  readonly folder: string
  readonly exec: Exec
  readonly env: Readonly<Record<string, string | undefined>>
  readonly memory: StateStore
  readonly context: StageContext
}

/** Steps outside of a run of stages, with the same log and the same quoting of causes. */
export function runStepsOutsideStages(name: string, steps: readonly Step[], settings: StepRunSettings): Promise<void> {
  const { folder, exec, env, memory, context } = settings
  const performer: StepRunner = { folder, exec, env, store: memory, secrets: [] }
  return runSteps(name, steps, performer, context)
}
