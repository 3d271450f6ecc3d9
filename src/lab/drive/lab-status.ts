/** Reads the status of a lab: its VMs, the real size of their disks, Glance's share, and the state of each stage. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { type LabNode, nodesWithRole } from '../lab.ts'
import { isRunning, type LimaState } from './lima-state.ts'
import type { DriveContext, LabStage } from './stage.ts'
import { labStages } from './stages.ts'
import { fingerprint } from './state.ts'
import { planVms } from './vm-plan.ts'

export interface NodeStatus {
  readonly name: string
  readonly status: string
  readonly address: string
  /** What `lab up` would do with the VM; `-` on systems without VMs. */
  readonly next: string
  readonly nominalGiB: number
  readonly usedGiB: number | undefined
}

export interface LabStatus {
  readonly lab: string
  readonly nodes: readonly NodeStatus[]
  readonly stages: readonly { readonly name: string; readonly state: StageState }[]
  readonly disk: {
    readonly usedGiB: number
    readonly nominalGiB: number
    readonly glanceGiB: number | undefined
  }
}

type StageState = 'done' | 'changed' | 'pending' | 'unneeded'

const GIB = 1024 ** 3

export async function readLabStatus(context: DriveContext): Promise<LabStatus> {
  const { lab, system } = context
  const lima = await context.readLima()
  const nodes = planVms(context, lima).map(
    ({ node, kind }): NodeStatus => ({
      name: node.name,
      status: lima.instances.get(node.instance)?.status ?? 'absent',
      address: node.address,
      next: system === 'darwin' ? kind : '-',
      nominalGiB: node.disk + node.disks.reduce((sum, disk) => sum + disk.size, 0),
      usedGiB: usedGiB(node, lima),
    }),
  )
  const sum = (values: readonly (number | undefined)[]): number =>
    round(values.reduce<number>((total, value) => total + (value ?? 0), 0))
  return {
    lab: lab.name,
    nodes,
    stages: labStages.map((stage) => ({ name: stage.name, state: stageState(stage, context) })),
    disk: {
      usedGiB: sum(nodes.map((node) => node.usedGiB)),
      nominalGiB: sum(nodes.map((node) => node.nominalGiB)),
      glanceGiB: await readGlanceUse(context, lima),
    },
  }
}

function stageState(stage: LabStage, context: DriveContext): StageState {
  if (stage.skipReason?.(context.lab) !== undefined) return 'unneeded'
  const done = context.state().stages[stage.name]
  if (!stage.inputs || done === undefined) return 'pending'
  return done === fingerprint(stage.inputs(context)) ? 'done' : 'changed'
}

/** Counts allocated blocks, because the files are sparse. */
function usedGiB(node: LabNode, lima: LimaState): number | undefined {
  const dir = lima.instances.get(node.instance)?.dir
  if (dir === undefined) return undefined
  const files = [
    ...['basedisk', 'diffdisk', 'disk'].map((name) => path.join(dir, name)),
    ...node.disks.flatMap(({ name }) => {
      const disk = lima.disks.get(name)
      return disk ? [path.join(disk.dir, 'datadisk')] : []
    }),
  ]
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0)
  return round(bytes / GIB)
}

async function readGlanceUse({ lab, tools }: DriveContext, lima: LimaState): Promise<number | undefined> {
  const [node] = nodesWithRole(lab, 'control')
  if (!node || !isRunning(lima, node.instance)) return undefined
  const { stdout } = await tools.query(tools.ssh(node, 'sudo du -sk /var/lib/docker/volumes/glance/_data'))
  const kib = Number.parseInt(stdout, 10)
  return Number.isNaN(kib) ? undefined : round(kib / 1024 ** 2)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
