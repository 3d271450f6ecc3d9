/**
 * The controller runtime, compared with an array as queue and client-node's informer.
 */

import { systemClock } from '../src/clock/clock.ts'
import { createCache } from '../src/kube/cache.ts'
import { fixedCredential } from '../src/kube/credential.ts'
import { createKubeClient } from '../src/kube/http-client.ts'
import { createQueue } from '../src/kube/queue.ts'
import { createReflector, defaultReflectorTiming } from '../src/kube/reflector.ts'
import { openTransport } from '../src/kube/transport.ts'
import { type FaultyServer, startFaultyServer } from '../test/faulty-server.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { ratio } from '../tools/measure.ts'

const KEYS = 100_000
const OBJECTS = 5_000

export const figures: readonly Figure[] = [
  {
    name: 'runtime.queue',
    unit: 'x',
    target: { op: '<=', value: 0.5 },
    measure: () => ratio({ ours: drainQueue, theirs: shiftArray, rounds: 5 }),
  },
  {
    // Ours lists in pages, theirs in one piece; generated models cost least for ConfigMaps.
    name: 'runtime.sync',
    unit: 'x',
    measure: () => withServer((server) => ratio({ ours: () => ourSync(server), theirs: () => theirSync(server) })),
  },
  {
    // A server that ends every watch at once: the number of requests in two seconds.
    name: 'runtime.requests-when-closed',
    unit: 'x',
    target: { op: '<=', value: 0.1 },
    measure: async () => (await requestsWhenClosed(ourInformer)) / (await requestsWhenClosed(theirInformer)),
  },
]

async function drainQueue(): Promise<void> {
  const queue = createQueue({ clock: systemClock })
  for (let at = 0; at < KEYS; at += 1) queue.add(`openstack/edpm-${at}`)
  for (let left = KEYS; left > 0; left -= 1) queue.done((await queue.next()) ?? '')
}

/** A simple deduplicating queue: a Set and an array. */
async function shiftArray(): Promise<void> {
  const queued = new Set<string>()
  const keys: string[] = []
  for (let at = 0; at < KEYS; at += 1) {
    queued.add(`openstack/edpm-${at}`)
    keys.push(`openstack/edpm-${at}`)
  }
  for (let key = keys.shift(); key !== undefined; key = keys.shift()) {
    queued.delete(key)
    await Promise.resolve()
  }
}

interface Following {
  readonly whenSynced: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Informer = (server: FaultyServer) => Promise<Following>

const ourInformer: Informer = async (server) => {
  const transport = openTransport({
    server: server.url,
    context: undefined,
    namespace: 'default',
    tls: {},
    proxy: undefined,
    credential: fixedCredential('bench', { headers: {} }),
  })
  const cache = createCache()
  const control = new AbortController()
  const source = { kind: { apiVersion: 'v1', kind: 'ConfigMap' } }
  const client = createKubeClient(transport)
  const reflector = createReflector({ client, source, cache, clock: systemClock, timing: defaultReflectorTiming })
  const running = reflector.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await running
    await transport.close()
  }
  return { whenSynced: cache.waitForSync, stop }
}

const theirInformer: Informer = async (server) => {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'bench', server: server.url, skipTLSVerify: true }, { name: 'bench' })
  const core = config.makeApiClient(CoreV1Api)
  const informer = makeInformer(config, '/api/v1/configmaps', () => core.listConfigMapForAllNamespaces())
  informer.on('error', () => {})
  // It lists, reports each object, and then resolves.
  const started = informer.start()
  return { whenSynced: () => started, stop: () => informer.stop() }
}

async function syncOnce(informer: Informer, server: FaultyServer): Promise<number> {
  const began = performance.now()
  const following = await informer(server)
  await following.whenSynced()
  const took = performance.now() - began
  await following.stop()
  return took
}
const ourSync = (server: FaultyServer): Promise<number> => syncOnce(ourInformer, server)
const theirSync = (server: FaultyServer): Promise<number> => syncOnce(theirInformer, server)

async function withServer(measure: (server: FaultyServer) => Promise<Measured>): Promise<Measured> {
  const server = await startFaultyServer()
  for (let at = 0; at < OBJECTS; at += 1) server.put(`object-${at}`, 'x'.repeat(500))
  try {
    return await measure(server)
  } finally {
    await server.close()
  }
}

async function requestsWhenClosed(informer: Informer): Promise<number> {
  const server = await startFaultyServer()
  server.watches.push(...Array.from({ length: 100_000 }, () => ({ kind: 'close' }) as const))
  const following = await informer(server)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const requests = server.requests.length
  await following.stop()
  await server.close()
  return requests
}
