/** Starts, stops, inspects and resets sandboxes by name. Each is a folder with data and, while it runs, one supervisor. */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { failure, formatError } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import { runProcess, toProgram } from '../exec/process.ts'
import { toDiskFullFailure } from './build/cache-folder.ts'
import { ensurePrograms } from './build/ensure-programs.ts'
import { ensureNodes } from './cluster-objects.ts'
import { callSupervisor, isNotRunning } from './control.ts'
import { ensureCrds, type OwnCrds } from './crds/crd-sets.ts'
import { newestRelease } from './crds/release-folders.ts'
import { runningWithOtherSettings, settingsConflict, supervisorUnresponsive } from './findings.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { copyPreparedStore, ensurePreparedStore, type PrepareContext } from './prepare.ts'
import { acquireLock } from './process-lock.ts'
import { requiredPrograms } from './program-table.ts'
import {
  type CrdSource,
  listSandboxNames,
  locateSandbox,
  parts,
  readSettings,
  requireSettings,
  type Settings,
  writeSettings,
} from './settings.ts'
import { removeSandboxFolder, startPrograms, withConnection } from './start-programs.ts'
import type { SupervisorStatus, Task, TaskStatus } from './supervisor-spec.ts'

export interface SandboxContext extends PrepareContext {
  /** The CRDs of Stackloom, which replace upstream's in the set `own`. */
  readonly ownCrds: OwnCrds
}

export interface StartRequest {
  readonly name: string
  readonly crds?: CrdSource | undefined
  readonly netns?: boolean | undefined
  readonly port?: number | undefined
  readonly actors?: readonly string[] | undefined
  /** Names of Node objects to create. */
  readonly nodes?: readonly string[] | undefined
}

export interface SandboxStatus {
  readonly name: string
  readonly running: boolean
  readonly ready: boolean
  readonly crds: CrdSource
  readonly netns: boolean
  readonly actors: readonly string[]
  readonly server: string
  readonly kubeconfig: string
  readonly folder: string
  readonly supervisor?: number
  readonly programs: readonly TaskStatus[]
  readonly findings: readonly Finding[]
}

/** Returns when the sandbox is ready. A running sandbox is not changed. */
export async function startSandbox(request: StartRequest, context: SandboxContext): Promise<SandboxStatus> {
  const { paths, notify, signal } = context
  const folder = locateSandbox(paths, request.name)
  await mkdir(paths.sandboxes, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw toDiskFullFailure(error, paths.sandboxes, `starting sandbox ${request.name}`)
  })
  const lock = await acquireLock([`sandbox ${folder.root}`], {
    ...(signal && { signal }),
    onWait: () => notify({ kind: 'progress', text: `waiting for another process that uses sandbox ${request.name}` }),
  })
  try {
    const before = await readSettings(folder)
    const crds = await resolveToday(request.crds ?? before?.crds ?? 'today', context)
    rejectCrdChange(request, before, crds)
    await rejectUnknownActors(request)
    if (before && (await queryIfRunning(folder))) rejectRunningChange(request, before)
    else await startStopped({ ...request, crds: before?.crds ?? crds }, before, folder, context)
    const { nodes } = request
    if (nodes) await withConnection(folder, context, ({ client }) => ensureNodes(client, nodes))
    return await sandboxStatus(request.name, context)
  } finally {
    await lock.release()
  }
}

/** The settings name the release, because `today` changes when the user adds one. */
async function resolveToday(crds: CrdSource, { paths }: SandboxContext): Promise<CrdSource> {
  return crds === 'today' ? newestRelease(paths) : crds
}

function rejectCrdChange({ name, crds: asked }: StartRequest, before: Settings | undefined, resolved: CrdSource): void {
  if (!before || asked === undefined || [asked, resolved].includes(before.crds)) return
  throw failure(settingsConflict, { name, setting: '--crd', has: before.crds, asked })
}

/** Settings of running programs cannot be changed. */
function rejectRunningChange({ name, netns, actors, port }: StartRequest, before: Settings): void {
  const asked: readonly (readonly [setting: string, has: string, asked: string | undefined])[] = [
    ['--netns', String(before.netns), netns === undefined ? undefined : String(netns)],
    ['--actors', before.actors.join(',') || 'none', actors?.join(',')],
    ['--port', String(before.port), port === undefined ? undefined : String(port)],
  ]
  for (const [setting, has, requested] of asked) {
    if (requested !== undefined && requested !== has)
      throw failure(runningWithOtherSettings, { name, setting, has, asked: requested })
  }
}

async function rejectUnknownActors({ actors = [] }: StartRequest): Promise<void> {
  if (actors.length === 0) return
  const { resolveActors } = await import('./actors/registry.ts')
  resolveActors(actors)
}

async function startStopped(
  request: StartRequest & { readonly crds: CrdSource },
  before: Settings | undefined,
  folder: SandboxFolder,
  context: SandboxContext,
): Promise<void> {
  const settings: Settings = {
    name: request.name,
    crds: request.crds,
    netns: request.netns ?? before?.netns ?? false,
    parts,
    actors: request.actors ?? before?.actors ?? [],
    port: request.port ?? before?.port ?? 0,
  }
  // Read first: a release that is missing is reported before a build of minutes.
  const collection = (await exists(folder.etcd)) ? undefined : await ensureCrds(settings.crds, context.ownCrds, context)
  const needed = new Set([...requiredPrograms.core, ...settings.parts.flatMap((part) => requiredPrograms[part])])
  const programs = await ensurePrograms([...needed], context)
  if (collection) await copyPreparedStore(await ensurePreparedStore(collection, context), folder)
  context.notify({ kind: 'progress', text: `starting sandbox ${request.name}` })
  const started = await startPrograms(
    {
      name: request.name,
      folder,
      programs,
      parts: settings.parts,
      netns: settings.netns,
      ephemeral: false,
      port: { number: settings.port, fixed: request.port !== undefined },
      extraTasks: (kubeconfig) => actorTasks(settings.actors, kubeconfig, context),
    },
    context,
  )
  await writeSettings(folder, { ...settings, port: started.port })
}

function actorTasks(names: readonly string[], kubeconfig: string, { self }: SandboxContext): readonly Task[] {
  if (names.length === 0) return []
  const { file, args } = toProgram([...self, 'sandbox', 'act', '--kubeconfig', kubeconfig, ...names])
  return [{ name: 'actors', file, args, probe: { kind: 'none' }, after: ['kube-apiserver'], readyMs: 10_000 }]
}

export async function sandboxStatus(name: string, { paths }: Pick<SandboxContext, 'paths'>): Promise<SandboxStatus> {
  const settings = await requireSettings(paths, name)
  const folder = locateSandbox(paths, name)
  const status = await queryIfRunning(folder)
  const findings = status ? await readFindings(folder) : []
  return {
    name,
    running: status !== undefined,
    ready: status?.ready ?? false,
    crds: settings.crds,
    netns: settings.netns,
    actors: settings.actors,
    server: `https://127.0.0.1:${settings.port}`,
    kubeconfig: folder.kubeconfig,
    folder: folder.root,
    ...(status && { supervisor: status.pid }),
    programs: status?.tasks ?? [],
    findings,
  }
}

export async function listSandboxes(context: Pick<SandboxContext, 'paths'>): Promise<readonly SandboxStatus[]> {
  const names = await listSandboxNames(context.paths)
  return Promise.all(names.map((name) => sandboxStatus(name, context)))
}

/** Returns whether it was running. */
export async function stopSandbox(name: string, { paths }: Pick<SandboxContext, 'paths'>): Promise<boolean> {
  await requireSettings(paths, name)
  return stopFolder(locateSandbox(paths, name), name)
}

/** Stops the sandbox and deletes its data. Also works when its settings cannot be read. */
export async function resetSandbox(name: string, { paths }: Pick<SandboxContext, 'paths'>): Promise<void> {
  const folder = locateSandbox(paths, name)
  await stopFolder(folder, name)
  await removeSandboxFolder(folder)
}

async function stopFolder(folder: SandboxFolder, name: string): Promise<boolean> {
  try {
    const { pid } = await callSupervisor(folder.control, { do: 'stop' }, 40_000)
    await waitForExit(pid)
    return true
  } catch (error) {
    if (isNotRunning(error)) {
      await rm(folder.control, { force: true })
      return false
    }
    if (await killUnresponsiveSupervisor(folder)) return true
    const log = logFile(folder, 'supervisor')
    throw failure(supervisorUnresponsive, { name, log, reason: formatError(error) }, { cause: error })
  }
}

/** Kills a supervisor that does not answer; its programs are killed with it. */
async function killUnresponsiveSupervisor(folder: SandboxFolder): Promise<boolean> {
  const { stdout } = await runProcess({ file: 'ps', args: ['-eo', 'pid=,args='] })
  const line = stdout.split('\n').find((text) => text.includes(`sandbox supervise ${folder.root}`))
  const pid = Number(line?.trim().split(' ')[0])
  if (!pid) return false
  process.kill(pid, 'SIGKILL')
  await waitForExit(pid)
  return true
}

async function waitForExit(pid: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function queryIfRunning(folder: SandboxFolder): Promise<SupervisorStatus | undefined> {
  try {
    return await callSupervisor(folder.control, { do: 'status' })
  } catch (error) {
    if (isNotRunning(error)) return undefined
    const name = path.basename(folder.root)
    throw failure(supervisorUnresponsive, { name, log: logFile(folder, 'supervisor'), reason: formatError(error) })
  }
}

async function readFindings(folder: SandboxFolder): Promise<readonly Finding[]> {
  const spec = JSON.parse(await readFile(folder.supervisorSpec, 'utf8')) as { readonly findings: readonly Finding[] }
  return spec.findings
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
