/** Runs the sandbox's etcd and API server in the enclosure, where the nodes reach them, and talks to it with kubectl. */
import { mkdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../api/object.ts'
import { failure } from '../../errors/failure.ts'
import { describeExit, type ExitStatus, lastLines, type RunningProcess, succeeded } from '../../exec/process.ts'
import type { ProgramPaths } from '../../sandbox/build/ensure-programs.ts'
import { API_SERVER_HOSTS, ensureCertificates, renderKubeconfig, writeKubeconfig } from '../../sandbox/certificates.ts'
import { sandboxFolder } from '../../sandbox/folder.ts'
import { namespacePorts } from '../../sandbox/ports.ts'
import { programTable } from '../../sandbox/program-table.ts'
import type { Enclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import { API_ADDRESS } from './cluster-network.ts'

export const clusterPrograms = ['etcd', 'kube-apiserver', 'kubectl'] as const
export type ClusterPrograms = Pick<ProgramPaths, (typeof clusterPrograms)[number]>

export interface ApiServer {
  readonly apply: (objects: readonly KubeObject[], options?: { readonly subresource?: 'status' }) => Promise<void>
  readonly list: (kind: string) => Promise<readonly KubeObject[]>
  /** With every right, for programs in nodes. */
  readonly kubeconfig: string
}

/** On a busy machine; a program that ends is noticed at once. */
const READY_MS = 300_000

export async function startApiServer(
  enclosure: Enclosure,
  programs: ClusterPrograms,
  signal?: AbortSignal,
): Promise<ApiServer> {
  const outside = sandboxFolder(enclosure.outside('api'))
  const inside = sandboxFolder(enclosure.inside('api'))
  await mkdir(outside.root)
  const hosts = [...API_SERVER_HOSTS, API_ADDRESS]
  await ensureCertificates(outside, Date.now(), {
    apiserver: { commonName: 'kube-apiserver', hosts, uses: ['server'] },
  })
  const kubeconfig = await renderKubeconfig(outside, 'admin', 'rehearsal', namespacePorts.api, API_ADDRESS)
  await writeKubeconfig(outside.kubeconfig, kubeconfig)
  const tasks = programTable({
    folder: inside,
    programs,
    ports: namespacePorts,
    parts: [],
    kubeconfigPath: () => inside.kubeconfig,
    webhookTmpDir: '',
  })
  // The last value of a flag counts.
  const open = ['--bind-address=0.0.0.0', `--advertise-address=${API_ADDRESS}`]
  const running = tasks.map(({ name, file, args, env }): Running => {
    const log = `${name}.log`
    const flags = name === 'kube-apiserver' ? [...args, ...open] : args
    // Into a file, because a kept enclosure outlives the readers of its pipes.
    const command = ['-c', 'exec "$@" >"$0" 2>&1', enclosure.inside(log), file, ...flags]
    return {
      name,
      log: enclosure.outside(log),
      process: enclosure.start({ file: 'sh', args: command, ...(env && { env }) }),
    }
  })
  const kubectl = async (args: readonly string[], input?: string) =>
    enclosure.exec(
      {
        file: programs.kubectl,
        args: [`--kubeconfig=${inside.kubeconfig}`, `--cache-dir=${enclosure.inside('kubectl')}`, ...args],
        ...(input !== undefined && { input }),
      },
      signal ? { signal } : {},
    )
  await waitUntilReady(running, async () => succeeded((await kubectl(['get', '--raw', '/readyz'])).exit), signal)
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const { exit, stdout, stderr } = await kubectl(args, input)
    if (succeeded(exit)) return stdout
    signal?.throwIfAborted()
    throw failure(partFailed, { part: 'the API server', reason: lastLines(stderr) || describeExit(exit) })
  }
  return {
    kubeconfig,
    apply: async (objects, { subresource } = {}) => {
      if (objects.length === 0) return
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
      const flags = ['--server-side', '--field-manager=stackloom', '-f', '-']
      await run(['apply', ...flags, ...(subresource ? [`--subresource=${subresource}`] : [])], list)
    },
    list: async (kind) => {
      const { items } = JSON.parse(await run(['get', kind, '--all-namespaces', '-o', 'json'])) as {
        readonly items: readonly KubeObject[]
      }
      return items
    },
  }
}

/** The API server serves a new kind a moment after its definition. */
export async function applyWhenServed(
  api: ApiServer,
  objects: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await api.apply(objects)
    } catch (error) {
      signal?.throwIfAborted()
      if (attempt === 20) throw error
      await sleep(500)
    }
  }
}

interface Running {
  readonly name: string
  readonly log: string
  readonly process: RunningProcess
}

async function waitUntilReady(
  running: readonly Running[],
  isReady: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  const ended: { program?: Running; status?: ExitStatus } = {}
  for (const program of running) {
    void program.process.exit.then((status) => {
      if (!ended.program) Object.assign(ended, { program, status })
    })
  }
  const deadline = performance.now() + READY_MS
  while (!(await isReady())) {
    signal?.throwIfAborted()
    if (ended.program && ended.status) {
      const text = await readFile(ended.program.log, 'utf8').catch(() => '')
      const reason = `${ended.program.name} ${describeExit(ended.status)}: ${lastLines(text)}`
      throw failure(partFailed, { part: 'the API server', reason })
    }
    if (performance.now() > deadline) {
      throw failure(partFailed, { part: 'the API server', reason: `not ready after ${READY_MS / 1000} s` })
    }
    await sleep(500)
  }
}
