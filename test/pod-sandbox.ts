/**
 * Provides a sandbox with nodes that run pods to the tests of a file. It is started as by `sandbox start --pods`, in a folder of
 * its own, and reset at the end. At most two run at a time on one machine, together with other test clusters.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { Condition, KubeObject } from '../src/api/object.ts'
import { runProcess, succeeded, toProgram } from '../src/exec/process.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { connect } from '../src/kube/connect.ts'
import { ensurePrograms, isBuilt } from '../src/sandbox/build/ensure-programs.ts'
import { PAUSE_REFERENCE } from '../src/sandbox/images/image-table.ts'
import type { NodeLayout } from '../src/sandbox/nodes/node-layout.ts'
import { judgeHost, readHostFacts } from '../src/sandbox/nodes/requirements.ts'
import type { ProcessLock } from '../src/sandbox/process-lock.ts'
import { requiredPrograms } from '../src/sandbox/program-table.ts'
import { programs } from '../src/sandbox/programs.ts'
import { resetSandbox, type SandboxContext, startSandbox } from '../src/sandbox/sandbox.ts'
import { locateSandbox } from '../src/sandbox/settings.ts'
import type { StartRequest } from '../src/sandbox/start-request.ts'
import { type PodRequests, readPodRequests } from './audit-log.ts'
import { takeClusterSlot } from './cluster.ts'
import { isSoak, SOAK_ONLY } from './counts.ts'
import { findTraces, readNamespaces } from './pod-traces.ts'
import { sandboxContext } from './sandbox-context.ts'

export interface PodSandbox {
  readonly client: KubeClient
  readonly kubeconfig: string
  readonly layout: NodeLayout
  readonly name: string
  readonly context: SandboxContext
  /** The id of the process whose end ends the sandbox. */
  readonly pid: number
  /** What pods have requested of the API server. */
  readonly requests: () => PodRequests
  /** Runs a command in namespaces of the sandbox: those of a node, of the switches, or of the control plane. */
  readonly run: (where: string, command: readonly string[]) => Promise<string>
}

/** Of the installed operator. */
export const OPERATOR_ACCOUNT = 'system:serviceaccount:stackloom-operator:stackloom-operator'

export type PodSandboxOptions = Omit<StartRequest, 'name' | 'pods'>

/** `prepare` runs before the tests, where pods can run. With `soakOnly` only `make soak` runs the tests of the file. */
export function usePodSandbox(
  { soakOnly = false, ...options }: PodSandboxOptions & { readonly soakOnly?: boolean },
  prepare: (sandbox: PodSandbox) => Promise<void> = async () => undefined,
): PodSandbox {
  let started: { readonly sandbox: PodSandbox; readonly stop: () => Promise<void> } | undefined
  let refusal: string | undefined
  beforeAll(async () => {
    refusal = soakOnly && !isSoak() ? SOAK_ONLY : await preparePods()
    if (refusal !== undefined) return
    started = await startPodSandbox('pods', options)
    await prepare(started.sandbox)
  }, PREPARE_MS)
  beforeEach((context) => {
    if (refusal !== undefined) context.skip(refusal)
  })
  afterAll(async () => {
    if (!started) return
    const { pid, layout, requests } = started.sandbox
    const { denied } = requests()
    const namespaces = readNamespaces(pid)
    await started.stop()
    expect(findTraces(layout, namespaces)).toEqual([])
    // A right that a pod lacks is a failure of whatever test needed it.
    expect(denied).toEqual([])
  }, 120_000)
  return new Proxy({} as PodSandbox, {
    get: (_, field) => {
      if (!started) throw new Error('the sandbox is there in tests and hooks only')
      return started.sandbox[field as keyof PodSandbox]
    },
  })
}

/** Programs may have to be built first. */
const PREPARE_MS = 2_400_000

/** Builds what pods need, if this run may build; returns why no pods can run here, or undefined. */
export async function preparePods(): Promise<string | undefined> {
  const [problem] = judgeHost(await readHostFacts(process.env))
  if (!problem && process.env['STACKLOOM_BUILD_ALL'] === '1')
    await ensurePrograms(requiredPrograms.pods, sandboxContext())
  return findPodProblem()
}

/** Why no pods can run here without a build, or undefined. */
export async function findPodProblem(): Promise<string | undefined> {
  const [problem] = judgeHost(await readHostFacts(process.env))
  if (problem) return `${problem.message}; ${problem.remedy}`
  for (const name of requiredPrograms.pods) {
    if (!(await isBuilt(name, programs, sandboxContext())))
      return `${name} is not built, which takes minutes; \`make test SUITE=pods\` builds it`
  }
  return undefined
}

export async function startPodSandbox(
  name: string,
  options: PodSandboxOptions,
  takePlace: () => Promise<ProcessLock> = takeClusterSlot,
): Promise<{ readonly sandbox: PodSandbox; readonly stop: () => Promise<void> }> {
  const slot = await takePlace()
  const state = await mkdtemp(path.join(tmpdir(), 'stackloom-pods-'))
  const base = sandboxContext()
  const context = { ...base, paths: { ...base.paths, sandboxes: state } }
  const stop = async (): Promise<void> => {
    await resetSandbox(name, context)
    await rm(state, { recursive: true, force: true })
    await slot.release()
  }
  try {
    const status = await startSandbox({ crds: 'none', ...options, name, pods: true }, context)
    const connection = await connect({ kubeconfig: status.kubeconfig, env: process.env })
    const layout = JSON.parse(await readFile(locateSandbox(context.paths, name).nodeRecord, 'utf8')) as NodeLayout
    const pid = status.supervisor ?? 0
    const sandbox: PodSandbox = {
      client: connection.client,
      kubeconfig: status.kubeconfig,
      layout,
      name,
      context,
      pid,
      requests: () => readPodRequests(locateSandbox(context.paths, name)),
      run: (where, command) => runInside(pid, layout, where, command),
    }
    return {
      sandbox,
      stop: async () => {
        await connection.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Words before a command that run it in namespaces of the sandbox. */
export function enterSandbox(pid: number, layout: NodeLayout, where: string): readonly string[] {
  const namespace =
    where === 'switch' ? layout.switchNamespace : layout.nodes.find((node) => node.name === where)?.networkNamespace
  return [
    'nsenter',
    `--target=${pid}`,
    '--mount',
    '--net',
    `--pid=/proc/${pid}/ns/pid_for_children`,
    '--',
    ...(namespace === undefined ? [] : ['nsenter', `--net=${namespace}`, '--']),
  ]
}

async function runInside(pid: number, layout: NodeLayout, where: string, command: readonly string[]): Promise<string> {
  const { exit, stdout, stderr } = await runProcess(toProgram([...enterSandbox(pid, layout, where), ...command]))
  if (!succeeded(exit)) throw new Error(`${command.join(' ')} in ${where}: ${stdout}${stderr}`)
  return stdout
}

/** Waits until an object satisfies a condition; for tests without a limit of their own. */
export async function waitFor<T>(what: string, check: () => Promise<T | undefined>, seconds = 240): Promise<T> {
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`no ${what} after ${seconds} s`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

export interface PodStatus {
  readonly phase?: string
  readonly podIP?: string
  readonly conditions?: readonly Condition[]
}

/** A pod that does nothing. */
export function pausePod(name: string, node: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: PAUSE_REFERENCE, imagePullPolicy: 'Never' }],
    },
  }
}

/** Waits until a pod runs and is ready. */
export async function waitForPod(client: KubeClient, namespace: string, name: string): Promise<KubeObject> {
  return waitFor(`ready pod ${namespace}/${name}`, async () => {
    const pod = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name })
    const { conditions = [] } = (pod?.['status'] ?? {}) as PodStatus
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ? pod : undefined
  })
}
