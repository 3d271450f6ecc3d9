/** Reads and writes the rendered tree on disk. A killed run leaves whole files, each either old or new. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { pathLeavesFolder, unwritableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import type { Exec } from '../exec/process.ts'
import { resolveBelow } from '../files/path-below.ts'
import { writeFileAtomicallySync } from '../files/write-file.ts'
import type { RenderedTree } from './check/rendered-tree.ts'
import { MANIFEST, type ReadExisting, STATE_FOLDER, type TreeFile } from './tree.ts'
import { buildManifest, type Manifest, type TreeChange } from './tree-changes.ts'

/** Reads each file at most once. */
export function createTreeReader(folder: string): ReadExisting {
  const cache = new Map<string, string | undefined>()
  return (file) => {
    if (!cache.has(file)) cache.set(file, readBelow(folder, file))
    return cache.get(file)
  }
}

/** A file that is behind a symbolic link counts as missing: it is refused when it would be written. */
function readBelow(folder: string, file: string): string | undefined {
  const target = resolveBelow(folder, file)
  return target === undefined ? undefined : readIfExists(target)
}

export function readIfExists(file: string): string | undefined {
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
    // Without a manifest, every file that differs counts as edited, so nothing is lost.
    return {}
  }
}

/** Refuses all changes before the first write when one of them would leave the folder. */
export function writeTree(folder: string, changes: readonly TreeChange[]): void {
  for (const change of changes) targetPath(folder, change.kind === 'removed' ? change.path : change.file.path)
  targetPath(folder, MANIFEST)
  const files = changes.flatMap((change) => (change.kind === 'removed' ? [] : [change.file]))
  mkdirSync(path.join(folder, STATE_FOLDER), { recursive: true, mode: 0o700 })
  for (const change of changes) {
    if (change.kind === 'removed') rmSync(targetPath(folder, change.path), { force: true })
    else if (change.kind !== 'unchanged') writeTreeFile(folder, change.file)
    else if (change.file.secret) chmodSync(targetPath(folder, change.file.path), fileMode(change.file))
  }
  writeTreeFile(folder, { path: MANIFEST, text: `${JSON.stringify(buildManifest(files), null, 1)}\n` })
}

function targetPath(folder: string, file: string): string {
  const target = resolveBelow(folder, file)
  if (target === undefined) throw failure(pathLeavesFolder, { file, folder }, { exitCode: 1 })
  return target
}

function fileMode(file: TreeFile): number {
  if (file.secret) return 0o600
  return file.executable ? 0o755 : 0o644
}

export function writeTreeFile(folder: string, file: TreeFile): void {
  const target = targetPath(folder, file.path)
  try {
    mkdirSync(path.dirname(target), { recursive: true, ...(file.secret && { mode: 0o700 }) })
    writeFileAtomicallySync(target, file.text, fileMode(file))
  } catch (thrown) {
    throw failure(unwritableFile, { file: file.path, reason: formatError(thrown) }, { cause: thrown })
  }
}

const SKIPPED = new Set([STATE_FOLDER, '.git', '.terraform', 'node_modules'])

/** Lists the files of a tree, their modes, and which of them git tracks. */
export async function inspectTree(folder: string, exec: Exec): Promise<RenderedTree> {
  // Fails outside a repository or without git. Then no file is tracked.
  const { stdout } = await exec({ file: 'git', args: ['ls-files', '-z'], cwd: folder })
  return {
    files: [...listFiles(folder)],
    read: createTreeReader(folder),
    mode: (file) => statSync(path.join(folder, file), { throwIfNoEntry: false })?.mode,
    tracked: stdout.split(/[\0\n]/).filter((file) => file !== ''),
  }
}

function* listFiles(folder: string, prefix = ''): Generator<string> {
  for (const entry of readdirSync(path.join(folder, prefix), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) yield* listFiles(folder, name)
    else yield name
  }
}
