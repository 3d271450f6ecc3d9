/** Provides program paths: from KUBEBUILDER_ASSETS, from the cache, from the envtest archive, or by building them now. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import type { Exec } from '../../exec/process.ts'
import { damagedCache, goMissing, missingAsset } from '../findings.ts'
import { acquireLock } from '../process-lock.ts'
import { executableName, type ProgramName, type ProgramPin, programs } from '../programs.ts'
import type { Notice, Notify, SandboxPaths } from '../sandbox-context.ts'
import { inspectFolder, publishFolder, toWriteFailure } from './cache-folder.ts'
import { compile, findToolchain, linkerFlags, type Toolchain } from './compile.ts'
import { ensureArchive, selectArchive } from './envtest-archive.ts'

export interface BuildContext {
  readonly paths: SandboxPaths
  readonly env: Readonly<Record<string, string | undefined>>
  readonly exec: Exec
  readonly notify: Notify
  readonly signal?: AbortSignal | undefined
}

export type ProgramPaths<N extends string = ProgramName> = Readonly<Record<N, string>>

interface ProgramRequest {
  readonly name: string
  readonly pin: ProgramPin
}

interface CachedProgram extends ProgramRequest {
  readonly folder: string
}

export async function ensurePrograms<N extends ProgramName>(
  names: readonly N[],
  context: BuildContext,
): Promise<ProgramPaths<N>> {
  return ensurePins(names, programs, context)
}

/** Takes any table of pins, so that a test can use a small program. */
export async function ensurePins<N extends string>(
  names: readonly N[],
  table: Readonly<Record<N, ProgramPin>>,
  context: BuildContext,
): Promise<ProgramPaths<N>> {
  const paths: Record<string, string> = {}
  const byPin = new Map<string, ProgramRequest[]>()
  for (const name of names) {
    const pin = table[name]
    const asset = pin.asset && (await findAsset(pin.asset, context.env))
    if (asset) paths[name] = asset
    else byPin.set(pin.pin, [...(byPin.get(pin.pin) ?? []), { name, pin }])
  }
  Object.assign(paths, await takeFromArchive(byPin, table, context))
  // Once for the whole build, not once per pin.
  let announced = false
  const announce = (resumed: boolean): void => {
    if (!announced) context.notify(buildNotice([...byPin.values()].flat(), resumed, context.paths))
    announced = true
  }
  for (const [pin, wanted] of byPin) Object.assign(paths, await ensurePin(pin, wanted, announce, context))
  return paths as ProgramPaths<N>
}

/** Removes what the archive has from the programs to build, where it is allowed and they are not built already. */
async function takeFromArchive<N extends string>(
  byPin: Map<string, ProgramRequest[]>,
  table: Readonly<Record<N, ProgramPin>>,
  context: BuildContext,
): Promise<Record<string, string>> {
  const inArchive = [...byPin.values()].flat().filter(({ pin }) => pin.archived)
  const archive = inArchive.length > 0 ? await selectArchive(context) : undefined
  if (!archive) return {}
  const built = await Promise.all(inArchive.map(({ name }) => isBuilt(name as N, table, context)))
  const missing = inArchive.filter((_, index) => !built[index])
  const folder = missing.length > 0 ? await ensureArchive(archive, context) : undefined
  if (folder === undefined) return {}
  for (const [pin, requests] of byPin) {
    const rest = requests.filter((request) => !missing.includes(request))
    if (rest.length > 0) byPin.set(pin, rest)
    else byPin.delete(pin)
  }
  return Object.fromEntries(missing.map(({ name, pin }) => [name, path.join(folder, pin.archived ?? name)]))
}

/** Whether the program can be had without a build; for those that only some tests need. */
export async function isBuilt<N extends string>(
  name: N,
  table: Readonly<Record<N, ProgramPin>>,
  { paths, exec }: BuildContext,
): Promise<boolean> {
  const pin = table[name]
  const pinFolder = path.join(paths.pins, pin.pin)
  const toolchain = await findToolchain(exec, pinFolder)
  const present = await readdir(path.join(paths.cache, 'programs')).catch((): string[] => [])
  if ('missing' in toolchain) {
    const start = `${name}-${await hashInputs(pin, pinFolder)}-`
    return present.some((folder) => folder.startsWith(start) && !folder.includes('.making-'))
  }
  return present.includes(await cacheKey(name, pin, pinFolder, toolchain))
}

function buildNotice(wanted: readonly { readonly name: string }[], resumed: boolean, paths: SandboxPaths): Notice {
  const names = wanted.map(({ name }) => name).join(', ')
  return {
    kind: 'announcement',
    text:
      `${resumed ? 'Continuing the build of' : 'Building'} ${names} from pinned sources into ` +
      `${path.join(paths.cache, 'programs')}, because the sandbox runs the real programs. ` +
      'This is done once; a full build takes 4 to 8 minutes on two idle cores. STACKLOOM_ENVTEST=official downloads ' +
      'the API server and etcd instead.',
  }
}

async function findAsset(name: string, env: BuildContext['env']): Promise<string | undefined> {
  const folder = env['KUBEBUILDER_ASSETS']
  if (!folder) return undefined
  const file = path.join(folder, name)
  await access(file, constants.X_OK).catch((cause: unknown) => {
    throw failure(missingAsset, { folder, program: name }, { cause })
  })
  return file
}

async function ensurePin(
  pin: string,
  asked: readonly ProgramRequest[],
  announce: (resumed: boolean) => void,
  context: BuildContext,
): Promise<Record<string, string>> {
  const { paths, exec, notify, signal } = context
  const pinFolder = path.join(paths.pins, pin)
  const toolchain = await findToolchain(exec, pinFolder)
  if ('missing' in toolchain) return findBuiltPrograms(toolchain.missing, pinFolder, asked, context)
  const wanted: readonly CachedProgram[] = await Promise.all(
    asked.map(async (asked) => ({
      ...asked,
      folder: path.join(paths.cache, 'programs', await cacheKey(asked.name, asked.pin, pinFolder, toolchain)),
    })),
  )
  const programPaths = Object.fromEntries(wanted.map(({ name, folder }) => [name, path.join(folder, name)]))
  if ((await findMissing(wanted, context)).length === 0) return programPaths
  const waiting = `waiting for another process that builds ${asked.map(({ name }) => name).join(', ')}`
  const lock = await acquireLock([`build ${paths.cache} ${pin}`], {
    ...(signal && { signal }),
    onWait: () => notify({ kind: 'progress', text: waiting }),
  })
  try {
    const missing = await findMissing(wanted, context)
    if (missing.length > 0) {
      announce(await wasInterrupted(paths, pin))
      await build(missing, pinFolder, context)
    }
  } finally {
    await lock.release()
  }
  return programPaths
}

/** Returns programs that are not in the cache. Damaged ones are reported and removed. */
async function findMissing(
  wanted: readonly CachedProgram[],
  { paths, notify }: BuildContext,
): Promise<readonly CachedProgram[]> {
  const found: CachedProgram[] = []
  for (const program of wanted) {
    const state = await inspectFolder(program.folder)
    if (state.kind !== 'whole') found.push(program)
    if (state.kind === 'damaged') {
      const facts = { what: program.name, folder: path.join(paths.cache, 'programs'), reason: state.reason }
      notify({ kind: 'finding', finding: finding(damagedCache, facts) })
      await rm(program.folder, { recursive: true, force: true })
    }
  }
  return found
}

async function build(wanted: readonly CachedProgram[], pinFolder: string, context: BuildContext): Promise<void> {
  const names = wanted.map(({ name }) => name)
  const cacheFolder = path.join(context.paths.cache, 'programs')
  const into = await createScratchFolder(cacheFolder, path.basename(pinFolder))
  try {
    const pins = wanted.map(({ pin }) => pin)
    await compile({ names, pins, pinFolder, into }, context)
    for (const { name, pin, folder } of wanted) {
      await publishFolder(folder, (temporary) =>
        rename(path.join(into, executableName(pin.package)), path.join(temporary, name)),
      )
    }
  } finally {
    await rm(into, { recursive: true, force: true })
  }
}

async function wasInterrupted(paths: SandboxPaths, pin: string): Promise<boolean> {
  const present = await readdir(path.join(paths.cache, 'programs')).catch(() => [])
  return present.some((name) => name.startsWith(`.${pin}-`))
}

/** Creates a folder for the build output and removes those of interrupted builds; the lock ensures that no build is running. */
async function createScratchFolder(cacheFolder: string, pin: string): Promise<string> {
  try {
    await mkdir(cacheFolder, { recursive: true })
    for (const name of await readdir(cacheFolder)) {
      if (name.startsWith(`.${pin}-`)) await rm(path.join(cacheFolder, name), { recursive: true, force: true })
    }
    return await mkdtemp(path.join(cacheFolder, `.${pin}-`))
  } catch (error) {
    throw toWriteFailure(error, cacheFolder, `building ${pin}`)
  }
}

/** Without Go, uses programs that another Go version built from the same pin. */
async function findBuiltPrograms(
  reason: string,
  pinFolder: string,
  asked: readonly ProgramRequest[],
  { paths }: BuildContext,
): Promise<Record<string, string>> {
  const cacheFolder = path.join(paths.cache, 'programs')
  const present = await readdir(cacheFolder).catch(() => [])
  const found: Record<string, string> = {}
  for (const { name, pin } of asked) {
    const start = `${name}-${await hashInputs(pin, pinFolder)}-`
    const folder = present.find((name) => name.startsWith(start) && !name.includes('.making-'))
    if (folder && (await inspectFolder(path.join(cacheFolder, folder))).kind === 'whole') {
      found[name] = path.join(cacheFolder, folder, name)
    }
  }
  const needed = asked.map(({ name }) => name).filter((name) => !(name in found))
  if (needed.length > 0) throw failure(goMissing, { needed, reason })
  return found
}

async function cacheKey(name: string, pin: ProgramPin, pinFolder: string, toolchain: Toolchain): Promise<string> {
  return `${name}-${await hashInputs(pin, pinFolder)}-${toolchain.version}-${toolchain.platform}`
}

/** Hashes all build inputs except the toolchain. */
async function hashInputs(pin: ProgramPin, pinFolder: string): Promise<string> {
  const hash = createHash('sha256').update(
    `${pin.package}\n${linkerFlags}\n${pin.ldflags ?? ''}\n${pin.tags === undefined ? '' : `${pin.tags}\n`}`,
  )
  const sources = (await readdir(pinFolder)).filter((file) => file.endsWith('.go')).sort()
  for (const file of ['go.mod', 'go.sum', ...sources]) hash.update(await readFile(path.join(pinFolder, file)))
  return hash.digest('hex').slice(0, 16)
}
