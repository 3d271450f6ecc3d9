/**
 * Publishes cache folders atomically: each is created under a temporary name with a manifest of sizes and checksums, then
 * renamed. Knows nothing about the content.
 */
import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { unwritableFile } from '../../errors/common.ts'
import { failure, formatError } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { damagedCache, diskFull } from '../findings.ts'
import { acquireLock } from '../process-lock.ts'
import type { Notify } from '../sandbox-context.ts'

export type Inspection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly reason: string }

interface FileRecord {
  readonly size: number
  readonly mtimeMs: number
  readonly sha256: string
}

type Manifest = Readonly<Record<string, FileRecord>>

const MANIFEST = 'manifest.json'
const TEMPORARY_SUFFIX = '.making-'

/** Compares a folder with its manifest. Checksums are computed only for files with a changed mtime. */
export async function inspectFolder(folder: string): Promise<Inspection> {
  let manifest: Manifest
  try {
    manifest = JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8')) as Manifest
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await exists(folder))) return { kind: 'absent' }
    return { kind: 'damaged', reason: `its manifest cannot be read: ${formatError(error)}` }
  }
  for (const [name, record] of Object.entries(manifest)) {
    const reason = await findDamage(path.join(folder, name), record)
    if (reason) return { kind: 'damaged', reason: `${name}: ${reason}` }
  }
  return { kind: 'whole' }
}

async function findDamage(file: string, { size, mtimeMs, sha256 }: FileRecord): Promise<string | undefined> {
  const facts = await stat(file).catch(() => undefined)
  if (!facts?.isFile()) return 'missing'
  if (facts.size !== size) return `${facts.size} bytes instead of ${size}`
  if (facts.mtimeMs === mtimeMs) return undefined
  if ((await checksum(file)) !== sha256) return 'different content'
  // A copied cache has new mtimes: restore them, so that the next inspection is fast.
  await utimes(file, mtimeMs / 1000, mtimeMs / 1000)
  return undefined
}

interface PublishOptions {
  /** A folder inside whose files are not in the manifest, because a check of all would take seconds at each use. */
  readonly unchecked?: string
}

/** Creates a folder and replaces the target with it. The caller holds the lock of the target. */
export async function publishFolder(
  target: string,
  create: (folder: string) => Promise<void>,
  { unchecked }: PublishOptions = {},
): Promise<void> {
  const parent = path.dirname(target)
  const temporary = `${target}${TEMPORARY_SUFFIX}${process.pid}`
  try {
    await mkdir(parent, { recursive: true })
    // Their creator has exited, otherwise it would hold the lock.
    await removeLeftovers(target)
    await mkdir(temporary)
    await create(temporary)
    await writeManifest(temporary, unchecked)
    await rm(target, { recursive: true, force: true })
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw toWriteFailure(error, parent, `writing ${path.basename(target)}`)
  }
}

interface EnsureOptions {
  /** For the finding about a damaged folder. */
  readonly what: string
  /** Printed while another process creates the folder. */
  readonly waiting: string
  readonly notify: Notify
  readonly signal?: AbortSignal | undefined
}

/** Creates a folder under a lock unless it is complete. A damaged folder is reported and created again. */
export async function ensureFolder(
  folder: string,
  { what, waiting, notify, signal }: EnsureOptions,
  create: () => Promise<void>,
): Promise<string> {
  if ((await inspectFolder(folder)).kind === 'whole') return folder
  const onWait = (): void => notify({ kind: 'progress', text: waiting })
  const lock = await acquireLock([`cache ${folder}`], { ...(signal && { signal }), onWait })
  try {
    const state = await inspectFolder(folder)
    if (state.kind === 'whole') return folder
    if (state.kind === 'damaged') {
      const facts = { what, folder: path.dirname(folder), reason: state.reason }
      notify({ kind: 'finding', finding: finding(damagedCache, facts) })
    }
    await create()
    return folder
  } finally {
    await lock.release()
  }
}

async function removeLeftovers(target: string): Promise<void> {
  for (const leftover of await findLeftovers(target)) await rm(leftover, { recursive: true, force: true })
}

async function findLeftovers(target: string): Promise<readonly string[]> {
  const parent = path.dirname(target)
  const names = await readdir(parent).catch(() => [])
  return names
    .filter((name) => name.startsWith(`${path.basename(target)}${TEMPORARY_SUFFIX}`))
    .map((name) => path.join(parent, name))
}

async function writeManifest(folder: string, unchecked?: string): Promise<void> {
  const top = await readdir(folder, { withFileTypes: true })
  const manifest: Record<string, FileRecord> = {}
  for (const file of await listFiles(
    folder,
    top.filter(({ name }) => name !== unchecked),
  )) {
    // Whole milliseconds survive every file system and `utimes`.
    const mtimeMs = Math.floor((await stat(file)).mtimeMs)
    await utimes(file, mtimeMs / 1000, mtimeMs / 1000)
    const { size, mtimeMs: kept } = await stat(file)
    manifest[path.relative(folder, file)] = { size, mtimeMs: kept, sha256: await checksum(file) }
  }
  await writeFile(path.join(folder, MANIFEST), JSON.stringify(manifest))
}

async function listFiles(folder: string, entries: readonly Dirent[]): Promise<readonly string[]> {
  const found = await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) return listFiles(file, await readdir(file, { withFileTypes: true }))
      return entry.isFile() ? [file] : []
    }),
  )
  return found.flat()
}

async function checksum(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

/** Turns an error of a write into a finding with the folder: it has no space, or belongs to another user. Returns others unchanged. */
export function toWriteFailure(error: unknown, folder: string, doing: string): unknown {
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : ''
  if (code === 'ENOSPC') return failure(diskFull, { folder, doing }, { cause: error })
  // Such as a folder that `sudo` made in the home of another user.
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error
  return failure(unwritableFile, { file: folder, reason: formatError(error) }, { cause: error })
}

export function mentionsDiskFull(output: string): boolean {
  return /no space left on device/i.test(output)
}
