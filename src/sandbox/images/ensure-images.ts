/**
 * Provides the images of the sandbox from the user's cache, and builds those that are missing: from installed Debian
 * packages, this program and its Node, without a registry. An image is built again when one of its inputs has changed.
 */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isSea } from 'node:sea'
import { pipeline } from 'node:stream/promises'
import { failure } from '../../errors/failure.ts'
import { describeExit, succeeded } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../build/cache-folder.ts'
import { type BuildContext, ensurePrograms } from '../build/ensure-programs.ts'
import { ARCHIVE_NAME, buildImage } from './build-image.ts'
import { imageBuildFailed, packagesMissing, programNotBuilt } from './findings.ts'
import type { ImageDefinition, ImageEntry } from './image-definition.ts'
import {
  ansibleRunnerImage,
  dnsmasqImage,
  type ImageName,
  operatorImage,
  type ProgramParts,
  pauseImage,
  probeImage,
} from './image-table.ts'
import {
  type InstalledPackage,
  parseFileList,
  parseInstalled,
  QUERY_FORMAT,
  selectPackages,
} from './installed-packages.ts'

/** Increase when the same inputs give another image. */
const FORMAT_VERSION = 1

export interface BuiltImage {
  readonly name: string
  readonly reference: string
  readonly digest: string
  /** Of the archive, in bytes. */
  readonly size: number
  /** An OCI archive. */
  readonly archive: string
}

export interface ImageContext extends BuildContext {
  /** The folder with package.json, bin/ and dist/ for the operator's image; that of this program by default. */
  readonly programFolder?: string
}

export async function ensureImages(names: readonly ImageName[], context: ImageContext): Promise<readonly BuiltImage[]> {
  const images: BuiltImage[] = []
  for (const name of names) images.push(await ensureImage(name, await defineImage(name, context), context))
  return images
}

async function defineImage(name: ImageName, context: ImageContext): Promise<ImageDefinition> {
  switch (name) {
    case 'pause':
      return pauseImage((await ensurePrograms(['pause'], context)).pause)
    case 'operator':
      return operatorImage(await findProgram(context))
    case 'dnsmasq':
      return dnsmasqImage()
    case 'ansible-runner':
      return ansibleRunnerImage()
    case 'probe':
      return probeImage()
  }
}

/** Takes any definition, so that a test can use a small one. */
export async function ensureImage(
  name: string,
  definition: ImageDefinition,
  context: BuildContext,
): Promise<BuiltImage> {
  const { paths, notify, signal } = context
  const packages = await resolvePackages(name, definition, context)
  const key = await hashInputs(definition, packages)
  const folder = path.join(paths.cache, 'images', `${name}-${key}`)
  const waiting = `waiting for another process that builds the image ${name}`
  await ensureFolder(folder, { what: `the image ${name}`, waiting, notify, signal }, async () => {
    notify({ kind: 'progress', text: `building the image ${name}` })
    await publishFolder(folder, async (temporary) => {
      const packageFiles = await listFiles(name, packages, context)
      const digest = await buildImage({ name, definition, packageFiles, folder: temporary }, context)
      await writeFile(path.join(temporary, 'digest'), digest)
    })
  })
  const archive = path.join(folder, ARCHIVE_NAME)
  const digest = await readFile(path.join(folder, 'digest'), 'utf8')
  return { name, reference: definition.reference, digest, size: (await stat(archive)).size, archive }
}

async function resolvePackages(
  image: string,
  { packages, omittedPackages = [] }: ImageDefinition,
  context: BuildContext,
): Promise<readonly InstalledPackage[]> {
  if (packages.length === 0) return []
  const installed = parseInstalled(await query(image, ['-W', '-f', QUERY_FORMAT], packages, context))
  const selection = selectPackages(packages, omittedPackages, installed)
  if (selection.missing.length > 0) throw failure(packagesMissing, { image, packages: selection.missing })
  return selection.packages
}

async function listFiles(
  image: string,
  packages: readonly InstalledPackage[],
  context: BuildContext,
): Promise<readonly string[]> {
  if (packages.length === 0) return []
  const names = packages.map(({ name }) => name)
  return parseFileList(await query(image, ['-L', ...names], names, context))
}

async function query(
  image: string,
  args: readonly string[],
  packages: readonly string[],
  { exec, signal }: BuildContext,
): Promise<string> {
  const { exit, stdout, stderr } = await exec(
    { file: 'dpkg-query', args, env: { LC_ALL: 'C' } },
    signal ? { signal } : {},
  )
  if (succeeded(exit)) return stdout
  signal?.throwIfAborted()
  if (exit.kind === 'not-started' && exit.missing) throw failure(packagesMissing, { image, packages })
  throw failure(imageBuildFailed, { image, reason: stderr.trim() || describeExit(exit) })
}

async function hashInputs(definition: ImageDefinition, packages: readonly InstalledPackage[]): Promise<string> {
  const hash = createHash('sha256')
  const { entries, ...rest } = definition
  hash.update(
    JSON.stringify([FORMAT_VERSION, process.arch, rest, packages.map(({ name, version }) => [name, version])]),
  )
  for (const entry of entries) hash.update(await describeEntry(entry))
  return hash.digest('hex').slice(0, 16)
}

async function describeEntry(entry: ImageEntry): Promise<string> {
  if (entry.kind !== 'copy') return JSON.stringify(entry)
  const { from, omit = [], ...rest } = entry
  return JSON.stringify([rest, await hashTree(from, omit)])
}

async function hashTree(file: string, omit: readonly string[] = []): Promise<string> {
  const facts = await stat(file)
  const hash = createHash('sha256')
  if (facts.isDirectory()) {
    const names = (await readdir(file)).filter((name) => !omit.includes(name)).sort()
    for (const name of names) hash.update(`${name}\0${await hashTree(path.join(file, name))}\0`)
  } else {
    hash.update((facts.mode & 0o100) === 0 ? 'file\0' : 'program\0')
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  }
  return hash.digest('hex')
}

async function findProgram({ programFolder, env }: ImageContext): Promise<ProgramParts> {
  const folder = programFolder ?? findPackageFolder(import.meta.dirname)
  if (!existsSync(path.join(folder, 'dist', 'entry.js'))) throw failure(programNotBuilt, { folder })
  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string }
  return { folder, version, node: isSea() ? findInPath('node', env) : process.execPath }
}

/** This file runs from `src/` and, bundled, from `dist/`: the package is one of the parent folders. */
function findPackageFolder(folder: string): string {
  if (existsSync(path.join(folder, 'package.json')) && existsSync(path.join(folder, 'bin', 'stackloom'))) return folder
  const parent = path.dirname(folder)
  if (parent === folder) throw failure(programNotBuilt, { folder: import.meta.dirname })
  return findPackageFolder(parent)
}

/** The single executable contains a Node that runs nothing else. */
function findInPath(program: string, env: BuildContext['env']): string {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder))
  const found = folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file))
  if (found === undefined)
    throw failure(imageBuildFailed, { image: 'operator', reason: `there is no ${program} in PATH` })
  return found
}
