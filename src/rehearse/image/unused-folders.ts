/** Removes images and saved machines that no rehearsal has used for a day: each takes hundreds of megabytes. */
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'

/**
 * Longer than a rehearsal takes to open the files of a machine; then they stay until it ends. And another version of Stackloom
 * on the same machine keeps its own.
 */
const UNUSED_MS = 24 * 3600_000

const REMOVABLE = /^(image|machine-kvm|machine-tcg)-[0-9a-f]{16}$/

export async function markUsed(folder: string): Promise<void> {
  const now = new Date()
  // A cache that cannot be written has nothing to remove either.
  await utimes(folder, now, now).catch(() => undefined)
}

/** Looks at the folders beside the one that was built. */
export async function removeUnused(built: string, now: number = Date.now()): Promise<void> {
  const parent = path.dirname(built)
  for (const name of await readdir(parent)) {
    const folder = path.join(parent, name)
    if (!REMOVABLE.test(name) || folder === built) continue
    const usedAt = (await stat(folder).catch(() => undefined))?.mtimeMs ?? now
    if (now - usedAt > UNUSED_MS) await rm(folder, { recursive: true, force: true })
  }
}
