/** Defines the cases of killed programs for a sandbox with nodes: what is restarted, what is left, and two such sandboxes. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { sandboxStatus, startSandbox, stopSandbox } from '../../../src/sandbox/sandbox.ts'
import type { Notify } from '../../../src/sandbox/sandbox-context.ts'
import { requireSoak } from '../../counts.ts'
import { type PodSandbox, pausePod, startPodSandbox, waitFor, waitForPod } from '../../pod-sandbox.ts'
import { findTraces, noNamespaces, readNamespaces } from '../../pod-traces.ts'

/** The last cases of a file: `make test` leaves the sandbox stopped. */
export function defineCrashes(sandbox: PodSandbox): void {
  describe('a sandbox with nodes', { timeout: 600_000 }, () => {
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
      const namespaces = readNamespaces(sandbox.pid)
      const supervisor = supervisorId()
      await kill('kube-proxy-worker-0', 'SIGSTOP')
      await kill('containerd-worker-0')
      await kill('kubelet-worker-0')
      process.kill(supervisor, 'SIGKILL')
      await stopSandbox(sandbox.name, sandbox.context)
      // Those of the nodes and of a pod are more than those of the supervisor.
      expect(namespaces.ids.size).toBeGreaterThan(3)
      expect(findTraces(sandbox.layout, namespaces)).toEqual([])
    })

    it('is stopped again when its start is interrupted while it waits for its nodes', async () => {
      const stop = new AbortController()
      const interrupt: Notify = (notice) => {
        if ('text' in notice && notice.text === 'waiting for the nodes') stop.abort()
      }
      const context = { ...sandbox.context, signal: stop.signal, notify: interrupt }
      await expect(startSandbox({ name: sandbox.name }, context)).rejects.toMatchObject({
        findings: [{ code: 'SL1221' }],
      })
      expect(findTraces(sandbox.layout, noNamespaces)).toEqual([])
      expect(await sandboxStatus(sandbox.name, sandbox.context)).toMatchObject({ running: false })
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
      let namespaces = noNamespaces
      try {
        await other.sandbox.client.create(pausePod('pause', 'worker-0'))
        await waitForPod(other.sandbox.client, 'default', 'pause')
        namespaces = readNamespaces(other.sandbox.pid)
      } finally {
        await other.stop()
      }
      expect(findTraces(other.sandbox.layout, namespaces)).toEqual([])
      await sandbox.client.create(pausePod('still', 'worker-0'))
      await waitForPod(sandbox.client, 'default', 'still')
    })

    it('leaves nothing when it stops', async (context) => {
      requireSoak(context)
      const { supervisor: pid = 0 } = await sandboxStatus(sandbox.name, sandbox.context)
      const namespaces = readNamespaces(pid)
      expect(findTraces(sandbox.layout, namespaces)).not.toEqual([])
      expect(await stopSandbox(sandbox.name, sandbox.context)).toBe(true)
      expect(findTraces(sandbox.layout, namespaces)).toEqual([])
    })
  })
}
