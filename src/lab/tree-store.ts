/**
 * The tree on disk: read at once, written file by file beside its place and moved into it.
 *
 * Killed at any moment it leaves whole files, and the next rendering ends where this one would have.
 */

import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { unwritableFile } from '../errors/common.ts'
import { failure, reasonOf } from '../errors/failure.ts'
import { STATE_FOLDER, type TreeFile } from './tree.ts'
import { type Manifest, manifestOf, type TreeChange } from './tree-changes.ts'

const MANIFEST = `${STATE_FOLDER}/manifest.json`

/** Reads a file of the tree; undefined when it is not there. */
export function treeReader(folder: string): (file: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (file) => {
    if (!known.has(file)) known.set(file, readOrNothing(path.join(folder, file)))
    return known.get(file)
  }
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

export async function readManifest(folder: string): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8')) as Manifest
  } catch {
    // Without a manifest every file that differs counts as edited: the careful side.
    return {}
  }
}

export function isRendered(folder: string): boolean {
  return existsSync(path.join(folder, MANIFEST))
}

export async function writeTree(folder: string, changes: readonly TreeChange[]): Promise<void> {
  const files = changes.flatMap((change) => (change.kind === 'removed' ? [] : [change.file]))
  await mkdir(path.join(folder, STATE_FOLDER), { recursive: true, mode: 0o700 })
  for (const change of changes) {
    if (change.kind === 'unchanged') await restoreMode(folder, change.file)
    else if (change.kind === 'removed') await rm(path.join(folder, change.path), { force: true })
    else await writeFileWhole(folder, change.file)
  }
  await writeFileWhole(folder, { path: MANIFEST, text: `${JSON.stringify(manifestOf(files), null, 1)}\n` })
}

async function restoreMode(folder: string, file: TreeFile): Promise<void> {
  if (file.secret) await chmod(path.join(folder, file.path), modeOf(file))
}

function modeOf(file: TreeFile): number {
  if (file.secret) return 0o600
  return file.executable ? 0o755 : 0o644
}

export async function writeFileWhole(folder: string, file: TreeFile): Promise<void> {
  const target = path.join(folder, file.path)
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`)
  try {
    await mkdir(path.dirname(target), { recursive: true, ...(file.secret && { mode: 0o700 }) })
    const handle = await open(draft, 'w', modeOf(file))
    try {
      await handle.writeFile(file.text)
      await handle.chmod(modeOf(file))
    } finally {
      await handle.close()
    }
    await rename(draft, target)
  } catch (thrown) {
    await rm(draft, { force: true })
    throw failure(unwritableFile, { file: file.path, reason: reasonOf(thrown) }, { cause: thrown })
  }
}
