/**
 * Compares a rendered tree with the files on disk, and reports files that were edited by hand. Pure.
 *
 * The manifest has the checksum of each file as it was last written. A file was edited when it is neither that version
 * nor the new one.
 */
import { createHash } from 'node:crypto'
import { type Finding, finding } from '../errors/finding.ts'
import { editedFile } from './findings/rendered-tree.ts'
import type { ReadExisting, TreeFile } from './tree.ts'

export type Manifest = Readonly<Record<string, string>>

export type TreeChange =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly file: TreeFile }
  | { readonly kind: 'edited'; readonly file: TreeFile; readonly diff: string }
  /** Was rendered before and no longer is. */
  | { readonly kind: 'removed'; readonly path: string }

export function compareTree(
  files: readonly TreeFile[],
  existing: ReadExisting,
  manifest: Manifest,
): readonly TreeChange[] {
  const written = files.map((file): TreeChange => {
    const old = existing(file.path)
    if (old === undefined) return { kind: 'created', file }
    if (old === file.text) return { kind: 'unchanged', file }
    // The new text of a secret contains all existing values, so no edit of it can be lost.
    if (file.secret || manifest[file.path] === checksum(old)) return { kind: 'changed', file }
    return { kind: 'edited', file, diff: diffLines(old, file.text) }
  })
  const paths = new Set(files.map((file) => file.path))
  const removed = Object.keys(manifest)
    .filter((path) => !paths.has(path))
    .flatMap((path): readonly TreeChange[] => {
      const old = existing(path)
      return old !== undefined && manifest[path] === checksum(old) ? [{ kind: 'removed', path }] : []
    })
  return [...written, ...removed]
}

export function editedFindings(changes: readonly TreeChange[]): readonly Finding[] {
  return changes.flatMap((change) => {
    if (change.kind !== 'edited') return []
    const file = change.file.path
    return [finding(editedFile, { file, diff: change.diff }, { where: { file, line: 1, column: 1 } })]
  })
}

export function buildManifest(files: readonly TreeFile[]): Manifest {
  return Object.fromEntries(files.map((file) => [file.path, checksum(file.text)]))
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const CONTEXT = 2
const MAX_LINES = 40

interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** Like `diff -u`: `-` marks existing lines, `+` lines that would be written. */
function diffLines(before: string, after: string): string {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => line.mark !== ' '),
  )
  const shown = lines.flatMap(({ mark, text }, index) => (near[index] ? [`${mark} ${text}`] : []))
  const rest = shown.length - MAX_LINES
  return [...shown.slice(0, MAX_LINES), ...(rest > 0 ? [`… and ${rest} more lines`] : [])].join('\n')
}

/** Skips the equal parts at both ends, because the comparison between them is quadratic. */
function compareLines(a: readonly string[], b: readonly string[]): readonly Line[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1
  const same = (lines: readonly string[]): readonly Line[] => lines.map((text) => ({ mark: ' ', text }))
  const middle = diffByLongestCommonSubsequence(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]
}

function diffByLongestCommonSubsequence(a: readonly string[], b: readonly string[]): readonly Line[] {
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as number[]
      row[j] = a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] as string })
      i += 1
      j += 1
    } else if (i < a.length && (j >= b.length || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ mark: '-', text: a[i] as string })
      i += 1
    } else {
      lines.push({ mark: '+', text: b[j] as string })
      j += 1
    }
  }
  return lines
}
