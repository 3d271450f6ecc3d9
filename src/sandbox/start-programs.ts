/**
 * Raises a cluster from a folder: identity, ports, kubeconfigs, roster, supervisor, admission. Whether the folder
 * has a name or lives for one test is the caller's business.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Failure, failure } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Exec } from '../exec/process.ts'
import { type Connection, connect } from '../kube/connect.ts'
import { mentionsDiskFull, toDiskFullFailure } from './build/cache-folder.ts'
import type { ProgramPaths } from './build/ensure-programs.ts'
import {
  type CertificateName,
  ensureCertificates,
  renderKubeconfig,
  writeKubeconfig,
  writeWebhookCertificate,
} from './certificates.ts'
import { reconcileAdmission } from './cluster-objects.ts'
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
  /** The port to have if it can be had; `fixed` when no other one will do. 0 is any. */
  readonly port: { readonly number: number; readonly fixed: boolean }
  /** More programs, given the kubeconfig that works where they run. */
  readonly extraTasks?: (insideKubeconfig: string) => readonly Task[]
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

/** A free port may be taken between our look and the program's start; then other ones are chosen. */
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
      const clash = error instanceof PortConflict
      if (clash && attempt < PORT_ATTEMPTS && !request.port.fixed) continue
      if (clash) throw failure(portInUse, { port: error.port, what: error.what })
      throw toDiskFullFailure(error, folder.root, `starting sandbox ${request.name}`)
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
  const { name, folder, programs, netns, ephemeral } = request
  const findings: Finding[] = []
  const door = await holdApiPort(request, findings)
  try {
    const ports = netns ? namespacePorts : await findFreePorts(door.port)
    const parts = await selectParts(request, ports, findings)
    await mkdir(folder.logs, { recursive: true, mode: 0o700 })
    await ensureCertificates(folder, context.now())
    const contextName = `stackloom-${name}`
    for (const leaf of ['controller-manager', 'metallb', 'admin'] as const) {
      await writeKubeconfig(kubeconfigPath(folder, leaf), await renderKubeconfig(folder, leaf, contextName, ports.api))
    }
    await writeKubeconfig(folder.kubeconfig, await renderKubeconfig(folder, 'admin', contextName, door.port))
    const webhookTmp = await writeWebhookCertificate(folder)
    const tasks = programTable({
      folder,
      programs,
      ports,
      parts,
      webhookTmpDir: webhookTmp,
      kubeconfigPath: (leaf) => kubeconfigPath(folder, leaf as CertificateName),
    })
    const mission: SupervisorSpec & { readonly findings: readonly Finding[] } = {
      name,
      tasks: [...tasks, ...(request.extraTasks?.(kubeconfigPath(folder, 'admin')) ?? [])],
      pki: folder.pki,
      ephemeral,
      wrapper: await parentDeathWrapper(context.exec),
      graceMs: 5000,
      findings,
      ...(netns && { forwardTo: ports.api }),
    }
    await writeFile(folder.supervisorSpec, JSON.stringify(mission, null, 2), { mode: 0o600 })
    // Outside a namespace the API server itself takes the port that was held for it.
    if (!netns) await door.close()
    const launched = await launchSupervisor({
      ...context,
      folder,
      netns,
      ephemeral,
      ...(netns && { listenFd: door.fd }),
    })
    // The supervisor has it now; two that accept on one socket would take each other's connections.
    await door.close()
    if (context.signal?.aborted) {
      launched.process.kill('SIGTERM')
      throw failure(startInterrupted, { name }, { exitCode: 130 })
    }
    if (launched.outcome.kind === 'failed') throw await explainFailure(request, launched.outcome)
    await withConnection(folder, context, (connection) => reconcileAdmission(connection.client, folder, parts))
    return { pid: launched.pid, port: door.port, findings, supervisor: launched.process }
  } finally {
    await door.close()
  }
}

function kubeconfigPath(folder: SandboxFolder, leaf: CertificateName): string {
  return path.join(folder.pki, `${leaf}.kubeconfig`)
}

/** The port on which this machine reaches the API server, held until the right process has it. */
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

/** Outside a namespace MetalLB's ports are everybody's: said, and its admission left out where it cannot listen. */
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
    const said = log || (await readFile(logFile(folder, 'supervisor'), 'utf8').catch(() => ''))
    if (mentionsDiskFull(`${reason} ${said}`)) return diskFullFailure(folder, name)
    return failure(supervisorUnresponsive, { name, log: logFile(folder, 'supervisor'), reason })
  }
  const clash = /listen tcp [^ ]*?:(\d+): bind: address already in use/.exec(log)
  if (clash) return new PortConflict(Number(clash[1]), task)
  if (mentionsDiskFull(log)) return diskFullFailure(folder, task)
  const said = log.split('\n').findLast((line) => /panic|fatal|error|failed|\bE\d{4}\b/i.test(line))
  return failure(programFailed, {
    program: task,
    reason: said ? `${reason}: ${said.slice(0, 400)}` : reason,
    log: file,
  })
}

function diskFullFailure(folder: SandboxFolder, what: string): Failure {
  return failure(diskFull, { folder: folder.root, doing: `starting ${what}` })
}

/** Lends a connection to the cluster of this folder. */
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
