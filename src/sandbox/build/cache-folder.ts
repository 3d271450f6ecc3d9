/**
 * The cache as folders that are whole or not there: made aside, written down in a manifest, renamed into place.
 *
 * Knows sizes and checksums, not what is inside.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { failure, formatError } from '../../errors/failure.ts'
import { diskFull } from '../findings.ts'

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

/** Whether a folder holds what was put there. Checksums are computed only for files that were touched since. */
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
  if ((await checksum(file)) !== sha256) return 'another content'
  // A copied cache has new times: noted once, so that the next look is quick again.
  await utimes(file, mtimeMs / 1000, mtimeMs / 1000)
  return undefined
}

/** Makes a folder aside and puts it in its place, whatever was there before. The caller holds the lock on it. */
export async function publishFolder(target: string, make: (folder: string) => Promise<void>): Promise<void> {
  const parent = path.dirname(target)
  const aside = `${target}${TEMPORARY_SUFFIX}${process.pid}`
  try {
    await mkdir(parent, { recursive: true })
    // Whoever left these is gone, or would hold the lock.
    await removeLeftovers(target)
    await mkdir(aside)
    await make(aside)
    await writeManifest(aside)
    await rm(target, { recursive: true, force: true })
    await rename(aside, target)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    throw toDiskFullFailure(error, parent, `writing ${path.basename(target)}`)
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

async function writeManifest(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const manifest: Record<string, FileRecord> = {}
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    // Whole milliseconds survive every file system and `utimes`.
    const mtimeMs = Math.floor((await stat(file)).mtimeMs)
    await utimes(file, mtimeMs / 1000, mtimeMs / 1000)
    const { size, mtimeMs: kept } = await stat(file)
    manifest[path.relative(folder, file)] = { size, mtimeMs: kept, sha256: await checksum(file) }
  }
  await writeFile(path.join(folder, MANIFEST), JSON.stringify(manifest))
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

/** A full disk is said as such, with the folder; any other error stays itself. */
export function toDiskFullFailure(error: unknown, folder: string, doing: string): unknown {
  const full = error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOSPC'
  return full ? failure(diskFull, { folder, doing }, { cause: error }) : error
}

export function mentionsDiskFull(output: string): boolean {
  return /no space left on device/i.test(output)
}
