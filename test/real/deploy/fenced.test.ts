/** Attacks the fence of `up`, `down`, `adopt` and `update` with real processes that sleep past their Lease. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureSystemNamespace } from '../../../src/deploy/inventory.ts'
import { runIdentity, withRunLease } from '../../../src/deploy/run-lease.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'

const cluster = useCluster({ crds: 'none' })
const soon = { timeout: 60_000, interval: 20 }
const timing = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200, attemptMs: 600 }
const pauses = count({ test: 2, soak: 30 })

describe('a run that slept past its Lease', { timeout: 60_000 + pauses * 60_000 }, () => {
  beforeAll(() => ensureSystemNamespace(cluster.client))

  it('writes nothing when it continues, although writes were queued, and says why', async () => {
    for (let pause = 0; pause < pauses; pause += 1) {
      const name = `paused-${pause}`
      const script = path.join(import.meta.dirname, 'writing-run-process.ts')
      const child = spawn(process.execPath, ['--import', 'tsx', script, cluster.kubeconfig, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
      let output = ''
      child.stdout.on('data', (bytes: Buffer) => void (output += bytes.toString()))
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'stackloom-system', name }
      const written = async (): Promise<Readonly<Record<string, string>>> =>
        ((await cluster.client.get(ref))?.['data'] ?? {}) as Record<string, string>
      await expect.poll(async () => Number((await written())['count'] ?? 0), soon).toBeGreaterThan(20)

      child.kill('SIGSTOP')
      const stop = new AbortController().signal
      await withRunLease({ client: cluster.client, identity: runIdentity(), stop, timing }, async () => {
        const before = await written()
        child.kill('SIGCONT')
        expect(await ended).toBe(0)
        expect(await written()).toEqual(before)
      })
      expect(output).toContain('SL4047')
    }
  })
})
