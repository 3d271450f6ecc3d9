/** Translates process ids of a sandbox with nodes, which has its own, into those of this machine. */
import { readdir, readFile, readlink } from 'node:fs/promises'

/** By the id inside; `first` is the process that created the namespace. */
export async function readProcessIds(first: number): Promise<ReadonlyMap<number, number>> {
  const namespace = await readlink(`/proc/${first}/ns/pid_for_children`).catch(() => '')
  const ids = new Map<number, number>()
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    // A process may end while it is read.
    if ((await readlink(`/proc/${name}/ns/pid`).catch(() => undefined)) !== namespace) continue
    const inside = parseInnermostId(await readFile(`/proc/${name}/status`, 'utf8').catch(() => ''))
    if (inside !== undefined) ids.set(inside, Number(name))
  }
  return ids
}

/** A process has an id in each namespace, from the outermost to its own. */
export function parseInnermostId(status: string): number | undefined {
  const ids = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/)
  return ids ? Number(ids.at(-1)) : undefined
}
