/**
 * Creates and removes the cgroups of the nodes. They are the only thing of a node that the kernel keeps when its last process
 * has ended, so their names follow from the sandbox's folder.
 */
import { readdir, readFile, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const BUSY_WAIT_MS = 50
const BUSY_TRIES = 400

const USUAL_PLACE = '/sys/fs/cgroup'

/** Mount points of the hierarchies that containers use. */
export async function findCgroupHierarchies(): Promise<readonly string[]> {
  return selectHierarchies(await readMounts())
}

/** All of version 1, or the one of version 2 where it has the usual place: so kubelet and runc decide, whatever else is mounted. */
export function selectHierarchies(mounts: string): readonly string[] {
  return parseMounts(mounts, 'cgroup2').includes(USUAL_PLACE) ? [USUAL_PLACE] : parseMounts(mounts, 'cgroup')
}

async function readMounts(): Promise<string> {
  return readFile('/proc/self/mounts', 'utf8').catch(() => '')
}

function parseMounts(mounts: string, wanted: string): readonly string[] {
  return mounts.split('\n').flatMap((line) => {
    const [, folder = '', type] = line.split(' ')
    return type === wanted ? [folder] : []
  })
}

/** Without one of them, runc starts no container of a pod. */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids']

/** The controllers that new cgroups of version 2 would lack. Version 1 has a hierarchy for each. */
export async function findMissingControllers(hierarchies: readonly string[]): Promise<readonly string[]> {
  const [root = ''] = hierarchies
  const read = (name: string): Promise<string | undefined> =>
    readFile(path.join(root, name), 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    )
  const available = await read('cgroup.controllers')
  if (available === undefined) return []
  // Only the root of the machine passes controllers on while it has processes; that of a container has a type.
  const isRefused = (await read('cgroup.type')) !== undefined && (await read('cgroup.procs')) !== ''
  const passedOn = (isRefused ? await read('cgroup.subtree_control') : available) ?? ''
  return CONTROLLERS.filter((name) => !passedOn.split(' ').includes(name))
}

/** In version 1 a cgroup without processors and memory runs no process; in version 2 its parent passes controllers on. */
const SCRIPT = `
mkdir -p "$2"
if [ -e "$1/cgroup.controllers" ]; then
  for controller in $(cat "$1/cgroup.controllers"); do echo "+$controller" >"$1/cgroup.subtree_control" || true; done
elif [ -e "$2/cpuset.cpus" ]; then
  for file in cpuset.cpus cpuset.mems; do cat "$1/$file" >"$2/$file"; done
fi`

/** Commands that create a cgroup in one hierarchy, after its parent. */
export function cgroupCommand(hierarchy: string, cgroup: string): readonly string[] {
  const folder = path.join(hierarchy, cgroup)
  return ['sh', '-c', SCRIPT, 'sh', path.dirname(folder), folder]
}

/** Removes a cgroup with all below it, also where only runc created one. Their processes must have ended. */
export async function removeCgroups(cgroup: string): Promise<void> {
  const mounts = await readMounts()
  const hierarchies = ['cgroup', 'cgroup2'].flatMap((type) => parseMounts(mounts, type))
  for (const hierarchy of hierarchies) await removeTree(path.join(hierarchy, cgroup))
}

async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeTree(path.join(folder, entry.name))
  for (let tries = 0; ; tries += 1) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      // A killed process leaves its cgroup a moment later.
      if (code !== 'EBUSY' || tries === BUSY_TRIES) throw error
      await sleep(BUSY_WAIT_MS)
    }
  }
}
