/**
 * The tree on disk: read at once, written file by file beside its place and moved into it.
 *
 * Killed at any moment it leaves whole files, and the next rendering ends where this one would have. Nothing happens
 * meanwhile that could go on without it, so it waits for the disk: small files are written in half the time.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { unwritableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import { MANIFEST } from './is-rendered.ts'
import { STATE_FOLDER, type TreeFile } from './tree.ts'
import { buildManifest, type Manifest, type TreeChange } from './tree-changes.ts'

/** Reads a file of the tree; undefined when it is not there. */
export function createTreeReader(folder: string): (file: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (file) => {
    if (!known.has(file)) known.set(file, readIfExists(path.join(folder, file)))
    return known.get(file)
  }
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

export function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8')) as Manifest
  } catch {
    // Without a manifest every file that differs counts as edited: the careful side.
    return {}
  }
}

export function writeTree(folder: string, changes: readonly TreeChange[]): void {
  const files = changes.flatMap((change) => (change.kind === 'removed' ? [] : [change.file]))
  mkdirSync(path.join(folder, STATE_FOLDER), { recursive: true, mode: 0o700 })
  for (const change of changes) {
    if (change.kind === 'unchanged') restoreMode(folder, change.file)
    else if (change.kind === 'removed') rmSync(path.join(folder, change.path), { force: true })
    else writeFileAtomically(folder, change.file)
  }
  writeFileAtomically(folder, { path: MANIFEST, text: `${JSON.stringify(buildManifest(files), null, 1)}\n` })
}

function restoreMode(folder: string, file: TreeFile): void {
  if (file.secret) chmodSync(path.join(folder, file.path), fileMode(file))
}

function fileMode(file: TreeFile): number {
  if (file.secret) return 0o600
  return file.executable ? 0o755 : 0o644
}

export function writeFileAtomically(folder: string, file: TreeFile): void {
  const target = path.join(folder, file.path)
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`)
  const mode = fileMode(file)
  try {
    mkdirSync(path.dirname(target), { recursive: true, ...(file.secret && { mode: 0o700 }) })
    writeFileSync(draft, file.text, { mode })
    // What the mask of this process took away, and what a draft of a killed run had.
    chmodSync(draft, mode)
    renameSync(draft, target)
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw failure(unwritableFile, { file: file.path, reason: formatError(thrown) }, { cause: thrown })
  }
}
