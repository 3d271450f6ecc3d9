/** Starts the programs of a sandbox folder: certificates, ports, kubeconfigs, supervisor, webhook configuration. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Failure, failure } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Exec } from '../exec/process.ts'
import { type Connection, connect } from '../kube/connect.ts'
import { mentionsDiskFull, toWriteFailure } from './build/cache-folder.ts'
import type { ProgramPaths } from './build/ensure-programs.ts'
import { reconcileCertManager } from './cert-manager/reconcile-webhooks.ts'
import { ensureCertificates, renderKubeconfig, writeKubeconfig, writeWebhookCertificate } from './certificates.ts'
import { FIELD_MANAGER, reconcileAdmission } from './cluster-objects.ts'
import {
  apiPortChanged,
  diskFull,
  metallbOnAllInterfaces,
  namespaceUnavailable,
  portInUse,
  programFailed,
  startInterrupted,
  supervisorUnresponsive,
  webhooksDisabled,
} from './findings.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { findNamespaceProblem, type LaunchedSupervisor, launchSupervisor, parentDeathWrapper } from './launch.ts'
import { removeCgroups } from './nodes/cgroups.ts'
import { nodeCertificates } from './nodes/node-certificates.ts'
import { writeNodeFiles } from './nodes/node-files.ts'
import { CONTROL_ADDRESS, type NodeLayout, setupFile } from './nodes/node-layout.ts'
import { catalogObjects, renderCatalog } from './olm/catalog.ts'
import { catalogFolder } from './olm/olm-tasks.ts'
import {
  findFreePorts,
  type HeldPort,
  holdPort,
  isPortFree,
  METALLB_WEBHOOK_PORT,
  namespacePorts,
  type Ports,
} from './ports.ts'
import { programTable } from './program-table.ts'
import type { Part } from './settings.ts'
import type { StartFailure, SupervisorSpec, Task } from './supervisor-spec.ts'

export interface StartProgramsRequest {
  readonly name: string
  readonly folder: SandboxFolder
  readonly programs: Partial<ProgramPaths>
  readonly parts: readonly Part[]
  readonly netns: boolean
  readonly ephemeral: boolean
  /** The nodes that run pods; requires `netns`. */
  readonly layout?: NodeLayout | undefined
  /** The preferred API port, 0 for any; `fixed` when no other port may be used. */
  readonly port: { readonly number: number; readonly fixed: boolean }
  /** Additional tasks; the kubeconfig is valid where they run. */
  readonly extraTasks?: (kubeconfig: string) => readonly Task[]
}

export interface StartContext {
  readonly exec: Exec
  readonly self: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  readonly signal?: AbortSignal | undefined
}

export interface StartedPrograms {
  readonly pid: number
  readonly port: number
  readonly findings: readonly Finding[]
  readonly supervisor: LaunchedSupervisor['process']
}

/** Another process may take a free port before the program starts; then other ports are chosen. */
const PORT_ATTEMPTS = 3

export async function startPrograms(request: StartProgramsRequest, context: StartContext): Promise<StartedPrograms> {
  const { folder } = request
  if (request.netns) {
    const reason = await findNamespaceProblem(context.exec)
    if (reason) throw failure(namespaceUnavailable, { reason })
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(request, context)
    } catch (error) {
      const conflict = error instanceof PortConflict
      if (conflict && attempt < PORT_ATTEMPTS && !request.port.fixed) continue
      if (conflict) throw failure(portInUse, { port: error.port, what: error.what })
      throw toWriteFailure(error, folder.root, `starting sandbox ${request.name}`)
    }
  }
}

class PortConflict extends Error {
  readonly port: number
  readonly what: string

  constructor(port: number, what: string) {
    super(`port ${port} is in use`)
    this.port = port
    this.what = what
  }
}

async function startOnce(request: StartProgramsRequest, context: StartContext): Promise<StartedPrograms> {
  const { name, folder, programs, netns, ephemeral, layout } = request
  const findings: Finding[] = []
  const apiPort = await holdApiPort(request, findings)
  try {
    const ports = netns ? namespacePorts : await findFreePorts(apiPort.port)
    const parts = await selectParts(request, ports, findings)
    await mkdir(folder.logs, { recursive: true, mode: 0o700 })
    await ensureCertificates(folder, context.now(), layout && nodeCertificates(layout))
    await writeAccess(request, ports.api, apiPort.port)
    const webhookTmp = await writeWebhookCertificate(folder)
    if (parts.includes('olm')) await writeCatalog(folder)
    const tasks = programTable({
      folder,
      programs,
      ports,
      parts,
      webhookTmpDir: webhookTmp,
      layout,
      kubeconfigPath: (leaf) => kubeconfigPath(folder, leaf),
    })
    const spec: SupervisorSpec & { readonly findings: readonly Finding[] } = {
      name,
      tasks: [...tasks, ...(request.extraTasks?.(kubeconfigPath(folder, 'admin')) ?? [])],
      pki: folder.pki,
      ephemeral,
      wrapper: await parentDeathWrapper(context.exec),
      graceMs: 5000,
      findings,
      ...(netns && { forwardTo: ports.api }),
    }
    await writeFile(folder.supervisorSpec, JSON.stringify(spec, null, 2), { mode: 0o600 })
    // Without a namespace the API server itself binds the held port.
    if (!netns) await apiPort.close()
    const launched = await launchSupervisor({
      ...context,
      folder,
      netns,
      ephemeral,
      setupFile: layout && setupFile(folder),
      ...(netns && { listenFd: apiPort.fd }),
    })
    // The supervisor accepts on it now; two processes accepting on one socket would take each other's connections.
    await apiPort.close()
    await rejectFailedStart(request, launched, context)
    try {
      await configureParts(folder, parts, context)
    } catch (error) {
      // It may have been interrupted.
      await rejectFailedStart(request, launched, context)
      throw error
    }
    return { pid: launched.pid, port: apiPort.port, findings, supervisor: launched.process }
  } finally {
    await apiPort.close()
  }
}

/** Creates the objects of the cluster without which its parts do not work. */
async function configureParts(folder: SandboxFolder, parts: readonly Part[], context: StartContext): Promise<void> {
  await withConnection(folder, context, async ({ client }) => {
    await reconcileAdmission(client, folder, parts)
    await reconcileCertManager(client, parts.includes('cert-manager'), { logs: folder.logs, signal: context.signal })
    if (!parts.includes('olm')) return
    for (const object of catalogObjects()) await client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
  })
}

async function writeCatalog(folder: SandboxFolder): Promise<void> {
  await mkdir(catalogFolder(folder), { recursive: true })
  await writeFile(path.join(catalogFolder(folder), 'catalog.json'), renderCatalog())
}

/** Writes the kubeconfigs of the programs, of the user and of the nodes; each reaches the API server in its own way. */
async function writeAccess(request: StartProgramsRequest, inside: number, outside: number): Promise<void> {
  const { name, folder, programs, layout } = request
  const contextName = `stackloom-${name}`
  for (const leaf of ['controller-manager', 'metallb', 'admin', ...(layout ? ['scheduler'] : [])]) {
    await writeKubeconfig(kubeconfigPath(folder, leaf), await renderKubeconfig(folder, leaf, contextName, inside))
  }
  await writeKubeconfig(folder.kubeconfig, await renderKubeconfig(folder, 'admin', contextName, outside))
  if (!layout) return
  const kubeconfig = (certificate: string): Promise<string> =>
    renderKubeconfig(folder, certificate, contextName, inside, CONTROL_ADDRESS)
  await writeNodeFiles({ folder, layout, programs, kubeconfig })
}

/** Throws when the start failed or was interrupted, after nothing of the nodes is left. */
async function rejectFailedStart(
  request: StartProgramsRequest,
  { outcome, process: child, ended }: LaunchedSupervisor,
  { signal }: StartContext,
): Promise<void> {
  const { name, layout } = request
  const interrupted = signal?.aborted === true
  if (!interrupted && outcome.kind === 'ready') return
  if (interrupted) child.kill(layout ? 'SIGKILL' : 'SIGTERM')
  if (layout) {
    await ended()
    await removeCgroups(layout.cgroup)
  }
  if (interrupted || outcome.kind === 'ready') throw failure(startInterrupted, { name }, { exitCode: 130 })
  throw await explainFailure(request, outcome)
}

function kubeconfigPath(folder: SandboxFolder, certificate: string): string {
  return path.join(folder.pki, `${certificate}.kubeconfig`)
}

/** Holds the API port of this machine until the process that uses it has started. */
async function holdApiPort({ name, port }: StartProgramsRequest, findings: Finding[]): Promise<HeldPort> {
  try {
    return await holdPort(port.number, '127.0.0.1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (port.fixed) throw failure(portInUse, { port: port.number, what: 'the API server' }, { cause: error })
    const other = await holdPort(0, '127.0.0.1')
    findings.push(finding(apiPortChanged, { name, was: port.number, now: other.port }))
    return other
  }
}

/** Without a namespace MetalLB listens on all interfaces, which is reported; its webhooks are disabled if their port is in use. */
async function selectParts(
  { parts, netns }: StartProgramsRequest,
  ports: Ports,
  findings: Finding[],
): Promise<readonly Part[]> {
  if (netns) return parts
  const webhooks = parts.includes('metallb-webhooks') && (await isPortFree(METALLB_WEBHOOK_PORT, '::'))
  const possible = parts.filter((part) => part !== 'metallb-webhooks' || webhooks)
  if (possible.length < parts.length) findings.push(finding(webhooksDisabled, { port: METALLB_WEBHOOK_PORT }))
  const open = [
    ...(possible.includes('metallb') ? [ports.metallb] : []),
    ...(webhooks ? [ports.metallbWebhookMetrics, METALLB_WEBHOOK_PORT] : []),
  ]
  if (open.length > 0) findings.push(finding(metallbOnAllInterfaces, { ports: open }))
  return possible
}

async function explainFailure({ name, folder }: StartProgramsRequest, failed: StartFailure): Promise<Error> {
  const { task, reason, log } = failed
  const file = logFile(folder, task)
  if (task === 'supervisor' || task === 'the supervisor') {
    const output = log || (await readFile(logFile(folder, 'supervisor'), 'utf8').catch(() => ''))
    if (mentionsDiskFull(`${reason} ${output}`)) return diskFullFailure(folder, name)
    return failure(supervisorUnresponsive, { name, log: logFile(folder, 'supervisor'), reason })
  }
  const conflict = /listen tcp [^ ]*?:(\d+): bind: address already in use/.exec(log)
  if (conflict) return new PortConflict(Number(conflict[1]), task)
  if (mentionsDiskFull(log)) return diskFullFailure(folder, task)
  const line = log.split('\n').findLast((text) => /panic|fatal|error|failed|\bE\d{4}\b/i.test(text))
  return failure(programFailed, {
    program: task,
    reason: line ? `${reason}: ${line.slice(0, 400)}` : reason,
    log: file,
  })
}

function diskFullFailure(folder: SandboxFolder, what: string): Failure {
  return failure(diskFull, { folder: folder.root, doing: `starting ${what}` })
}

/** Runs a function with a connection to the cluster of this folder. */
export async function withConnection<T>(
  folder: SandboxFolder,
  { env }: Pick<StartContext, 'env'>,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ kubeconfig: folder.kubeconfig, env })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

export async function removeSandboxFolder(folder: SandboxFolder): Promise<void> {
  await rm(folder.root, { recursive: true, force: true })
  await rm(folder.control, { force: true })
}
