/**
 * Writes a tree of files as one change: all of it, or nothing.
 *
 * Drafts are written first, beside their places; only when all are on the disk do they move in, and what moves out is
 * kept until the end, so that a failure in the middle puts everything back. What we wrote is remembered in a file of
 * its own: only that is ever removed, and only while nobody else has changed it.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { unwritableFile } from '../../errors/common.ts'
import { Failure, failure, formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { changedByOthers, foreignFile } from '../../render/findings.ts'

export interface TreeChanges {
  readonly written: readonly string[]
  readonly removed: readonly string[]
  /** Files that are no longer rendered, but that somebody else has changed. */
  readonly findings: readonly Finding[]
}

/** What is used of the file system; a test may let any of it fail. */
export interface Disk {
  readonly mkdir: typeof mkdir
  readonly rename: typeof rename
  readonly writeFile: typeof writeFile
}

const disk: Disk = { mkdir, rename, writeFile }

/** The record of what we wrote: paths and hashes. */
const RECORD = '.stackloom-tree.json'
const DRAFTS = '.stackloom-drafts'

type Record = Readonly<globalThis.Record<string, string>>

export async function writeTree(
  root: string,
  files: ReadonlyMap<string, string>,
  { mkdir: makeFolder, rename: move, writeFile: write }: Disk = disk,
): Promise<TreeChanges> {
  const drafts = path.join(root, DRAFTS)
  const before = await readRecord(root)
  const record = Object.fromEntries([...files].map(([name, text]) => [name, hashText(text)]))
  const present = await readHashes(root, [...files.keys()])
  const taken = [...present].filter(([name, hash]) => before[name] === undefined && hash !== record[name])
  if (taken.length > 0) {
    throw new Failure(
      taken.map(([name]) => finding(foreignFile, { file: path.join(root, name) })),
      1,
    )
  }
  const written = [...files.keys()].filter((name) => present.get(name) !== record[name])
  const { stale, foreign } = await findStaleFiles(root, before, files)
  const findings = foreign.map((file) => finding(changedByOthers, { file: path.join(root, file) }))
  if (written.length === 0 && stale.length === 0) return { written, removed: [], findings }

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
    await write(draftRecord, `${JSON.stringify(record, null, 2)}\n`)
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

async function readRecord(root: string): Promise<Record> {
  try {
    return JSON.parse(await readFile(path.join(root, RECORD), 'utf8')) as Record
  } catch {
    // No record: nothing there is ours.
    return {}
  }
}

/** The hashes of those files that are there. */
async function readHashes(root: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const name of names) {
    const file = path.join(root, name)
    if (existsSync(file)) found.set(name, hashText(await readFile(file, 'utf8')))
  }
  return found
}

/** What we wrote and no longer render, apart by whether it is still as we wrote it. */
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
    const own = hashText(await readFile(file, 'utf8')) === hash
    ;(own ? stale : foreign).push(name)
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
