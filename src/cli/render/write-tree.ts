/**
 * Writes a tree of files as one change: all of it or nothing.
 *
 * Drafts are written first and then moved into place; replaced files are kept until the end, so that a failure restores
 * them. A record lists the written files: only these are replaced or removed later, and only if they are unchanged.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pathLeavesFolder, unwritableFile } from '../../errors/common.ts'
import { Failure, failure, formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { resolveBelow } from '../../files/path-below.ts'
import { changedByOthers, editedTreeFile, foreignFile } from '../../render/findings.ts'

export interface TreeChanges {
  readonly written: readonly string[]
  readonly removed: readonly string[]
  /** Reports files that are no longer rendered but were changed by another program. */
  readonly findings: readonly Finding[]
}

/** The functions of the file system that are used; a test can make each of them fail. */
export interface Disk {
  readonly mkdir: typeof mkdir
  readonly rename: typeof rename
  readonly writeFile: typeof writeFile
}

const realDisk: Disk = { mkdir, rename, writeFile }

export interface WriteTreeOptions {
  /** Replaces files that were edited since they were written. */
  readonly overwrite?: boolean
  /** Options that the next command for this tree uses, too, by name. */
  readonly remembered?: Record
  readonly disk?: Disk
}

/** Lists the written files with their hashes, and remembered options: no file of a tree begins with two dashes. */
const RECORD = '.stackloom-tree.json'
const DRAFTS = '.stackloom-drafts'

type Record = Readonly<globalThis.Record<string, string>>

export async function writeTree(
  root: string,
  files: ReadonlyMap<string, string>,
  {
    overwrite = false,
    remembered = {},
    disk: { mkdir: makeFolder, rename: move, writeFile: write } = realDisk,
  }: WriteTreeOptions = {},
): Promise<TreeChanges> {
  const drafts = path.join(root, DRAFTS)
  refuseOutside(root, [...files.keys(), RECORD])
  const before = await readRecord(root)
  const record = Object.fromEntries([...files].map(([name, text]) => [name, hashText(text)]))
  const present = await readHashes(root, [...files.keys()])
  refuseOthersFiles(
    root,
    [...present].filter(([name, hash]) => hash !== record[name]),
    { before, overwrite },
  )
  const written = [...files.keys()].filter((name) => present.get(name) !== record[name])
  const { stale, foreign } = await findStaleFiles(root, before, files)
  const findings = foreign.map((file) => finding(changedByOthers, { file: path.join(root, file) }))
  const isRemembered = isDeepStrictEqual(selectOptions(before), remembered)
  if (written.length === 0 && stale.length === 0 && isRemembered) return { written, removed: [], findings }

  const undo: (() => Promise<void>)[] = []
  const replace = async (name: string, draft: string | undefined): Promise<void> => {
    const target = path.join(root, name)
    const kept = path.join(drafts, 'old', name)
    if (existsSync(target)) {
      await makeFolder(path.dirname(kept), { recursive: true })
      await move(target, kept)
      undo.push(() => rename(kept, target))
    }
    if (draft === undefined) return
    await makeFolder(path.dirname(target), { recursive: true })
    await move(draft, target)
    undo.push(() => rm(target, { force: true }))
  }
  try {
    await rm(drafts, { recursive: true, force: true })
    for (const name of written) {
      const draft = path.join(drafts, 'new', name)
      await makeFolder(path.dirname(draft), { recursive: true })
      await write(draft, files.get(name) ?? '')
    }
    const draftRecord = path.join(drafts, 'new', RECORD)
    await makeFolder(path.dirname(draftRecord), { recursive: true })
    await write(draftRecord, `${JSON.stringify({ ...addDashes(remembered), ...record }, null, 2)}\n`)
    for (const name of written) await replace(name, path.join(drafts, 'new', name))
    for (const name of stale) await replace(name, undefined)
    await replace(RECORD, draftRecord)
  } catch (thrown) {
    for (const step of undo.reverse()) await step()
    throw failure(unwritableFile, { file: root, reason: formatError(thrown) }, { cause: thrown })
  } finally {
    await rm(drafts, { recursive: true, force: true }).catch(() => undefined)
  }
  await removeEmptyFolders(root, stale)
  return { written, removed: stale, findings }
}

/** Of files that would be replaced: those that another program wrote or edited. */
function refuseOthersFiles(
  root: string,
  differing: readonly (readonly [name: string, hash: string])[],
  { before, overwrite }: { readonly before: Record; readonly overwrite: boolean },
): void {
  const foreign = differing.filter(([name]) => before[name] === undefined)
  const edited = overwrite ? [] : differing.filter(([name, hash]) => hash !== before[name])
  const [problem, names] = foreign.length > 0 ? [foreignFile, foreign] : [editedTreeFile, edited]
  if (names.length === 0) return
  throw new Failure(
    names.map(([name]) => finding(problem, { file: path.join(root, name) })),
    1,
  )
}

function refuseOutside(root: string, names: readonly string[]): void {
  const outside = names.filter((name) => resolveBelow(root, name) === undefined)
  if (outside.length === 0) return
  throw new Failure(
    outside.map((file) => finding(pathLeavesFolder, { file, folder: root })),
    1,
  )
}

/** The options that the last command for this tree remembered. */
export async function readRemembered(root: string): Promise<Record> {
  const record = await readRecord(root)
  const options = selectOptions(record)
  return 'gitops' in options ? options : { ...options, ...(await inferOptions(root, record)) }
}

/** A tree of 0.1.0 records no options: its files show them. A tree that is for no tool has none of these files. */
async function inferOptions(root: string, record: Record): Promise<Record> {
  if (record['flux/kustomizations.yaml'] !== undefined) return { gitops: 'flux' }
  if (record['argocd/health.yaml'] === undefined) return {}
  const applications = await readFile(path.join(root, 'argocd/applications.yaml'), 'utf8').catch(() => '')
  const [, repository] = /\brepoURL: "?([^"\s]+)/.exec(applications) ?? []
  return { gitops: 'argocd', ...(repository !== undefined && { repository }) }
}

function addDashes(options: Record): Record {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [`--${name}`, value]))
}

function selectOptions(record: Record): Record {
  const options = Object.entries(record).filter(([name]) => name.startsWith('--'))
  return Object.fromEntries(options.map(([name, value]) => [name.slice(2), value]))
}

/** The record may come from elsewhere with the tree: only files below the tree count as written by Stackloom. */
async function readRecord(root: string): Promise<Record> {
  try {
    const record = JSON.parse(await readFile(path.join(root, RECORD), 'utf8')) as Record | null
    return Object.fromEntries(
      Object.entries(record ?? {}).filter(
        ([name, value]) => typeof value === 'string' && resolveBelow(root, name) !== undefined,
      ),
    )
  } catch {
    // Without a record no file is ours.
    return {}
  }
}

/** Hashes of the files that exist. */
async function readHashes(root: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const name of names) {
    const file = path.join(root, name)
    if (existsSync(file)) found.set(name, hashText(await readFile(file, 'utf8')))
  }
  return found
}

/** Files that we wrote and no longer render, by whether they are unchanged. */
async function findStaleFiles(
  root: string,
  before: Record,
  files: ReadonlyMap<string, string>,
): Promise<{ readonly stale: readonly string[]; readonly foreign: readonly string[] }> {
  const stale: string[] = []
  const foreign: string[] = []
  for (const [name, hash] of Object.entries(before)) {
    const file = path.join(root, name)
    if (files.has(name) || !existsSync(file)) continue
    const isUnchanged = hashText(await readFile(file, 'utf8')) === hash
    ;(isUnchanged ? stale : foreign).push(name)
  }
  return { stale, foreign }
}

async function removeEmptyFolders(root: string, removed: readonly string[]): Promise<void> {
  for (const name of removed) {
    for (let folder = path.dirname(name); folder !== '.'; folder = path.dirname(folder)) {
      try {
        await rmdir(path.join(root, folder))
      } catch {
        break
      }
    }
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
