/** Starts, stops, inspects and resets sandboxes by name. Each is a folder with data and, while it runs, one supervisor. */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Failure, failure, formatError } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import { runProcess, toProgram } from '../exec/process.ts'
import { toWriteFailure } from './build/cache-folder.ts'
import { ensurePrograms } from './build/ensure-programs.ts'
import { ensureNodes, FIELD_MANAGER } from './cluster-objects.ts'
import { callSupervisor, isNotRunning } from './control.ts'
import { ensureCrds, type OwnCrds } from './crds/crd-sets.ts'
import { newestRelease } from './crds/release-folders.ts'
import { startInterrupted, supervisorUnresponsive } from './findings.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { judgeMachine, readMachineFacts } from './hosts/requirements.ts'
import { ensureRootFileSystem, openstackRoot } from './hosts/root-file-system.ts'
import { removeCgroups } from './nodes/cgroups.ts'
import { joinNodes } from './nodes/join-nodes.ts'
import { removeSockets } from './nodes/node-files.ts'
import { loadNodeImages } from './nodes/node-images.ts'
import { type NodeLayout, parentCgroup, planNodes } from './nodes/node-layout.ts'
import { checkNodeNames } from './nodes/node-names.ts'
import { localStorage } from './nodes/node-volumes.ts'
import { readProcessIds } from './nodes/process-ids.ts'
import { judgeHost, readHostFacts } from './nodes/requirements.ts'
import { type CloudRecord, readClouds } from './openstack/clouds.ts'
import { reportComputes } from './openstack/report-computes.ts'
import { copyPreparedStore, ensurePreparedStore, type PrepareContext } from './prepare.ts'
import { acquireLock } from './process-lock.ts'
import { requiredPrograms } from './program-table.ts'
import {
  type CrdSource,
  listSandboxNames,
  locateSandbox,
  readSettings,
  requireSettings,
  type Settings,
  writeSettings,
} from './settings.ts'
import { removeSandboxFolder, startPrograms, withConnection } from './start-programs.ts'
import {
  combineSettings,
  realPrograms,
  rejectCrdChange,
  rejectRunningChange,
  type StartRequest,
  selectPods,
} from './start-request.ts'
import type { SupervisorStatus, Task, TaskStatus } from './supervisor-spec.ts'

export interface SandboxContext extends PrepareContext {
  /** The CRDs of Stackloom, which replace upstream's in the set `own`. */
  readonly ownCrds: OwnCrds
}

export interface SandboxStatus {
  readonly name: string
  readonly running: boolean
  readonly ready: boolean
  readonly crds: CrdSource
  readonly netns: boolean
  readonly actors: readonly string[]
  /** Absent in a sandbox that runs no pods. */
  readonly nodes?: readonly NodeStatus[]
  /** Clouds whose services run; absent in a sandbox that simulates them. */
  readonly clouds?: readonly CloudRecord[]
  readonly server: string
  readonly kubeconfig: string
  readonly folder: string
  readonly supervisor?: number
  readonly programs: readonly TaskStatus[]
  readonly findings: readonly Finding[]
}

/** A node that runs pods. */
export interface NodeStatus {
  readonly name: string
  readonly address: string
  /** The socket of its containerd; its images and containers are in the namespace `k8s.io`. */
  readonly containerd: string
}

/** Returns when the sandbox is ready. A running sandbox is not changed. */
export async function startSandbox(request: StartRequest, context: SandboxContext): Promise<SandboxStatus> {
  const { paths, notify, signal } = context
  const folder = locateSandbox(paths, request.name)
  await mkdir(paths.sandboxes, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw toWriteFailure(error, paths.sandboxes, `starting sandbox ${request.name}`)
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
    const pods = selectPods(request, before)
    if (pods) await rejectUnfitHost(pods, context)
    // What it left may lack nodes or webhooks.
    if (before?.unfinished) await stopFolder(folder, request.name)
    if (before && (await queryIfRunning(folder))) rejectRunningChange(request, before)
    else await startStopped({ ...request, crds: before?.crds ?? crds }, before, pods, folder, context)
    const { nodes } = request
    if (nodes && !pods) await withConnection(folder, context, ({ client }) => ensureNodes(client, nodes))
    return await sandboxStatus(request.name, context)
  } finally {
    await lock.release()
  }
}

/** The settings name the release, because `today` changes when the user adds one. */
async function resolveToday(crds: CrdSource, { paths }: SandboxContext): Promise<CrdSource> {
  return crds === 'today' ? newestRelease(paths) : crds
}

async function rejectUnknownActors({ actors = [] }: StartRequest): Promise<void> {
  if (actors.length === 0) return
  const { resolveActors } = await import('./actors/registry.ts')
  resolveActors(actors)
}

async function rejectUnfitHost(pods: NonNullable<Settings['pods']>, { env }: SandboxContext): Promise<void> {
  const findings = [...checkNodeNames(pods.nodes), ...judgeHost(await readHostFacts(env))]
  if (findings.length > 0) throw new Failure(findings)
}

async function startStopped(
  request: StartRequest & { readonly crds: CrdSource },
  before: Settings | undefined,
  pods: Settings['pods'],
  folder: SandboxFolder,
  context: SandboxContext,
): Promise<void> {
  const settings = combineSettings(request, before, pods)
  const root = settings.openstack && (await prepareOpenStack(context))
  // Read first: a release that is missing is reported before a build of minutes.
  const collection = (await exists(folder.etcd)) ? undefined : await ensureCrds(settings.crds, context.ownCrds, context)
  const groups = ['core', ...settings.parts, ...(pods ? (['pods'] as const) : [])] as const
  const needed = new Set(groups.flatMap((group) => requiredPrograms[group]))
  const programs = await ensurePrograms([...needed], context)
  const store = collection && (await ensurePreparedStore(collection, context))
  // First, because `stop` must know what a crash leaves.
  await writeSettings(folder, { ...settings, unfinished: true })
  if (store !== undefined) await copyPreparedStore(store, folder)
  context.notify({ kind: 'progress', text: `starting sandbox ${request.name}` })
  const layout = pods && planNodes(folder, pods.nodes)
  const since = context.now()
  const started = await startPrograms(
    {
      name: request.name,
      folder,
      programs,
      parts: settings.parts,
      netns: settings.netns,
      ephemeral: false,
      layout,
      port: { number: settings.port, fixed: request.port !== undefined },
      extraTasks: (kubeconfig) =>
        actorTasks(
          settings.actors,
          [
            '--kubeconfig',
            kubeconfig,
            ...(layout ? ['--node-record', folder.nodeRecord] : []),
            ...(root ? ['--openstack-root', root, '--openstack-folder', folder.openstack] : []),
            ...realOption(settings),
          ],
          context,
        ),
    },
    context,
  )
  // Control planes name a storage class, which `up` requires; nothing asks for a volume.
  if (root)
    await withConnection(folder, context, ({ client }) =>
      client.apply(localStorage, { fieldManager: FIELD_MANAGER, force: true }),
    )
  if (layout) await completeNodes(request.name, folder, layout, since, context)
  await writeSettings(folder, { ...settings, port: started.port })
}

async function completeNodes(
  name: string,
  folder: SandboxFolder,
  layout: NodeLayout,
  since: number,
  context: SandboxContext,
): Promise<void> {
  const { notify, signal } = context
  try {
    await loadNodeImages(layout, context)
    notify({ kind: 'progress', text: 'waiting for the nodes' })
    await withConnection(folder, context, ({ client }) =>
      joinNodes(client, layout, { since, logs: folder.logs, signal }),
    )
  } catch (error) {
    if (!signal?.aborted) throw error
    await stopFolder(folder, name)
    throw failure(startInterrupted, { name }, { exitCode: 130, cause: error })
  }
}

/** Reported before anything is built: building takes minutes. */
async function prepareOpenStack(context: SandboxContext): Promise<string> {
  const findings = judgeMachine(await readMachineFacts(context.env))
  if (findings.length > 0) throw new Failure(findings)
  return ensureRootFileSystem(openstackRoot, context)
}

function realOption(settings: Settings): readonly string[] {
  const real = realPrograms(settings)
  return real.length > 0 ? ['--real', real.join(',')] : []
}

function actorTasks(names: readonly string[], options: readonly string[], { self }: SandboxContext): readonly Task[] {
  if (names.length === 0) return []
  const { file, args } = toProgram([...self, 'sandbox', 'act', ...options, ...names])
  return [{ name: 'actors', file, args, probe: { kind: 'none' }, after: ['kube-apiserver'], readyMs: 10_000 }]
}

export async function sandboxStatus(name: string, { paths }: Pick<SandboxContext, 'paths'>): Promise<SandboxStatus> {
  const settings = await requireSettings(paths, name)
  const folder = locateSandbox(paths, name)
  const status = await queryIfRunning(folder)
  const clouds = status && settings.openstack ? await readClouds(folder.openstack) : []
  const findings = status ? [...(await readFindings(folder)), ...(await reportComputes(clouds))] : []
  return {
    name,
    running: status !== undefined,
    ready: status?.ready === true && !settings.unfinished,
    crds: settings.crds,
    netns: settings.netns,
    actors: settings.actors,
    ...(settings.pods && { nodes: describeNodes(folder, settings.pods) }),
    ...(settings.openstack && { clouds }),
    server: `https://127.0.0.1:${settings.port}`,
    kubeconfig: folder.kubeconfig,
    folder: folder.root,
    ...(status && { supervisor: status.pid }),
    programs: status && settings.pods ? await translateIds(status) : (status?.tasks ?? []),
    findings,
  }
}

async function translateIds({ pid, tasks }: SupervisorStatus): Promise<readonly TaskStatus[]> {
  const ids = await readProcessIds(pid)
  return tasks.map(({ pid: inside, ...task }) => {
    const outside = ids.get(inside ?? 0)
    return { ...task, ...(outside !== undefined && { pid: outside }) }
  })
}

function describeNodes(folder: SandboxFolder, pods: NonNullable<Settings['pods']>): readonly NodeStatus[] {
  const { nodes } = planNodes(folder, pods.nodes)
  return nodes.map(({ name, address, socket }) => ({ name, address, containerd: socket }))
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

/** Stops the sandbox and deletes its data. Also works when its settings cannot be read. Returns whether it existed. */
export async function resetSandbox(name: string, { paths }: Pick<SandboxContext, 'paths'>): Promise<boolean> {
  const folder = locateSandbox(paths, name)
  const existed = await exists(folder.root)
  // Nothing of it is kept, so nodes need not end gracefully, which takes seconds.
  if (await exists(folder.nodeRecord)) await killSupervisor(folder)
  await stopFolder(folder, name)
  await removeSandboxFolder(folder)
  return existed
}

async function stopFolder(folder: SandboxFolder, name: string): Promise<boolean> {
  const ran = await stopSupervisor(folder, name)
  // Also after a crash: what else the nodes had ended with their first process.
  await removeCgroups(parentCgroup(folder))
  await removeSockets(folder)
  return ran
}

async function stopSupervisor(folder: SandboxFolder, name: string): Promise<boolean> {
  try {
    const { pid } = await callSupervisor(folder.control, { do: 'stop' }, 40_000)
    await waitForExit(pid)
    return true
  } catch (error) {
    if (isNotRunning(error)) {
      if (await exists(folder.nodeRecord)) await waitForNodes(folder)
      await rm(folder.control, { force: true })
      return false
    }
    if (await killSupervisor(folder)) return true
    const log = logFile(folder, 'supervisor')
    throw failure(supervisorUnresponsive, { name, log, reason: formatError(error) }, { cause: error })
  }
}

/** After a crash of the supervisor the first process of its nodes ends a moment later, when the kernel has ended the others. */
async function waitForNodes(folder: SandboxFolder): Promise<void> {
  const pid = await findSupervisor(folder)
  if (pid !== undefined) await waitForExit(pid)
  await killSupervisor(folder)
}

/** The first process of a sandbox, which has the lowest id. */
async function findSupervisor(folder: SandboxFolder): Promise<number | undefined> {
  const { stdout } = await runProcess({ file: 'ps', args: ['-eo', 'pid=,args='] })
  const line = stdout.split('\n').find((text) => text.trimEnd().endsWith(`sandbox supervise ${folder.root}`))
  return Number(line?.trim().split(' ')[0]) || undefined
}

/** Of a sandbox with nodes there are three: the command, the first process of its namespaces, and the supervisor. */
const SUPERVISOR_PROCESSES = 3

/** Kills the supervisor; its programs are killed with it. Returns whether it was running. */
async function killSupervisor(folder: SandboxFolder): Promise<boolean> {
  for (let killed = 0; killed < SUPERVISOR_PROCESSES; killed += 1) {
    const pid = await findSupervisor(folder)
    if (pid === undefined) return killed > 0
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // It ended in the meantime, with the first one.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    await waitForExit(pid)
  }
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
