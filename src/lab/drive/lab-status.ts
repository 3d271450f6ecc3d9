/** How a lab is: its VMs, what their disks really take, Glance's share, and how far its stages are. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { type Lab, nodesWithRole } from '../lab.ts'
import type { World } from './lima-state.ts'
import type { DriveContext } from './stage.ts'
import { labStages } from './stages.ts'
import { fingerprint } from './state.ts'
import { planVms } from './vm-plan.ts'

export interface NodeStatus {
  readonly name: string
  readonly status: string
  readonly address: string
  /** What `lab up` would do with it; `-` where there can be no VMs. */
  readonly next: string
  /** GiB, nominal and really on the disk of the host. */
  readonly nominalGiB: number
  readonly usedGiB: number | undefined
}

export interface LabStatus {
  readonly lab: string
  readonly nodes: readonly NodeStatus[]
  readonly stages: readonly {
    readonly name: string
    readonly state: 'done' | 'changed' | 'pending' | 'unneeded'
  }[]
  readonly disk: {
    readonly usedGiB: number
    readonly nominalGiB: number
    readonly glanceGiB: number | undefined
  }
}

const GIB = 1024 ** 3

export async function readLabStatus(context: DriveContext): Promise<LabStatus> {
  const { lab, read } = context
  const world = await context.world()
  const actions = planVms(lab, (read('ssh/id_ed25519.pub') ?? '').trim(), world)
  const nodes = lab.nodes.map((node, at): NodeStatus => {
    const nominalGiB = node.disk + node.disks.reduce((sum, disk) => sum + disk.size, 0)
    return {
      name: node.name,
      status: world.instances.get(node.instance)?.status ?? 'absent',
      address: node.address,
      next: context.system === 'darwin' ? (actions[at]?.kind ?? 'keep') : '-',
      nominalGiB,
      usedGiB: usedGiB(
        node.instance,
        node.disks.map((disk) => disk.name),
        world,
      ),
    }
  })
  const sum = (values: readonly (number | undefined)[]): number =>
    round(values.reduce<number>((total, one) => total + (one ?? 0), 0))
  return {
    lab: lab.name,
    nodes,
    stages: labStages.map((stage) => ({ name: stage.name, state: stageState(stage.name, context) })),
    disk: {
      usedGiB: sum(nodes.map((node) => node.usedGiB)),
      nominalGiB: sum(nodes.map((node) => node.nominalGiB)),
      glanceGiB: await readGlanceUse(lab, context, world),
    },
  }
}

function stageState(name: string, context: DriveContext): LabStatus['stages'][number]['state'] {
  const stage = labStages.find((labStage) => labStage.name === name)
  if (stage?.skipReason?.(context.lab) !== undefined) return 'unneeded'
  const done = context.state().stages[name]
  if (!stage?.inputs) return 'pending'
  if (done === undefined) return 'pending'
  return done === fingerprint(stage.inputs(context)) ? 'done' : 'changed'
}

/** Blocks on disk, not sizes: the files are sparse. */
function usedGiB(instance: string, disks: readonly string[], world: World): number | undefined {
  const dir = world.instances.get(instance)?.dir
  if (dir === undefined) return undefined
  const files = [
    ...['basedisk', 'diffdisk', 'disk'].map((name) => path.join(dir, name)),
    ...disks.flatMap((name) => {
      const found = world.disks.get(name)
      return found ? [path.join(found.dir, 'datadisk')] : []
    }),
  ]
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0)
  return round(bytes / GIB)
}

async function readGlanceUse(lab: Lab, { tools }: DriveContext, world: World): Promise<number | undefined> {
  const [node] = nodesWithRole(lab, 'control')
  if (!node || world.instances.get(node.instance)?.status !== 'Running') return undefined
  const { stdout } = await tools.query(tools.ssh(node, 'sudo du -sk /var/lib/docker/volumes/glance/_data'))
  const kib = Number.parseInt(stdout, 10)
  return Number.isNaN(kib) ? undefined : round(kib / 1024 ** 2)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
