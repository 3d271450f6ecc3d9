/**
 * The reflector on a real API server, over connections that are cut, silenced and refused, and with the server killed in
 * between: the cache always ends equal to a fresh list.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type KubeObject, objectKey } from '../../../src/api/object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { type Cache, createCache } from '../../../src/kube/cache.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadAccess } from '../../../src/kube/cluster-access.ts'
import { createKubeClient } from '../../../src/kube/http-client.ts'
import { createReflector, type ReflectorTiming } from '../../../src/kube/reflector.ts'
import { openTransport, type Transport } from '../../../src/kube/transport.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { type CuttingProxy, startCuttingProxy } from '../../cutting-proxy.ts'

const cluster = useCluster({ crds: 'none' })
const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
const timing: ReflectorTiming = {
  backoff: { initialMs: 50, maxMs: 1_000 },
  idleMs: 1_500,
  watchSeconds: { min: 290, max: 580 },
  stableMs: 10_000,
  maxEmptyWatches: 20,
}
/** Makes each request of the test one request on the connection. */
const noRetry = {
  attempts: { busy: 1, failing: 1, unreachable: 1 },
  deadlineMs: 0,
  initialDelayMs: 1,
  maxDelayMs: 1,
}

let proxy: CuttingProxy
let transport: Transport
let reader: KubeClient
let namespaces = 0
let namespace: string

beforeAll(async () => {
  const access = await loadAccess({ kubeconfig: cluster.kubeconfig, env: {}, clock: systemClock })
  const { hostname, port } = new URL(access.server)
  proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
  const server = `https://127.0.0.1:${proxy.port}`
  transport = openTransport({ ...access, server }, { retry: noRetry, timeoutMs: 2_000 })
  reader = createKubeClient(transport)
})
afterAll(async () => {
  await transport?.close()
  await proxy?.close()
})
beforeEach(async () => {
  namespaces += 1
  namespace = `reflected-${namespaces}`
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

interface Following {
  readonly cache: Cache
  /** Attempts so far: successful lists, started watches, and failures. */
  readonly attempts: () => { readonly lists: number; readonly watches: number; readonly failures: number }
  readonly stop: () => Promise<void>
}

async function follow(): Promise<Following> {
  const cache = createCache({ freeze: true })
  const attempts = { lists: 0, watches: 0, failures: 0 }
  const reflector = createReflector({
    client: reader,
    source: { kind, namespace },
    cache,
    clock: systemClock,
    timing,
    pageSize: 3,
    observer: {
      listed: () => void (attempts.lists += 1),
      watched: () => void (attempts.watches += 1),
      failed: () => void (attempts.failures += 1),
    },
  })
  const control = new AbortController()
  const running = reflector.run(control.signal)
  await cache.waitForSync()
  const stop = async (): Promise<void> => {
    control.abort()
    await running
  }
  return { cache, attempts: () => ({ ...attempts }), stop }
}

function byKey(objects: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
  return Object.fromEntries(objects.map((object) => [objectKey(object.metadata), object]))
}

/** Waits until the cache equals a list over a direct connection. */
async function converged({ cache }: Following): Promise<void> {
  const { items } = await cluster.client.list(kind, { namespace })
  const truth = byKey(items)
  await expect.poll(() => byKey(cache.list()), { interval: 5, timeout: 20_000 }).toEqual(truth)
}

async function write(name: string, value: string): Promise<void> {
  const object = { ...kind, metadata: { name, namespace }, data: { value } }
  await cluster.client.apply(object, { fieldManager: 'test' })
}
const remove = (name: string): Promise<boolean> => cluster.client.delete({ ...kind, name, namespace })

async function change(round: string): Promise<void> {
  await write('kept', round)
  await write(`new-${round}`, round)
  await remove('kube-root-ca.crt')
}

describe('a cache of the real API server', () => {
  it('follows without a fault: one list in pages, one watch', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await write(name, 'first')
    const following = await follow()
    await remove('a')
    await write('b', 'second')
    await converged(following)
    expect(following.attempts()).toEqual({ lists: 1, watches: 1, failures: 0 })
    await following.stop()
  })

  it('survives cut connections: one more watch for each cut, no list', async () => {
    const following = await follow()
    for (const round of ['one', 'two', 'three']) {
      await write(`before-${round}`, round)
      await converged(following)
      proxy.cut()
      await change(round)
      await converged(following)
    }
    const { lists, watches } = following.attempts()
    expect([lists, watches]).toEqual([1, 4])
    await following.stop()
  })

  it('notices a silent connection', async () => {
    const following = await follow()
    await write('seen', 'first')
    await converged(following)
    const { watches } = following.attempts()
    proxy.silence(true)
    try {
      await change('unheard')
      await expect.poll(() => following.attempts().watches, { timeout: 10_000 }).toBeGreaterThan(watches)
    } finally {
      proxy.silence(false)
    }
    await converged(following)
    expect(following.attempts().lists).toBe(1)
    expect(following.attempts().watches).toBeLessThanOrEqual(6)
    await following.stop()
  })

  it('survives an API server that is killed and restarted on the same data', async () => {
    const following = await follow()
    await write('before', 'first')
    await converged(following)
    const began = performance.now()
    await cluster.kill('kube-apiserver')
    await cluster.start('kube-apiserver')
    await expect.poll(() => change('after').then(() => true), { timeout: 20_000 }).toBe(true)
    await converged(following)
    // Doubling from at least 25 ms to 500 ms: five quick attempts, then at most two a second.
    const seconds = (performance.now() - began) / 1000
    const { lists, watches, failures } = following.attempts()
    expect(lists + watches + failures).toBeLessThanOrEqual(2 * (6 + Math.ceil(seconds * 2)) + 4)
    await following.stop()
  })

  it('lists again when the server no longer has its version, and drops deleted objects', async () => {
    await write('doomed', 'first')
    const following = await follow()
    await converged(following)
    proxy.refuse(true)
    await remove('doomed')
    await change('away')
    // A restarted server has no history.
    await cluster.restart('kube-apiserver')
    await expect.poll(() => write('later', 'x').then(() => true), { timeout: 20_000 }).toBe(true)
    proxy.refuse(false)
    await converged(following)
    expect(following.cache.get(`${namespace}/doomed`)).toBeUndefined()
    expect(following.attempts().lists).toBe(2)
    await following.stop()
  })

  it(
    'converges to a fresh list after any sequence of writes and cuts',
    async () => {
      const names = fc.constantFrom('a', 'b', 'c', 'd', 'e')
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            do: fc.constant('write' as const),
            name: names,
            value: fc.string({ maxLength: 8 }),
          }),
        },
        { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name: names }) },
        { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), ms: fc.nat({ max: 60 }) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 30 }) }) },
      )
      const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const following = await follow()
        for (const step of steps) {
          if (step.do === 'write') await write(step.name, step.value)
          else if (step.do === 'remove') await remove(step.name)
          else if (step.do === 'cut') proxy.cut()
          else if (step.do === 'wait') await rest(step.ms)
          else {
            proxy.refuse(true)
            await rest(step.ms)
            proxy.refuse(false)
          }
        }
        await converged(following)
        const disturbances = steps.filter((step) => step.do === 'cut' || step.do === 'refuse').length
        // One list, one watch, and for each disturbance the few attempts that fit into it.
        const { lists, watches } = following.attempts()
        expect(lists + watches).toBeLessThanOrEqual(2 + disturbances * 4)
        await following.stop()
      })
      await fc.assert(property, { numRuns: count({ test: 6, soak: 400 }), endOnFailure: true })
    },
    count({ test: 60_000, soak: 1_800_000 }),
  )
})
