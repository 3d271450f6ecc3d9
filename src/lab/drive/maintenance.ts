/** Builds the steps of `lab down`, `lab snapshot` and `lab backup`, which belong to no stage. */
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { incompleteSnapshot, snapshotNeedsRunning } from '../findings/lab-run.ts'
import { nodesWithRole } from '../lab.ts'
import { STATE_FOLDER } from '../tree.ts'
import { isRunning, requireMacos } from './lima-state.ts'
import { type DriveContext, run, type Step } from './stage.ts'

/** Stops the VMs. With `remove`, also deletes them and all their disks. */
export async function downSteps(context: DriveContext, remove: boolean): Promise<readonly Step[]> {
  requireMacos(context)
  const { lab, tools } = context
  const lima = await context.readLima()
  // Computes first: they stop slowly once their controller is gone.
  const nodes = lab.nodes.filter((node) => lima.instances.has(node.instance)).toReversed()
  const stops = nodes
    .filter((node) => isRunning(lima, node.instance))
    .map((node) => run(tools.limactl('stop', node.instance), `${node.name} stops`))
  if (!remove) return stops
  const disks = lab.nodes.flatMap((node) => node.disks).filter((disk) => lima.disks.has(disk.name))
  return [
    ...stops,
    ...nodes.map((node) => run(tools.limactl('delete', '--force', node.instance), `${node.name} is deleted`)),
    ...disks.map((disk) => run(tools.limactl('disk', 'delete', disk.name), `${disk.name} is deleted`)),
    { kind: 'note', update: () => ({ stages: {}, generations: {} }) },
  ]
}

/** Needs all VMs running: only then a snapshot contains memory and every disk. Lima calls snapshots experimental. */
export async function snapshotSteps(
  context: DriveContext,
  verb: 'create' | 'apply',
  tag: string,
): Promise<readonly Step[]> {
  requireMacos(context)
  const { lab, tools } = context
  const lima = await context.readLima()
  const stopped = lab.nodes.filter((node) => !isRunning(lima, node.instance))
  if (stopped.length > 0) {
    throw failure(snapshotNeedsRunning, { nodes: stopped.map((node) => node.name) }, { exitCode: 1 })
  }
  if (verb === 'apply') await refuseIncomplete(context, tag)
  const effect = verb === 'create' ? 'is saved as' : 'is restored to'
  return lab.nodes.map((node) =>
    run(tools.limactl('snapshot', verb, node.instance, '--tag', tag), `${node.name} ${effect} ${tag}`),
  )
}

/** Lima restores VM by VM, so a VM without the snapshot must be found before the first one is restored. */
async function refuseIncomplete(context: DriveContext, tag: string): Promise<void> {
  const snapshots = await listSnapshots(context)
  const requested = snapshots.find((snapshot) => snapshot.tag === tag)
  if (requested?.complete) return
  const missing = context.lab.nodes.map((node) => node.name).filter((name) => !requested?.nodes.includes(name))
  const known = snapshots.filter((snapshot) => snapshot.complete).map((snapshot) => snapshot.tag)
  throw failure(incompleteSnapshot, { tag, missing, known }, { exitCode: 1 })
}

export interface Snapshot {
  readonly tag: string
  readonly nodes: readonly string[]
  /** Whether every node has it. Only then the lab can be restored to it. */
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

/** Saves the database and the Glance images of the controller. File names sort by time, so the newest is the last. */
export function backupSteps({ lab, tools, folder }: DriveContext, now: number): readonly Step[] {
  const [node] = nodesWithRole(lab, 'control')
  if (!node) return []
  const name = `${STATE_FOLDER}/backups/${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.tar`
  const file = path.join(folder, name)
  return [
    run(tools.kolla('mariadb-backup'), 'back up the database'),
    run(tools.ssh(node, 'sudo sh -s'), 'pack the backup', { inputFile: 'scripts/node/backup-database.sh' }),
    run(['mkdir', '-p', '-m', '700', path.dirname(file)], 'create the backup folder'),
    run(tools.copyFrom(node, '/tmp/stackloom-backup.tar', `${file}.part`), `copy to ${name}`),
    // Renamed last: a partial copy must not count as a backup.
    run(['mv', `${file}.part`, file], `${name} is complete`),
    run(tools.ssh(node, 'rm -f /tmp/stackloom-backup.tar'), 'remove the copy on the node'),
  ]
}
