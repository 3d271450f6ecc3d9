/** Tests what is left of a sandbox with nodes after its programs were killed, and two such sandboxes beside each other. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { sandboxStatus, startSandbox, stopSandbox } from '../../../src/sandbox/sandbox.ts'
import { requireSoak } from '../../counts.ts'
import { type PodSandbox, pausePod, startPodSandbox, usePodSandbox, waitFor, waitForPod } from '../../pod-sandbox.ts'
import { descendants, readProcesses } from '../../process-tree.ts'

const sandbox = usePodSandbox({ nodes: ['worker-0'] })

const NAMESPACE_KINDS = ['mnt', 'net', 'pid'] as const

/** The namespaces of a process, empty when it has ended. */
function namespacesOf(pid: number | string): readonly string[] {
  try {
    return NAMESPACE_KINDS.map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))
  } catch {
    return []
  }
}

/** The namespaces that a sandbox made: of its nodes, its switches and its pods. */
function namespacesOfSandbox(pid: number): ReadonlySet<string> {
  const elsewhere = new Set(namespacesOf('self'))
  const all = descendants(pid, readProcesses()).flatMap(namespacesOf)
  return new Set(all.filter((found) => !elsewhere.has(found)))
}

/** What a sandbox has on this machine: processes, mounts, cgroups, interfaces, and network namespaces with names. */
function traces({ layout }: PodSandbox, namespaces: ReadonlySet<string>): readonly string[] {
  const root = path.dirname(path.dirname(layout.nodes[0]?.folder ?? ''))
  const list = (...words: readonly string[]): readonly string[] =>
    spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' }).stdout.split('\n')
  const hierarchies = readdirSync('/sys/fs/cgroup', { withFileTypes: true })
  const cgroups = ['', ...hierarchies.filter((entry) => entry.isDirectory()).map(({ name }) => name)]
  return [
    ...list('ps', '-eo', 'args=').filter((line) => line.includes(root)),
    ...[...readProcesses().keys()]
      .filter((pid) => namespacesOf(pid).some((found) => namespaces.has(found)))
      .map((pid) => `process ${pid} in a namespace of the sandbox`),
    ...readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(root)),
    ...cgroups.flatMap((name) =>
      readdirSync(path.join('/sys/fs/cgroup', name)).filter((entry) => `/${entry}` === layout.cgroup),
    ),
    ...list('ip', 'netns', 'list').filter((line) => line.startsWith('cni-')),
    ...list('ip', '-o', 'link').filter((line) => / (node\d|p\d-|seg\d|cni0)/.test(line)),
  ]
}

async function kill(program: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const { programs } = await sandboxStatus(sandbox.name, sandbox.context)
  const { pid } = programs.find(({ name }) => name === program) ?? {}
  if (pid === undefined) throw new Error(`${program} does not run`)
  process.kill(pid, signal)
}

async function killAndWait(program: string): Promise<void> {
  await kill(program)
  await waitFor(`restart of ${program}`, async () => {
    const status = await sandboxStatus(sandbox.name, sandbox.context)
    const task = status.programs.find(({ name }) => name === program)
    return task?.state === 'ready' && task.restarts > 0 ? true : undefined
  })
}

/** The process that runs the programs; the first one only waits for it. */
function supervisorId(): number {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
  const folder = path.dirname(sandbox.kubeconfig)
  const lines = stdout.split('\n').filter((line) => line.includes(`sandbox supervise ${folder}`))
  const line = lines.find((text) => !/ (sh|\/bin\/sh|unshare) /.test(text))
  return Number(line?.trim().split(' ')[0])
}

describe('a sandbox with nodes', { timeout: 600_000 }, () => {
  it('restarts a killed kubelet and containerd and keeps its pods', async (context) => {
    requireSoak(context)
    await sandbox.client.create(pausePod('before', 'worker-0'))
    const before = await waitForPod(sandbox.client, 'default', 'before')
    await killAndWait('containerd-worker-0')
    await killAndWait('kubelet-worker-0')
    await sandbox.client.create(pausePod('after', 'worker-0'))
    await waitForPod(sandbox.client, 'default', 'after')
    const kept = await waitForPod(sandbox.client, 'default', 'before')
    expect(kept.metadata.uid).toBe(before.metadata.uid)
  })

  it('leaves nothing after its supervisor, kubelet and containerd are killed, and no stopped program', async () => {
    const pod = pausePod('kept', 'worker-0')
    await sandbox.client.create(pod)
    await waitForPod(sandbox.client, 'default', 'kept')
    const namespaces = namespacesOfSandbox(sandbox.pid)
    const supervisor = supervisorId()
    await kill('kube-proxy-worker-0', 'SIGSTOP')
    await kill('containerd-worker-0')
    await kill('kubelet-worker-0')
    process.kill(supervisor, 'SIGKILL')
    await stopSandbox(sandbox.name, sandbox.context)
    // Those of the nodes and of a pod are more than those of the supervisor.
    expect(namespaces.size).toBeGreaterThan(NAMESPACE_KINDS.length)
    expect(traces(sandbox, namespaces)).toEqual([])
  })

  it('starts again with its pods', async (context) => {
    requireSoak(context)
    const { ready } = await startSandbox({ name: sandbox.name }, sandbox.context)
    expect(ready).toBe(true)
    await waitFor('restarted pod', async () => {
      const live = await sandbox.client.get({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'kept' })
      const { containerStatuses = [] } = (live?.['status'] ?? {}) as {
        readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[]
      }
      return containerStatuses.some((status) => status.ready && status.restartCount > 0) ? true : undefined
    })
  })

  it('runs beside another one with a node of the same name', async (context) => {
    requireSoak(context)
    // Without a place: two test files that each wait for a second one would wait forever.
    const other = await startPodSandbox('other', { nodes: ['worker-0'] }, async () => ({ release: async () => {} }))
    let namespaces: ReadonlySet<string> = new Set()
    try {
      await other.sandbox.client.create(pausePod('pause', 'worker-0'))
      await waitForPod(other.sandbox.client, 'default', 'pause')
      namespaces = namespacesOfSandbox(other.sandbox.pid)
    } finally {
      await other.stop()
    }
    expect(traces(other.sandbox, namespaces)).toEqual([])
    await sandbox.client.create(pausePod('still', 'worker-0'))
    await waitForPod(sandbox.client, 'default', 'still')
  })

  it('leaves nothing when it stops', async (context) => {
    requireSoak(context)
    const { supervisor: pid = 0 } = await sandboxStatus(sandbox.name, sandbox.context)
    const namespaces = namespacesOfSandbox(pid)
    expect(traces(sandbox, namespaces)).not.toEqual([])
    expect(await stopSandbox(sandbox.name, sandbox.context)).toBe(true)
    expect(traces(sandbox, namespaces)).toEqual([])
  })
})
