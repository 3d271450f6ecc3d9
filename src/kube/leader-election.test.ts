import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { type ManualClock, manualClock, settled } from '../../test/manual-clock.ts'
import { type MemoryCluster, memoryCluster } from '../../test/memory-cluster.ts'
import type { KubeClient } from './client.ts'
import { type LeaseTiming, runAsLeader } from './leader-election.ts'
import type { Leadership, LeadershipEnd } from './leadership.ts'
import { leaderFencedClient, leaderGuard } from './leadership.ts'

const place = { namespace: 'stackloom-system', name: 'operator' }
const timing: LeaseTiming = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, attemptMs: 4_000 }

interface Candidate {
  readonly leadership: () => Leadership | undefined
  readonly working: () => boolean
  readonly stop: () => void
  readonly end: Promise<LeadershipEnd>
}

/** A candidate whose work ends `windDownMs` after its signal. */
function candidate(client: KubeClient, clock: ManualClock, identity: string, windDownMs = 0): Candidate {
  let leadership: Leadership | undefined
  let working = false
  const control = new AbortController()
  const work = async (received: Leadership): Promise<void> => {
    leadership = received
    working = true
    await new Promise<void>((resolve) => {
      if (received.signal.aborted) resolve()
      else received.signal.addEventListener('abort', () => resolve())
    })
    if (windDownMs > 0) await clock.sleep(windDownMs)
    working = false
  }
  const end = runAsLeader({ client, clock, ...place, identity, timing }, work, control.signal)
  return { leadership: () => leadership, working: () => working, stop: () => control.abort(), end }
}

/** The same cluster over a separate connection, which can be cut or become silent. */
function connection(cluster: MemoryCluster): {
  readonly client: KubeClient
  readonly set: (state: 'up' | 'down' | 'silent') => void
} {
  let state: 'up' | 'down' | 'silent' = 'up'
  const guard = <A extends readonly unknown[], R>(send: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (state === 'down') throw new Error('connection refused')
      const signal = args.map((first) => (first as { signal?: AbortSignal })?.signal).find(Boolean)
      if (state === 'silent')
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      return send(...args)
    }
  }
  const { client } = cluster
  return {
    client: { ...client, get: guard(client.get), create: guard(client.create), update: guard(client.update) },
    set: (next) => {
      state = next
    },
  }
}

const holder = (cluster: MemoryCluster): unknown =>
  (cluster.objects('Lease')[0]?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity

describe('leader election', () => {
  it('makes the first candidate leader, with times that the API accepts', async () => {
    const cluster = memoryCluster()
    const clock = manualClock(Date.parse('2026-11-15T10:00:00.123Z'))
    const first = candidate(cluster.client, clock, 'one')
    await settled()
    expect(first.working()).toBe(true)
    expect(cluster.objects('Lease')[0]?.['spec']).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-11-15T10:00:00.123000Z',
      renewTime: '2026-11-15T10:00:00.123000Z',
      leaseTransitions: 0,
    })
    first.stop()
    expect(await first.end).toBe('stopped')
  })

  it('keeps the leader as long as it renews', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const first = candidate(cluster.client, clock, 'one')
    await settled()
    const second = candidate(cluster.client, clock, 'two')
    await clock.settle(300_000)
    expect([first.working(), second.working()]).toEqual([true, false])
    for (const candidate of [first, second]) candidate.stop()
    expect(await Promise.all([first.end, second.end])).toEqual(['stopped', 'stopped'])
    expect(clock.waiting()).toEqual([])
  })

  it('sends its requests with priority', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const priorities: unknown[] = []
    const recordPriority = <A extends readonly unknown[], R>(send: (...args: A) => Promise<R>) => {
      return (...args: A): Promise<R> => {
        priorities.push((args.at(-1) as { readonly priority?: boolean }).priority)
        return send(...args)
      }
    }
    const { get, create, update } = cluster.client
    const client = {
      ...cluster.client,
      get: recordPriority(get),
      create: recordPriority(create),
      update: recordPriority(update),
    }
    const first = candidate(client, clock, 'one')
    await clock.settle(10_000)
    first.stop()
    await first.end
    expect(priorities.length).toBeGreaterThan(4)
    expect(new Set(priorities)).toEqual(new Set([true]))
  })

  it('releases the lease after the work has ended at a stop, and the next candidate starts at once', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const first = candidate(cluster.client, clock, 'one', 30_000)
    await settled()
    const second = candidate(cluster.client, clock, 'two')
    await clock.settle(1_000)
    first.stop()
    await clock.settle(29_000)
    // Shutting down takes longer than the lease, which is renewed all the time.
    expect([first.working(), second.working(), holder(cluster)]).toEqual([true, false, 'one'])
    expect(first.leadership()?.isHeld()).toBe(true)
    await clock.settle(4_000)
    expect([first.working(), second.working(), holder(cluster)]).toEqual([false, true, 'two'])
    expect(first.leadership()?.isHeld()).toBe(false)
    expect(cluster.objects('Lease')[0]?.['spec']).toMatchObject({ leaseTransitions: 1 })
    second.stop()
    expect(await Promise.all([first.end, second.end])).toEqual(['stopped', 'stopped'])
  })

  it.each(['down', 'silent'] as const)(
    'stops a leader whose connection is %s before another one starts',
    async (state) => {
      const cluster = memoryCluster()
      const clock = manualClock()
      const line = connection(cluster)
      const first = candidate(line.client, clock, 'one')
      await settled()
      const second = candidate(cluster.client, clock, 'two')
      await clock.settle(5_000)
      line.set(state)
      await clock.settle(10_000)
      expect([first.working(), second.working()]).toEqual([false, false])
      expect(await first.end).toBe('lost')
      await clock.settle(10_000)
      expect(second.working()).toBe(true)
      second.stop()
      await second.end
    },
  )

  it('survives a connection that is down for less than the deadline', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const line = connection(cluster)
    const first = candidate(line.client, clock, 'one')
    await settled()
    line.set('silent')
    await clock.settle(6_000)
    line.set('up')
    await clock.settle(60_000)
    expect(first.working()).toBe(true)
    first.stop()
    expect(await first.end).toBe('stopped')
  })

  it('notices after a pause of the whole program that the leadership is lost, before any timer fires', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const first = candidate(cluster.client, clock, 'one')
    await settled()
    const guard = leaderGuard(() => first.leadership()?.isHeld() ?? false)
    const writer = leaderFencedClient(cluster.client, guard)
    const leaseless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'openstack' } }
    await writer.create(leaseless)
    // Time passes, and no timer has run yet: the write runs first.
    clock.advanceQuietly(11_000)
    await expect(writer.update(leaseless)).rejects.toThrow('SL1151')
    expect(await first.end).toBe('lost')
  })

  it('trusts the wall clock when the monotonic clock stood still, as it does while a machine sleeps', async () => {
    const clock = manualClock()
    const first = candidate(memoryCluster().client, clock, 'one')
    await settled()
    clock.jumpWall(3_600_000)
    expect(first.leadership()?.isHeld()).toBe(false)
    expect(await first.end).toBe('lost')
  })

  it('stops when another candidate took the lease', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const first = candidate(cluster.client, clock, 'one')
    await settled()
    const [lease] = cluster.objects('Lease')
    if (lease) await cluster.client.update({ ...lease, spec: { holderIdentity: 'thief', leaseDurationSeconds: 15 } })
    await clock.settle(2_000)
    expect(await first.end).toBe('lost')
    expect(holder(cluster)).toBe('thief')
  })

  it('continues when its lease was labelled', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const first = candidate(cluster.client, clock, 'one')
    await settled()
    const [lease] = cluster.objects('Lease')
    if (lease) await cluster.client.update({ ...lease, metadata: { ...lease.metadata, labels: { team: 'a' } } })
    await clock.settle(20_000)
    expect(first.working()).toBe(true)
    first.stop()
    expect(await first.end).toBe('stopped')
    expect(cluster.objects('Lease')[0]?.metadata.labels).toEqual({ team: 'a' })
  })

  it('waits the whole lease after it has seen it, whatever time the holder wrote', async () => {
    const cluster = memoryCluster()
    const clock = manualClock()
    const spec = {
      holderIdentity: 'dead',
      leaseDurationSeconds: 20,
      renewTime: '1999-01-01T00:00:00.000000Z',
    }
    const metadata = { namespace: place.namespace, name: place.name }
    await cluster.client.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    const first = candidate(cluster.client, clock, 'one')
    await clock.settle(19_000)
    expect(first.working()).toBe(false)
    await clock.settle(4_000)
    expect(first.working()).toBe(true)
    first.stop()
    await first.end
  })

  it('releases the lease when the work ends by itself or throws', async () => {
    for (const work of [async () => {}, async () => Promise.reject(new Error('broken'))]) {
      const cluster = memoryCluster()
      const options = { client: cluster.client, clock: manualClock(), ...place, identity: 'one', timing }
      const end = await runAsLeader(options, work, new AbortController().signal).catch((error: Error) => error.message)
      expect(['finished', 'broken']).toContain(end)
      expect(holder(cluster)).toBe('')
    }
  })

  it('rejects timings with which two leaders could work at once', async () => {
    const options = { client: memoryCluster().client, clock: manualClock(), ...place, identity: 'one' }
    const wrong = { ...timing, renewDeadlineMs: 15_000 }
    const attempt = runAsLeader({ ...options, timing: wrong }, async () => {}, new AbortController().signal)
    await expect(attempt).rejects.toThrow('SL1150')
  })

  it('never lets two leaders work at the same time, whatever happens to their connections (property)', async () => {
    const states = fc.constantFrom('up', 'down', 'silent')
    const step = fc.record({
      index: fc.nat({ max: 2 }),
      state: states,
      ms: fc.integer({ min: 100, max: 20_000 }),
    })
    const run = async (steps: readonly { index: number; state: 'up' | 'down' | 'silent'; ms: number }[]) => {
      const cluster = memoryCluster()
      const clock = manualClock()
      const lines = Array.from({ length: 3 }, () => connection(cluster))
      const all: Candidate[] = lines.map(({ client }, at) => candidate(client, clock, `c${at}`))
      const checkAtMostOne = (): void =>
        expect(all.filter((candidate) => candidate.working()).length).toBeLessThanOrEqual(1)
      for (const { index, state, ms } of steps) {
        lines[index]?.set(state)
        for (let passed = 0; passed < ms; passed += 500) {
          await clock.settle(Math.min(500, ms - passed))
          checkAtMostOne()
        }
      }
      for (const [number, first] of all.entries()) {
        lines[number]?.set('up')
        first.stop()
      }
      let ended = false
      const ends = Promise.all(all.map((candidate) => candidate.end)).then(() => {
        ended = true
      })
      for (let turn = 0; turn < 60 && !ended; turn += 1) await clock.settle(500)
      await ends
    }
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), run)
    await fc.assert(property, { numRuns: count({ test: 15, soak: 500 }) })
  })
})
