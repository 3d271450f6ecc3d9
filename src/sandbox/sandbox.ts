/**
 * Sandboxes by name: start, stop, status, reset. Each is a folder in the user's state folder, and while it runs
 * one supervisor that answers on a socket in there.
 */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { failure, reasonOf } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import { otherSettings, runsOtherwise, supervisorSilent } from '../errors/sandbox.ts'
import { programOf, runProcess } from '../exec/process.ts'
import { ensurePrograms } from './build/ensure.ts'
import { asDiskFull } from './build/store.ts'
import { ask, isNotRunning } from './control.ts'
import type { CrdSet } from './crds/names.ts'
import { ensureCrds, type OwnCrds } from './crds/sets.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { takeLock } from './lock.ts'
import type { SupervisorStatus, Task, TaskStatus } from './mission.ts'
import { ensureNodes } from './nodes.ts'
import { copyPrepared, ensurePrepared, type PrepareContext } from './prepare.ts'
import { connected, raise, removeFolder } from './raise.ts'
import { programsOf } from './roster.ts'
import {
  folderOf,
  knownSandboxes,
  parts,
  readSettings,
  type Settings,
  settingsOf,
  writeSettings,
} from './settings.ts'

export interface SandboxContext extends PrepareContext {
  /** CRDs that we write ourselves: they replace upstream's in the set `own`. */
  readonly ownCrds: OwnCrds
}

export interface StartRequest {
  readonly name: string
  readonly crds?: CrdSet | undefined
  readonly netns?: boolean | undefined
  readonly port?: number | undefined
  readonly actors?: readonly string[] | undefined
  /** Node objects that are to exist, by name. */
  readonly nodes?: readonly string[] | undefined
}

export interface SandboxStatus {
  readonly name: string
  readonly running: boolean
  readonly ready: boolean
  readonly crds: CrdSet
  readonly netns: boolean
  readonly actors: readonly string[]
  readonly server: string
  readonly kubeconfig: string
  readonly folder: string
  readonly supervisor?: number
  readonly programs: readonly TaskStatus[]
  readonly findings: readonly Finding[]
}

/** A sandbox that runs and is ready; one that runs already is left as it is. */
export async function startSandbox(request: StartRequest, context: SandboxContext): Promise<SandboxStatus> {
  const { places, say, signal } = context
  const folder = folderOf(places, request.name)
  await mkdir(places.sandboxes, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw asDiskFull(error, places.sandboxes, `starting sandbox ${request.name}`)
  })
  const lock = await takeLock([`sandbox ${folder.root}`], {
    ...(signal && { signal }),
    onWait: () => say({ kind: 'progress', text: `another process works on sandbox ${request.name}` }),
  })
  try {
    const before = await readSettings(folder)
    refuseOtherSet(request, before)
    await refuseUnknownActors(request)
    if (before && (await askIfRunning(folder))) refuseOtherWay(request, before)
    else await startStopped(request, before, folder, context)
    const { nodes } = request
    if (nodes) await connected(folder, context, ({ client }) => ensureNodes(client, nodes))
    return await sandboxStatus(request.name, context)
  } finally {
    await lock.release()
  }
}

function refuseOtherSet({ name, crds: asked }: StartRequest, before: Settings | undefined): void {
  if (!before || !asked || asked === before.crds) return
  throw failure(otherSettings, { name, setting: '--crds', has: before.crds, asked })
}

/** What decides how the programs run cannot change while they do. */
function refuseOtherWay({ name, netns, actors, port }: StartRequest, before: Settings): void {
  const asked: readonly (readonly [setting: string, has: string, asked: string | undefined])[] = [
    ['--netns', String(before.netns), netns === undefined ? undefined : String(netns)],
    ['--actors', before.actors.join(',') || 'none', actors?.join(',')],
    ['--port', String(before.port), port === undefined ? undefined : String(port)],
  ]
  for (const [setting, has, wanted] of asked) {
    if (wanted !== undefined && wanted !== has)
      throw failure(runsOtherwise, { name, setting, has, asked: wanted })
  }
}

async function refuseUnknownActors({ actors = [] }: StartRequest): Promise<void> {
  if (actors.length === 0) return
  const { castOf } = await import('./actors/registry.ts')
  castOf(actors)
}

async function startStopped(
  request: StartRequest,
  before: Settings | undefined,
  folder: SandboxFolder,
  context: SandboxContext,
): Promise<void> {
  const settings: Settings = {
    name: request.name,
    crds: request.crds ?? before?.crds ?? 'today',
    netns: request.netns ?? before?.netns ?? false,
    parts,
    actors: request.actors ?? before?.actors ?? [],
    port: request.port ?? before?.port ?? 0,
  }
  const needed = new Set([...programsOf.core, ...settings.parts.flatMap((part) => programsOf[part])])
  const programs = await ensurePrograms([...needed], context)
  if (!(await exists(folder.etcd))) {
    const collection = await ensureCrds(settings.crds, context.ownCrds, context)
    await copyPrepared(await ensurePrepared(collection, context), folder)
  }
  context.say({ kind: 'progress', text: `starting sandbox ${request.name}` })
  const raised = await raise(
    {
      name: request.name,
      folder,
      programs,
      parts: settings.parts,
      netns: settings.netns,
      ephemeral: false,
      port: { number: settings.port, fixed: request.port !== undefined },
      more: (kubeconfig) => actorTasks(settings.actors, kubeconfig, context),
    },
    context,
  )
  await writeSettings(folder, { ...settings, port: raised.port })
}

function actorTasks(names: readonly string[], kubeconfig: string, { self }: SandboxContext): readonly Task[] {
  if (names.length === 0) return []
  const { file, args } = programOf([...self, 'sandbox', 'act', '--kubeconfig', kubeconfig, ...names])
  return [{ name: 'actors', file, args, probe: { kind: 'none' }, after: ['kube-apiserver'], readyMs: 10_000 }]
}

export async function sandboxStatus(
  name: string,
  { places }: Pick<SandboxContext, 'places'>,
): Promise<SandboxStatus> {
  const settings = await settingsOf(places, name)
  const folder = folderOf(places, name)
  const status = await askIfRunning(folder)
  const findings = status ? await findingsOf(folder) : []
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

export async function allSandboxes(
  context: Pick<SandboxContext, 'places'>,
): Promise<readonly SandboxStatus[]> {
  const names = await knownSandboxes(context.places)
  return Promise.all(names.map((name) => sandboxStatus(name, context)))
}

/** True when it ran. */
export async function stopSandbox(
  name: string,
  { places }: Pick<SandboxContext, 'places'>,
): Promise<boolean> {
  await settingsOf(places, name)
  return stopFolder(folderOf(places, name), name)
}

/** Stops it and forgets it, data included. Works on a folder that cannot be read, too. */
export async function resetSandbox(name: string, { places }: Pick<SandboxContext, 'places'>): Promise<void> {
  const folder = folderOf(places, name)
  await stopFolder(folder, name)
  await removeFolder(folder)
}

async function stopFolder(folder: SandboxFolder, name: string): Promise<boolean> {
  try {
    const { pid } = await ask(folder.control, { do: 'stop' }, 40_000)
    await untilGone(pid)
    return true
  } catch (error) {
    if (isNotRunning(error)) {
      await rm(folder.control, { force: true })
      return false
    }
    if (await endSilentSupervisor(folder)) return true
    const log = logFile(folder, 'supervisor')
    throw failure(supervisorSilent, { name, log, reason: reasonOf(error) }, { cause: error })
  }
}

/** A supervisor that no longer answers is ended; its programs end with it. */
async function endSilentSupervisor(folder: SandboxFolder): Promise<boolean> {
  const { stdout } = await runProcess({ file: 'ps', args: ['-eo', 'pid=,args='] })
  const line = stdout.split('\n').find((one) => one.includes(`sandbox supervise ${folder.root}`))
  const pid = Number(line?.trim().split(' ')[0])
  if (!pid) return false
  process.kill(pid, 'SIGKILL')
  await untilGone(pid)
  return true
}

async function untilGone(pid: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function askIfRunning(folder: SandboxFolder): Promise<SupervisorStatus | undefined> {
  try {
    return await ask(folder.control, { do: 'status' })
  } catch (error) {
    if (isNotRunning(error)) return undefined
    const name = path.basename(folder.root)
    throw failure(supervisorSilent, { name, log: logFile(folder, 'supervisor'), reason: reasonOf(error) })
  }
}

async function findingsOf(folder: SandboxFolder): Promise<readonly Finding[]> {
  const mission = JSON.parse(await readFile(folder.mission, 'utf8')) as {
    readonly findings: readonly Finding[]
  }
  return mission.findings
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
