/** Tests what is left of a sandbox with nodes after its programs were killed, and two such sandboxes beside each other. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sandboxStatus, startSandbox, stopSandbox } from '../../../src/sandbox/sandbox.ts'
import {
  type PodSandbox,
  PREPARE_MS,
  pausePod,
  preparePods,
  startPodSandbox,
  waitFor,
  waitForPod,
} from '../../pod-sandbox.ts'

let obstacle: string | undefined
beforeAll(async () => {
  obstacle = await preparePods()
}, PREPARE_MS)
beforeEach((context) => {
  if (obstacle !== undefined) context.skip(obstacle)
})

/** What a sandbox has on this machine: processes, mounts, cgroups, and network namespaces with names. */
function traces({ layout }: PodSandbox): readonly string[] {
  const root = path.dirname(path.dirname(layout.nodes[0]?.folder ?? ''))
  const list = (...words: readonly string[]): readonly string[] =>
    spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' }).stdout.split('\n')
  const hierarchies = readdirSync('/sys/fs/cgroup', { withFileTypes: true })
  const cgroups = ['', ...hierarchies.filter((entry) => entry.isDirectory()).map(({ name }) => name)]
  return [
    ...list('ps', '-eo', 'args=').filter((line) => line.includes(root)),
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

async function killed(sandbox: PodSandbox, program: string): Promise<void> {
  const { programs } = await sandboxStatus(sandbox.name, sandbox.context)
  const { pid = 0 } = programs.find(({ name }) => name === program) ?? {}
  process.kill(pid, 'SIGKILL')
  await waitFor(`restart of ${program}`, async () => {
    const status = await sandboxStatus(sandbox.name, sandbox.context)
    const task = status.programs.find(({ name }) => name === program)
    return task?.state === 'ready' && task.restarts > 0 ? true : undefined
  })
}

/** The process that runs the programs; the first one only waits for it. */
function supervisorId(sandbox: PodSandbox): number {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
  const folder = path.dirname(sandbox.kubeconfig)
  const lines = stdout.split('\n').filter((line) => line.includes(`sandbox supervise ${folder}`))
  const line = lines.find((text) => !/ (sh|\/bin\/sh|unshare) /.test(text))
  return Number(line?.trim().split(' ')[0])
}

describe('a sandbox with nodes', () => {
  it('restarts a killed kubelet and containerd, keeps its pods, and leaves nothing when it stops', {
    timeout: 600_000,
  }, async () => {
    const { sandbox, stop } = await startPodSandbox('crash', { nodes: ['worker-0'] })
    try {
      await sandbox.client.create(pausePod('before', 'worker-0'))
      const before = await waitForPod(sandbox.client, 'default', 'before')
      await killed(sandbox, 'containerd-worker-0')
      await killed(sandbox, 'kubelet-worker-0')
      await sandbox.client.create(pausePod('after', 'worker-0'))
      await waitForPod(sandbox.client, 'default', 'after')
      const kept = await waitForPod(sandbox.client, 'default', 'before')
      expect(kept.metadata.uid).toBe(before.metadata.uid)
      expect(traces(sandbox)).not.toEqual([])
      expect(await stopSandbox(sandbox.name, sandbox.context)).toBe(true)
      expect(traces(sandbox)).toEqual([])
    } finally {
      await stop()
    }
  })

  it('leaves nothing after its supervisor is killed, and starts again with its pods', {
    timeout: 600_000,
  }, async () => {
    const { sandbox, stop } = await startPodSandbox('crash', { nodes: ['worker-0'] })
    try {
      await sandbox.client.create(pausePod('kept', 'worker-0'))
      await waitForPod(sandbox.client, 'default', 'kept')
      process.kill(supervisorId(sandbox), 'SIGKILL')
      await stopSandbox(sandbox.name, sandbox.context)
      expect(traces(sandbox)).toEqual([])
      const { ready } = await startSandbox({ name: sandbox.name }, sandbox.context)
      expect(ready).toBe(true)
      await waitForPod(sandbox.client, 'default', 'kept')
    } finally {
      await stop()
    }
  })

  it('runs beside another one with nodes of the same names', { timeout: 600_000 }, async () => {
    const both = [
      await startPodSandbox('one', { nodes: ['worker-0'] }),
      // Two test files that each wait for a second place would wait forever.
      await startPodSandbox('two', { nodes: ['worker-0'] }, async () => ({ release: async () => undefined })),
    ]
    try {
      for (const { sandbox } of both) {
        await sandbox.client.create(pausePod('pause', 'worker-0'))
        await waitForPod(sandbox.client, 'default', 'pause')
      }
      const [first, second] = both
      await stopSandbox('one', (first as NonNullable<typeof first>).sandbox.context)
      const still = await waitForPod((second as NonNullable<typeof second>).sandbox.client, 'default', 'pause')
      expect(still.metadata.deletionTimestamp).toBeUndefined()
    } finally {
      for (const { stop } of both) await stop()
    }
  })
})
