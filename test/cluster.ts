/**
 * Provides clusters to tests: one sandbox per test file, from prepared data, in a network namespace, which ends with the
 * test process. At most two run at a time on one machine.
 *
 *     const cluster = useCluster({ crds: 'today' })
 *     it('…', async () => { await cluster.client.apply(…) })
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { Failure } from '../src/errors/failure.ts'
import { runProcess } from '../src/exec/process.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { type Connection, connect } from '../src/kube/connect.ts'
import { ensurePrograms, isBuilt } from '../src/sandbox/build/ensure-programs.ts'
import { callSupervisor } from '../src/sandbox/control.ts'
import { ensureCrds } from '../src/sandbox/crds/crd-sets.ts'
import { logFile, type SandboxFolder, sandboxFolder, socketPath } from '../src/sandbox/folder.ts'
import { type Forwarder, forward } from '../src/sandbox/forward.ts'
import { findNamespaceProblem, nsenterCommand } from '../src/sandbox/launch.ts'
import { copyPreparedStore, ensurePreparedStore } from '../src/sandbox/prepare.ts'
import { acquireLock, type ProcessLock } from '../src/sandbox/process-lock.ts'
import { requiredPrograms } from '../src/sandbox/program-table.ts'
import { type ProgramName, programs } from '../src/sandbox/programs.ts'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import type { CrdSource, Part } from '../src/sandbox/settings.ts'
import { removeSandboxFolder, startPrograms } from '../src/sandbox/start-programs.ts'
import { sandboxContext } from './sandbox-context.ts'

export interface ClusterOptions {
  /** The installed CRDs, a set or a release; MetalLB's are always installed. */
  readonly crds?: CrdSource
  /** Use a network namespace (the default). Without one MetalLB's admission may be missing. */
  readonly netns?: boolean
  /** The MetalLB controller and its admission: about one second more. */
  readonly metallb?: boolean
  /** Garbage collection, namespace deletion, service accounts: about one second more. */
  readonly controllerManager?: boolean
  /** cert-manager with its webhook. */
  readonly certManager?: boolean
  /** OLM with a catalog of the operators. */
  readonly olm?: boolean
  /** The second cluster of a file, which runs beside the first in its slot: files with two could wait for each other. */
  readonly second?: boolean
}

/** The programs that a test may kill and start. */
export type ClusterProgram =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'metallb-controller'
  | 'metallb-webhooks'

export interface Cluster {
  readonly client: KubeClient
  readonly connection: Connection
  /** Path of an admin kubeconfig that works from this process. */
  readonly kubeconfig: string
  /** The same for a program that runs `inside`. */
  readonly insideKubeconfig: string
  readonly server: string
  /** SIGKILL; it stays down until `start`. */
  readonly kill: (program: ClusterProgram) => Promise<void>
  /** Starts a killed program on the same data, and waits until it is ready. */
  readonly start: (program: ClusterProgram) => Promise<void>
  /** `kill` and `start`. */
  readonly restart: (program: ClusterProgram) => Promise<void>
  /** Makes a server of this process reachable for the API server, as `https://127.0.0.1:PORT`. */
  readonly expose: (port: number) => Promise<void>
  /** Prefix of a command that runs in the cluster's network. */
  readonly inside: readonly string[]
  /** The process that owns the namespace: `ip link set DEVICE netns PID`. */
  readonly pid: number
  readonly logOf: (program: ClusterProgram | 'supervisor') => string
}

const AT_ONCE = 2
const slots = Array.from({ length: AT_ONCE }, (_, slot) => `test cluster ${slot}`)

/** Takes one of the two slots, for tests that start sandboxes by the command line. */
export function takeClusterSlot(): Promise<ProcessLock> {
  return acquireLock(slots)
}

const takeNoSlot = (): Promise<ProcessLock> => Promise.resolve({ release: () => Promise.resolve() })

/** A cluster for all tests of a file. Its fields are available in tests and hooks only. */
export function useCluster(options: ClusterOptions = {}): Cluster {
  let started: { readonly cluster: Cluster; readonly stop: () => Promise<void> } | undefined
  let refusal: string | undefined
  beforeAll(async () => {
    refusal = await findObstacle(options)
    const takePlace = options.second ? takeNoSlot : takeClusterSlot
    if (refusal === undefined) started = await startCluster(options, takePlace)
    // Both slots may be in use until other test files end, which takes long in a soak; every step has a limit of its own.
  }, 3_600_000)
  beforeEach((context) => {
    if (refusal !== undefined) context.skip(refusal)
  })
  afterAll(() => started?.stop())
  return new Proxy({} as Cluster, {
    get: (_, field) => {
      if (!started) throw new Error('the cluster is there in tests and hooks only')
      return started.cluster[field as keyof Cluster]
    },
  })
}

/** Why no cluster can be started here, or undefined. */
async function findObstacle(options: ClusterOptions): Promise<string | undefined> {
  if (options.netns ?? true) {
    const refusal = await findNamespaceProblem(runProcess)
    if (refusal !== undefined) return `no network namespace can be made here: ${refusal}`
  }
  try {
    const context = sandboxContext()
    const missing = process.env['STACKLOOM_BUILD_ALL'] === '1' ? undefined : await findUnbuilt(options, context)
    if (missing) return `${missing} is not built, which takes minutes; \`make test SUITE=pods\` builds it`
    await ensurePrograms(programsFor(partsOf(options)), context)
    return undefined
  } catch (error) {
    if (error instanceof Failure) return `there are no programs for a sandbox: ${error.message}`
    throw error
  }
}

/** A program of an optional part that only some tests need. */
async function findUnbuilt(options: ClusterOptions, context: SandboxContext): Promise<string | undefined> {
  for (const part of partsOf(options).filter((part) => part === 'cert-manager' || part === 'olm'))
    for (const name of requiredPrograms[part]) if (!(await isBuilt(name, programs, context))) return name
  return undefined
}

function partsOf(options: ClusterOptions): readonly Part[] {
  return [
    ...(options.controllerManager ? (['controller-manager'] as const) : []),
    ...(options.metallb ? (['metallb', 'metallb-webhooks'] as const) : []),
    ...(options.certManager ? (['cert-manager'] as const) : []),
    ...(options.olm ? (['olm'] as const) : []),
  ]
}

function programsFor(parts: readonly Part[]): readonly ProgramName[] {
  return [...new Set([...requiredPrograms.core, ...parts.flatMap((part) => requiredPrograms[part])])]
}

/** Starts a cluster without hooks, for benches and tools. The caller stops it. */
export async function startCluster(
  options: ClusterOptions = {},
  takePlace: () => Promise<ProcessLock> = takeClusterSlot,
): Promise<{ readonly cluster: Cluster; readonly stop: () => Promise<void> }> {
  const { crds = 'none', netns = true } = options
  const context = sandboxContext()
  const parts = partsOf(options)
  const built = await ensurePrograms(programsFor(parts), context)
  const prepared = await ensurePreparedStore(await ensureCrds(crds, context.ownCrds, context), context)
  const slot = await takePlace()
  try {
    const folder = sandboxFolder(await mkdtemp(path.join(tmpdir(), 'stackloom-test-')))
    await copyPreparedStore(prepared, folder)
    const port = { number: 0, fixed: false }
    const started = await startPrograms(
      { name: 'test', folder, programs: built, parts, netns, ephemeral: true, port },
      context,
    )
    return await createHandle(folder, { ...started, netns, slot }, context)
  } catch (error) {
    await slot.release()
    throw error
  }
}

interface StartedSupervisor {
  readonly pid: number
  readonly netns: boolean
  readonly slot: ProcessLock
}

async function createHandle(
  folder: SandboxFolder,
  { pid, netns, slot }: StartedSupervisor,
  { env }: SandboxContext,
): Promise<{ readonly cluster: Cluster; readonly stop: () => Promise<void> }> {
  const connection = await connect({ kubeconfig: folder.kubeconfig, env })
  const forwarders: Forwarder[] = []
  const kill = async (task: ClusterProgram): Promise<void> => {
    await callSupervisor(folder.control, { do: 'kill', task })
  }
  const start = async (task: ClusterProgram): Promise<void> => {
    await callSupervisor(folder.control, { do: 'start', task }, 270_000)
  }
  const cluster: Cluster = {
    client: connection.client,
    connection,
    kubeconfig: folder.kubeconfig,
    insideKubeconfig: path.join(folder.pki, 'admin.kubeconfig'),
    server: connection.server,
    kill,
    start,
    restart: async (task) => {
      await kill(task)
      await start(task)
    },
    expose: async (port) => {
      if (!netns) return
      const socket = socketPath(path.join(folder.root, `expose-${port}.sock`))
      forwarders.push(await forward({ path: socket }, { port, host: '127.0.0.1' }))
      await callSupervisor(folder.control, { do: 'expose', port, socket })
    },
    inside: netns ? nsenterCommand(pid) : [],
    pid,
    logOf: (program) => logFile(folder, program),
  }
  const stop = async (): Promise<void> => {
    await connection.close()
    for (const forwarder of forwarders) forwarder.close()
    // Nothing of it is kept, so nothing needs to end gracefully.
    process.kill(pid, 'SIGKILL')
    await waitForExit(pid)
    await removeSandboxFolder(folder)
    await slot.release()
  }
  return { cluster, stop }
}

async function waitForExit(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
