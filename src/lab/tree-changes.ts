/**
 * What a rendering would change in a tree, and what a person changed there meanwhile. Pure.
 *
 * The manifest holds the checksum of every file as it was last written: a file that is neither that nor what would
 * be written now was edited by hand.
 */
import { createHash } from 'node:crypto'
import { type Finding, finding } from '../errors/finding.ts'
import { editedFile } from './findings/rendered-tree.ts'
import { diffLines } from './line-diff.ts'
import type { TreeFile } from './tree.ts'

export type Manifest = Readonly<Record<string, string>>

export type TreeChange =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly file: TreeFile }
  | { readonly kind: 'edited'; readonly file: TreeFile; readonly diff: string }
  /** Rendered before, and not any more. */
  | { readonly kind: 'removed'; readonly path: string }

export function compareTree(
  files: readonly TreeFile[],
  existing: (path: string) => string | undefined,
  manifest: Manifest,
): readonly TreeChange[] {
  const written = files.map((file): TreeChange => {
    const old = existing(file.path)
    if (old === undefined) return { kind: 'created', file }
    if (old === file.text) return { kind: 'unchanged', file }
    const known = manifest[file.path]
    // A secret is completed from itself: what is in it was kept, so nothing of a person's is lost.
    if (file.secret || known === checksum(old)) return { kind: 'changed', file }
    return { kind: 'edited', file, diff: diffLines(old, file.text) }
  })
  const paths = new Set(files.map((file) => file.path))
  const gone = Object.keys(manifest).filter((path) => !paths.has(path))
  const removed = gone.flatMap((path): readonly TreeChange[] => {
    const old = existing(path)
    return old !== undefined && manifest[path] === checksum(old) ? [{ kind: 'removed', path }] : []
  })
  return [...written, ...removed]
}

export function editedFindings(changes: readonly TreeChange[]): readonly Finding[] {
  return changes.flatMap((change) =>
    change.kind === 'edited'
      ? [
          finding(
            editedFile,
            { file: change.file.path, diff: change.diff },
            { where: { file: change.file.path, line: 1, column: 1 } },
          ),
        ]
      : [],
  )
}

export function buildManifest(files: readonly TreeFile[]): Manifest {
  return Object.fromEntries(files.map((file) => [file.path, checksum(file.text)]))
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
