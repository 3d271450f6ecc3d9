/**
 * Raises a cluster from a folder: identity, ports, kubeconfigs, roster, supervisor, admission. Whether the folder
 * has a name or lives for one test is the caller's business.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Failure, failure } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import {
  apiPortChanged,
  diskFull,
  metallbOnAllInterfaces,
  namespaceImpossible,
  portInUse,
  programFailed,
  startInterrupted,
  supervisorSilent,
  webhooksLeftOut,
} from '../errors/sandbox.ts'
import type { Exec } from '../exec/process.ts'
import { type Connection, connect } from '../kube/connect.ts'
import { reconcileAdmission } from './admission.ts'
import type { ProgramPaths } from './build/ensure.ts'
import { asDiskFull, saysDiskFull } from './build/store.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import {
  ensureIdentity,
  kubeconfigText,
  type Leaf,
  layOutWebhookCertificate,
  writeKubeconfig,
} from './identity.ts'
import { deathWrapper, type Launched, launch, namespaceRefusal } from './launch.ts'
import type { Mission, MissionFailure, Task } from './mission.ts'
import {
  freePorts,
  isFree,
  type Listener,
  listen,
  METALLB_WEBHOOK_PORT,
  namespacePorts,
  type Ports,
} from './ports.ts'
import { roster } from './roster.ts'
import type { Part } from './settings.ts'

export interface RaiseRequest {
  readonly name: string
  readonly folder: SandboxFolder
  readonly programs: Partial<ProgramPaths>
  readonly parts: readonly Part[]
  readonly netns: boolean
  readonly ephemeral: boolean
  /** The port to have if it can be had; `fixed` when no other one will do. 0 is any. */
  readonly port: { readonly number: number; readonly fixed: boolean }
  /** More programs, given the kubeconfig that works where they run. */
  readonly more?: (insideKubeconfig: string) => readonly Task[]
}

export interface RaiseContext {
  readonly exec: Exec
  readonly self: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  readonly signal?: AbortSignal | undefined
}

export interface Raised {
  readonly pid: number
  readonly port: number
  readonly findings: readonly Finding[]
  readonly supervisor: Launched['process']
}

/** A free port may be taken between our look and the program's start; then other ones are chosen. */
const PORT_ATTEMPTS = 3

export async function raise(request: RaiseRequest, context: RaiseContext): Promise<Raised> {
  const { folder } = request
  if (request.netns) {
    const reason = await namespaceRefusal(context.exec)
    if (reason) throw failure(namespaceImpossible, { reason })
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await raiseOnce(request, context)
    } catch (error) {
      const clash = error instanceof PortClash
      if (clash && attempt < PORT_ATTEMPTS && !request.port.fixed) continue
      if (clash) throw failure(portInUse, { port: error.port, what: error.what })
      throw asDiskFull(error, folder.root, `starting sandbox ${request.name}`)
    }
  }
}

class PortClash extends Error {
  readonly port: number
  readonly what: string

  constructor(port: number, what: string) {
    super(`port ${port} is in use`)
    this.port = port
    this.what = what
  }
}

async function raiseOnce(request: RaiseRequest, context: RaiseContext): Promise<Raised> {
  const { name, folder, programs, netns, ephemeral } = request
  const findings: Finding[] = []
  const door = await openDoor(request, findings)
  try {
    const ports = netns ? namespacePorts : await freePorts(door.port)
    const parts = await possibleParts(request, ports, findings)
    await mkdir(folder.logs, { recursive: true, mode: 0o700 })
    await ensureIdentity(folder, context.now())
    const contextName = `stackloom-${name}`
    for (const leaf of ['controller-manager', 'metallb', 'admin'] as const) {
      await writeKubeconfig(inside(folder, leaf), await kubeconfigText(folder, leaf, contextName, ports.api))
    }
    await writeKubeconfig(folder.kubeconfig, await kubeconfigText(folder, 'admin', contextName, door.port))
    const webhookTmp = await layOutWebhookCertificate(folder)
    const tasks = roster({
      folder,
      programs,
      ports,
      parts,
      webhookTmp,
      insideKubeconfig: (leaf) => inside(folder, leaf as Leaf),
    })
    const mission: Mission & { readonly findings: readonly Finding[] } = {
      name,
      tasks: [...tasks, ...(request.more?.(inside(folder, 'admin')) ?? [])],
      pki: folder.pki,
      ephemeral,
      wrapper: await deathWrapper(context.exec),
      graceMs: 5000,
      findings,
      ...(netns && { forwardTo: ports.api }),
    }
    await writeFile(folder.mission, JSON.stringify(mission, null, 2), { mode: 0o600 })
    // Outside a namespace the API server itself takes the port that was held for it.
    if (!netns) await door.close()
    const launched = await launch({
      ...context,
      folder,
      netns,
      ephemeral,
      ...(netns && { handDown: door.fd }),
    })
    // The supervisor has it now; two that accept on one socket would take each other's connections.
    await door.close()
    if (context.signal?.aborted) {
      launched.process.kill('SIGTERM')
      throw failure(startInterrupted, { name }, { exitCode: 130 })
    }
    if (launched.outcome.kind === 'failed') throw await explain(request, launched.outcome)
    await connected(folder, context, (connection) => reconcileAdmission(connection.client, folder, parts))
    return { pid: launched.pid, port: door.port, findings, supervisor: launched.process }
  } finally {
    await door.close()
  }
}

function inside(folder: SandboxFolder, leaf: Leaf): string {
  return path.join(folder.pki, `${leaf}.kubeconfig`)
}

/** The port on which this machine reaches the API server, held until the right process has it. */
async function openDoor({ name, port }: RaiseRequest, findings: Finding[]): Promise<Listener> {
  try {
    return await listen(port.number, '127.0.0.1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (port.fixed) throw failure(portInUse, { port: port.number, what: 'the API server' }, { cause: error })
    const other = await listen(0, '127.0.0.1')
    findings.push(finding(apiPortChanged, { name, was: port.number, now: other.port }))
    return other
  }
}

/** Outside a namespace MetalLB's ports are everybody's: said, and its admission left out where it cannot listen. */
async function possibleParts(
  { parts, netns }: RaiseRequest,
  ports: Ports,
  findings: Finding[],
): Promise<readonly Part[]> {
  if (netns) return parts
  const webhooks = parts.includes('metallb-webhooks') && (await isFree(METALLB_WEBHOOK_PORT, '::'))
  const possible = parts.filter((part) => part !== 'metallb-webhooks' || webhooks)
  if (possible.length < parts.length) findings.push(finding(webhooksLeftOut, { port: METALLB_WEBHOOK_PORT }))
  const open = [
    ...(possible.includes('metallb') ? [ports.metallb] : []),
    ...(webhooks ? [ports.metallbWebhookMetrics, METALLB_WEBHOOK_PORT] : []),
  ]
  if (open.length > 0) findings.push(finding(metallbOnAllInterfaces, { ports: open }))
  return possible
}

async function explain({ name, folder }: RaiseRequest, failed: MissionFailure): Promise<Error> {
  const { task, reason, log } = failed
  const file = logFile(folder, task)
  if (task === 'supervisor' || task === 'the supervisor') {
    const said = log || (await readFile(logFile(folder, 'supervisor'), 'utf8').catch(() => ''))
    if (saysDiskFull(`${reason} ${said}`)) return diskFullIn(folder, name)
    return failure(supervisorSilent, { name, log: logFile(folder, 'supervisor'), reason })
  }
  const clash = /listen tcp [^ ]*?:(\d+): bind: address already in use/.exec(log)
  if (clash) return new PortClash(Number(clash[1]), task)
  if (saysDiskFull(log)) return diskFullIn(folder, task)
  const said = log.split('\n').findLast((line) => /panic|fatal|error|failed|\bE\d{4}\b/i.test(line))
  return failure(programFailed, {
    program: task,
    reason: said ? `${reason}: ${said.slice(0, 400)}` : reason,
    log: file,
  })
}

function diskFullIn(folder: SandboxFolder, what: string): Failure {
  return failure(diskFull, { folder: folder.root, doing: `starting ${what}` })
}

/** Lends a connection to the cluster of this folder. */
export async function connected<T>(
  folder: SandboxFolder,
  { env }: Pick<RaiseContext, 'env'>,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ kubeconfig: folder.kubeconfig, env })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

export async function removeFolder(folder: SandboxFolder): Promise<void> {
  await rm(folder.root, { recursive: true, force: true })
  await rm(folder.control, { force: true })
}
