import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { processScope } from '../files/process-scope.ts'
import type { KubeClient } from '../kube/client.ts'
import { ensureSystemNamespace } from './inventory.ts'
import { runIdentity, withRunLease } from './run-lease.ts'

const DEAD_PID = 2 ** 22 + 1
const timing = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 100, attemptMs: 600 }

async function clusterHeldBy(holderIdentity: string) {
  const cluster = memoryCluster()
  await cluster.client.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'stackloom-system', name: 'stackloom-up' },
    spec: { holderIdentity, leaseDurationSeconds: 3_600 },
  })
  return cluster
}

/** Whether a run starts at once, although the Lease has a holder. */
async function startsAtOnce(holderIdentity: string): Promise<boolean> {
  const { client } = await clusterHeldBy(holderIdentity)
  const stop = new AbortController()
  const onDoubt = (): void => stop.abort()
  const run = withRunLease({ client, identity: runIdentity(), stop: stop.signal, timing, onDoubt }, async () => true)
  return run.catch(() => false)
}

describe('the Lease of a run', () => {
  it('is taken at once from a process of this machine that is dead', async () => {
    expect(await startsAtOnce(runIdentity(DEAD_PID))).toBe(true)
  })

  it('is not taken from a process of this machine that is alive', async () => {
    expect(await startsAtOnce(runIdentity(process.pid))).toBe(false)
  })

  it.each([
    ['another machine with the same host name', runIdentity(DEAD_PID, '0123456789abcdef')],
    ['a machine that cannot be told apart', runIdentity(DEAD_PID, '')],
    ['an earlier version, which recorded the host name only', `ann@${hostname()}:${DEAD_PID}:k3j2a9`],
  ])('is not taken from %s', async (_, holder) => {
    expect(await startsAtOnce(holder)).toBe(false)
  })

  it('is refused in a namespace that is being deleted, where each attempt would fail', async () => {
    const cluster = memoryCluster()
    const metadata = { name: 'stackloom-system', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] }
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata })
    // As the API server does.
    const create: KubeClient['create'] = () => {
      throw new Error('forbidden: it is being terminated')
    }
    const client = { ...cluster.client, create }
    await expect(ensureSystemNamespace(client, { limitMs: 0 })).rejects.toThrow('is being deleted')
    const stop = AbortSignal.timeout(20_000)
    const run = withRunLease({ client, identity: runIdentity(), stop, timing }, async () => true)
    await expect(run).rejects.toThrow('is being deleted')
  })

  it('names each run differently, also with equal process ids', () => {
    expect(runIdentity(7)).not.toBe(runIdentity(7))
    expect(processScope()).toBe(processScope())
  })
})
