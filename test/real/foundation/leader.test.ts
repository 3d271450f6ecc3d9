/**
 * Leader election on a real API server: whatever happens to a leader, it has stopped before another one starts.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadAccess } from '../../../src/kube/cluster-access.ts'
import { createKubeClient } from '../../../src/kube/http-client.ts'
import { type LeaseTiming, runAsLeader } from '../../../src/kube/leader-election.ts'
import type { Leadership, LeadershipEnd } from '../../../src/kube/leadership.ts'
import { openTransport } from '../../../src/kube/transport.ts'
import { useCluster } from '../../cluster.ts'
import { type CuttingProxy, startCuttingProxy } from '../../cutting-proxy.ts'

const cluster = useCluster({ crds: 'none' })
const namespace = 'default'
const soon = { timeout: 15_000, interval: 10 }

/** The API counts whole seconds: three leave time between deadline and end, also on a busy machine. */
const quick: LeaseTiming = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200, attemptMs: 600 }

interface Candidate {
  readonly began: () => number | undefined
  readonly ended: () => number | undefined
  readonly stop: () => void
  readonly end: Promise<LeadershipEnd>
}

function candidate(client: KubeClient, name: string, identity: string): Candidate {
  let began: number | undefined
  let ended: number | undefined
  const control = new AbortController()
  const work = async ({ signal }: Leadership): Promise<void> => {
    began = performance.now()
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    ended = performance.now()
  }
  const options = { client, namespace, name, identity, clock: systemClock, timing: quick }
  return {
    began: () => began,
    ended: () => ended,
    stop: () => control.abort(),
    end: runAsLeader(options, work, control.signal),
  }
}

describe('leaders on a real API server', () => {
  let proxy: CuttingProxy
  let distant: KubeClient
  let close: () => Promise<void>
  beforeAll(async () => {
    const access = await loadAccess({ kubeconfig: cluster.kubeconfig, env: {}, clock: systemClock })
    const { hostname, port } = new URL(access.server)
    proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
    const transport = openTransport({ ...access, server: `https://127.0.0.1:${proxy.port}` })
    distant = createKubeClient(transport)
    close = transport.close
  })
  afterAll(async () => {
    await close?.()
    await proxy?.close()
  })

  it('take turns: the second starts as soon as the first has released the lease', async () => {
    const first = candidate(cluster.client, 'turns', 'one')
    await expect.poll(first.began, soon).toBeDefined()
    const second = candidate(cluster.client, 'turns', 'two')
    first.stop()
    expect(await first.end).toBe('stopped')
    await expect.poll(second.began, soon).toBeDefined()
    expect(second.began()).toBeGreaterThan(first.ended() ?? Number.POSITIVE_INFINITY)
    const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: 'turns' }
    expect((await cluster.client.get(ref))?.['spec']).toMatchObject({
      holderIdentity: 'two',
      leaseTransitions: 1,
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
    })
    second.stop()
    await second.end
  })

  it.each(['cut off', 'left in silence'] as const)('%s, stop before another one starts', async (fault) => {
    const name = fault.replaceAll(' ', '-')
    const first = candidate(distant, name, 'one')
    await expect.poll(first.began, soon).toBeDefined()
    const second = candidate(cluster.client, name, 'two')
    if (fault === 'cut off') proxy.refuse(true)
    else proxy.silence(true)
    expect(await first.end).toBe('lost')
    await expect.poll(second.began, soon).toBeDefined()
    expect(second.began()).toBeGreaterThan(first.ended() ?? Number.POSITIVE_INFINITY)
    proxy.refuse(false)
    proxy.silence(false)
    second.stop()
    await second.end
  })

  it('paused as a whole process, start no write after another one started', async () => {
    // A separate process: it leads, and counts in a ConfigMap through the fenced client as fast as it can.
    const script = path.join(import.meta.dirname, 'counting-leader.ts')
    const child = spawn(process.execPath, ['--import', 'tsx', script, cluster.kubeconfig, namespace, 'paused'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    let output = ''
    child.stdout.on('data', (bytes: Buffer) => void (output += bytes.toString()))
    const counter = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'paused' }
    const counted = async (): Promise<number> =>
      Number(((await cluster.client.get(counter))?.['data'] as { count?: string } | undefined)?.count ?? 0)
    await expect.poll(counted, soon).toBeGreaterThan(3)

    child.kill('SIGSTOP')
    const second = candidate(cluster.client, 'paused', 'two')
    await expect.poll(second.began, soon).toBeDefined()
    const before = await counted()
    child.kill('SIGCONT')
    expect(await ended).toBe(0)
    // The pause may fall between the check and the request: that one write was started before.
    expect((await counted()) - before).toBeLessThanOrEqual(1)
    expect(output).toContain('lost')
    second.stop()
    await second.end
  })
})
