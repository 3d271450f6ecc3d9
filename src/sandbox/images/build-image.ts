/**
 * Writes an image as an OCI archive: a layer with the files of packages, a layer with everything else, and the documents.
 *
 * tar reads the packages' files where they are; the order, owners and times of entries do not depend on this machine.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, cp, lstat, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, type Program, succeeded } from '../../exec/process.ts'
import { mentionsDiskFull } from '../build/cache-folder.ts'
import { diskFull } from '../findings.ts'
import { imageBuildFailed } from './findings.ts'
import type { ImageDefinition, ImageEntry } from './image-definition.ts'
import { type Blob, imageArchitecture, layOutImage } from './image-layout.ts'

export interface ImageBuild {
  readonly name: string
  readonly definition: ImageDefinition
  /** Absolute paths of the packages' files, sorted. */
  readonly packageFiles: readonly string[]
  /** An empty folder, which gets `image.tar` and loses everything else. */
  readonly folder: string
}

export interface BuildTools {
  readonly exec: Exec
  readonly signal?: AbortSignal | undefined
}

export const ARCHIVE_NAME = 'image.tar'

/** Returns the digest of the image. */
export async function buildImage(build: ImageBuild, tools: BuildTools): Promise<string> {
  const { definition, folder } = build
  const layout = path.join(folder, 'layout')
  const blobs = path.join(layout, 'blobs', 'sha256')
  const root = path.join(folder, 'root')
  await mkdir(blobs, { recursive: true })
  await mkdir(root)
  const layers: Blob[] = []
  const addLayer = async (args: readonly string[]): Promise<void> => {
    const file = path.join(folder, 'layer.tar')
    await run({ file: 'tar', args: [...stableArgs, '-cf', file, ...args] }, build, tools)
    const blob = await describeBlob(file)
    await rename(file, path.join(blobs, blob.digest.slice('sha256:'.length)))
    layers.push(blob)
  }
  const packaged = await listPackaged(build.packageFiles)
  if (packaged.length > 0) {
    const list = path.join(folder, 'files')
    await writeFile(list, packaged.map((file) => `${file}\0`).join(''))
    // A link to another file of this machine may or may not be one elsewhere.
    await addLayer(['--hard-dereference', '--no-recursion', '--null', '--verbatim-files-from', '-C', '/', '-T', list])
  }
  for (const entry of definition.entries) await writeEntry(root, entry)
  if (definition.compilesPython) await compilePython(root, packaged, build, tools)
  await addLayer(['-C', root, ...(await readdir(root)).sort()])
  const { digest, documents } = layOutImage(
    definition.reference,
    definition.config,
    layers,
    imageArchitecture(process.arch),
  )
  for (const [name, text] of documents) await writeFile(path.join(layout, name), text)
  const names = (await readdir(layout)).sort()
  const archive = path.join(folder, ARCHIVE_NAME)
  await run({ file: 'tar', args: [...stableArgs, '-cf', archive, '-C', layout, ...names] }, build, tools)
  for (const name of ['layout', 'root', 'files']) await rm(path.join(folder, name), { recursive: true, force: true })
  return digest
}

const stableArgs = ['--format=gnu', '--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']

/** Links of the root folder, where this machine has them. */
const rootLinks = ['bin', 'lib', 'lib32', 'lib64', 'libx32', 'sbin']

/** Relative paths of what exists; a machine may leave out files of packages. */
async function listPackaged(files: readonly string[]): Promise<readonly string[]> {
  if (files.length === 0) return []
  const links = await Promise.all(
    rootLinks.map(async (name) => ((await lstat(`/${name}`).catch(() => undefined))?.isSymbolicLink() ? [name] : [])),
  )
  const found = await Promise.all(
    files.map(async (file) => ((await lstat(file).catch(() => undefined)) ? [file.slice(1)] : [])),
  )
  return [...links.flat(), ...found.flat()]
}

async function writeEntry(root: string, entry: ImageEntry): Promise<void> {
  const target = path.join(root, entry.path)
  await mkdir(path.dirname(target), { recursive: true })
  if (entry.kind === 'text') {
    await writeFile(target, entry.text)
    await chmod(target, entry.mode ?? 0o644)
  } else if (entry.kind === 'link') {
    await symlink(entry.target, target)
  } else if (entry.kind === 'folder') {
    await mkdir(target, { recursive: true })
    await chmod(target, entry.mode)
  } else {
    const omitted = new Set(entry.omit?.map((name) => path.join(entry.from, name)))
    await cp(entry.from, target, { recursive: true, dereference: true, filter: (source) => !omitted.has(source) })
    await normaliseModes(target)
  }
}

/** The umask of a checkout must not change the image, nor keep its user from reading. */
async function normaliseModes(file: string): Promise<void> {
  const { mode } = await stat(file)
  const isFolder = (await stat(file)).isDirectory()
  await chmod(file, isFolder || (mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (!isFolder) return
  for (const name of await readdir(file)) await normaliseModes(path.join(file, name))
}

/** Python finds the result by PYTHONPYCACHEPREFIX; it is bound to the sources by content, not by their times. */
async function compilePython(
  root: string,
  packaged: readonly string[],
  build: ImageBuild,
  { exec, signal }: BuildTools,
): Promise<void> {
  const list = path.join(build.folder, 'modules')
  const modules = packaged.filter((file) => file.endsWith('.py')).map((file) => `/${file}\n`)
  await writeFile(list, modules.join(''))
  // Fails for templates that are no Python; these are never imported.
  await exec(
    {
      file: 'python3',
      args: ['-m', 'compileall', '-qq', '--invalidation-mode', 'unchecked-hash', '-i', list],
      env: { PYTHONPYCACHEPREFIX: path.join(root, 'var/cache/python'), PYTHONHASHSEED: '0' },
    },
    signal ? { signal } : {},
  )
  await rm(list)
}

async function run(program: Program, { name, folder }: ImageBuild, { exec, signal }: BuildTools): Promise<void> {
  const { exit, stderr } = await exec(program, signal ? { signal } : {})
  if (succeeded(exit)) return
  signal?.throwIfAborted()
  if (mentionsDiskFull(stderr)) throw failure(diskFull, { folder, doing: `building the image ${name}` })
  throw failure(imageBuildFailed, { image: name, reason: lastLines(stderr) || describeExit(exit) })
}

async function describeBlob(file: string): Promise<Blob> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return { digest: `sha256:${hash.digest('hex')}`, size: (await stat(file)).size }
}
