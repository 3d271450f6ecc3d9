/**
 * Failures between a reflector and its server over real connections: each time the cache ends equal to the server, with a
 * known number of requests.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FaultyServer, startFaultyServer, valuesOf } from '../../test/faulty-server.ts'
import { systemClock } from '../clock/clock.ts'
import { type Cache, createCache } from './cache.ts'
import { type Credential, fixedCredential, tokenFileCredential } from './credential.ts'
import { createKubeClient } from './http-client.ts'
import { createReflector, type ReflectorTiming } from './reflector.ts'
import { openTransport, type Transport } from './transport.ts'

const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
const timing: ReflectorTiming = {
  backoff: { initialMs: 10, maxMs: 50 },
  idleMs: 150,
  watchSeconds: { min: 290, max: 580 },
  stableMs: 10_000,
  maxEmptyWatches: 5,
}
const retry = {
  attempts: { busy: 10, failing: 5, unreachable: 4 },
  deadlineMs: 30_000,
  initialDelayMs: 5,
  maxDelayMs: 20,
}

let server: FaultyServer
let cache: Cache
let transport: Transport
let control: AbortController
let running: Promise<void>
let folder: string

beforeEach(async () => {
  server = await startFaultyServer()
  for (const name of ['a', 'b', 'c']) server.put(name, 'first')
  control = new AbortController()
  cache = createCache({ freeze: true })
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-failure-'))
})

afterEach(async () => {
  control.abort()
  await running
  await transport.close()
  await server.close()
  await rm(folder, { recursive: true })
})

interface Settings {
  readonly credential?: Credential
  readonly pageSize?: number
  readonly idleMs?: number
  readonly timeoutMs?: number
}

function follow({ credential, pageSize, idleMs = 150, timeoutMs = 150 }: Settings = {}): void {
  const access = {
    server: server.url,
    context: undefined,
    namespace: 'default',
    tls: {},
    proxy: undefined,
    credential: credential ?? fixedCredential('test', { headers: {} }),
  }
  transport = openTransport(access, { retry, timeoutMs })
  const reflector = createReflector({
    client: createKubeClient(transport),
    source: { kind },
    cache,
    clock: systemClock,
    timing: { ...timing, idleMs },
    ...(pageSize && { pageSize }),
  })
  running = reflector.run(control.signal)
}

/** Waits until the cache equals the server. */
async function equal(): Promise<void> {
  await expect.poll(() => valuesOf(cache.list()), { interval: 2, timeout: 10_000 }).toEqual(server.current())
}

/** Also waits until a watch is open: later changes come in the stream. */
async function following(): Promise<void> {
  await equal()
  await expect.poll(() => server.watching(), { interval: 2, timeout: 10_000 }).toBe(1)
}

async function expectRequests(...requests: readonly (string | RegExp)[]): Promise<void> {
  await expect.poll(() => server.requests.length, { interval: 2, timeout: 10_000 }).toBe(requests.length)
  // Long enough for one more request: pauses are 10 to 50 ms here.
  await new Promise((resolve) => setTimeout(resolve, 80))
  expect(server.requests).toEqual(
    requests.map((request) => (typeof request === 'string' ? request : expect.stringMatching(request))),
  )
}

/** Adds, modifies and deletes an object. */
function change(): void {
  server.put('b', 'second')
  server.put('d', 'new')
  server.remove('c')
}

describe('the cache ends equal to the server', () => {
  it('without any fault, with one list and one watch', async () => {
    follow({ idleMs: 5_000 })
    await following()
    change()
    await equal()
    await expectRequests('list', 'watch 103')
  })

  it('when the list comes in pages', async () => {
    follow({ pageSize: 2, idleMs: 5_000 })
    await following()
    await expectRequests('list', 'list 2', 'watch 103')
  })

  it('when the server closes the watch cleanly', async () => {
    follow({ idleMs: 5_000 })
    await following()
    server.endWatches('close')
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103')
  })

  it('when the server closes every watch at once', async () => {
    server.watches.push({ kind: 'close' }, { kind: 'close' }, { kind: 'close' })
    follow({ idleMs: 5_000 })
    change()
    await equal()
    await expectRequests('list', ...Array.from({ length: 4 }, () => /^watch/))
  })

  it('when the first list returns 503 several times', async () => {
    server.lists.push(...Array.from({ length: 12 }, () => ({ kind: 'status', code: 503 }) as const))
    follow({ idleMs: 5_000 })
    await following()
    await expectRequests(...Array.from({ length: 13 }, () => 'list'), 'watch 103')
  })

  it('when a watch returns 500', async () => {
    server.watches.push({ kind: 'status', code: 500 }, { kind: 'status', code: 500 })
    follow({ idleMs: 5_000 })
    await following()
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103', 'watch 103')
  })

  it('when the server requests a pause', async () => {
    server.watches.push({ kind: 'status', code: 429, retryAfterSeconds: 1 })
    follow({ idleMs: 5_000 })
    await following()
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103')
  })

  it('when the connection is reset within an event', async () => {
    follow({ idleMs: 5_000 })
    await following()
    // The next watch has three events; the second one is cut off.
    server.watches.push({ kind: 'reset', afterBytes: 250 })
    server.endWatches('reset')
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103', 'watch 104')
  })

  it('when the connection is reset within the list', async () => {
    server.lists.push({ kind: 'reset', afterBytes: 40 }, { kind: 'reset' })
    follow({ idleMs: 5_000 })
    await following()
    await expectRequests('list', 'list', 'list', 'watch 103')
  })

  it('when a connection becomes silent', async () => {
    server.watches.push({ kind: 'silent' }, { kind: 'silent' })
    follow()
    await expect.poll(() => server.requests.length).toBe(2)
    change()
    await equal()
    // The third watch works, and is silent too while nothing happens: it is requested again after the idle time.
    expect(server.requests.slice(0, 4)).toEqual(['list', 'watch 103', 'watch 103', 'watch 103'])
    expect(server.requests.filter((request) => request === 'list')).toHaveLength(1)
  })

  it('when a request gets no response', async () => {
    server.lists.push({ kind: 'mute' })
    server.watches.push({ kind: 'mute' })
    follow({ idleMs: 5_000 })
    await following()
    change()
    await equal()
    await expectRequests('list', 'list', 'watch 103', 'watch 103')
  })

  it('when the version has expired, reported by HTTP', async () => {
    follow({ idleMs: 5_000 })
    await following()
    server.endWatches('close')
    change()
    server.compact()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103', 'list', 'watch 106')
  })

  it('when the version has expired, reported in the stream', async () => {
    follow({ idleMs: 5_000 })
    await following()
    server.watches.push({ kind: 'gone-event' })
    server.endWatches('close')
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103', 'list', 'watch 106')
  })

  it('when the server is slow', async () => {
    server.lists.push({ kind: 'slow', bytes: 10, pauseMs: 5 })
    follow({ idleMs: 5_000 })
    await following()
    server.watches.push({ kind: 'slow', bytes: 10, pauseMs: 5 })
    server.endWatches('close')
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'watch 103', 'watch 106')
  })

  it.each(['{"type":"MODIFIED","object":{"metad', 'not json at all', '{"type":"CHANGED","object":{}}', '[]'])(
    'when a line is invalid: %s',
    async (line) => {
      follow({ idleMs: 5_000 })
      await following()
      server.watches.push({ kind: 'malformed', line })
      server.endWatches('close')
      change()
      await equal()
      await expectRequests('list', 'watch 103', 'watch 103', 'watch 106')
    },
  )

  it('when every watch from one version on is invalid: it lists again', async () => {
    follow({ idleMs: 5_000 })
    await following()
    server.watches.push(...Array.from({ length: 5 }, () => ({ kind: 'status', code: 500 }) as const))
    server.endWatches('close')
    change()
    await equal()
    await expectRequests('list', ...Array.from({ length: 6 }, () => 'watch 103'), 'list', 'watch 106')
  })

  it('when the token has expired and the file has a new one', async () => {
    const file = path.join(folder, 'token')
    await writeFile(file, 'old')
    server.allow('old')
    follow({
      credential: tokenFileCredential({ user: 'test', file, base: { headers: {} }, clock: systemClock }),
      idleMs: 5_000,
    })
    await following()
    server.allow('new')
    await writeFile(file, 'new')
    server.endWatches('close')
    change()
    await equal()
    await expectRequests('list', 'watch 103', 'refused', 'watch 103')
  })

  it('when the token has expired and the new one comes late', async () => {
    const file = path.join(folder, 'token')
    await writeFile(file, 'old')
    server.allow('old')
    follow({
      credential: tokenFileCredential({
        user: 'test',
        file,
        base: { headers: {} },
        clock: systemClock,
        rereadMs: 20,
      }),
      idleMs: 5_000,
    })
    await following()
    server.allow('new')
    server.endWatches('close')
    change()
    await expect.poll(() => server.requests.filter((request) => request === 'refused').length).toBeGreaterThanOrEqual(2)
    await writeFile(file, 'new')
    await equal()
    // At intervals of 10 to 50 ms, and at most twice per attempt: far from a busy loop.
    expect(server.requests.length).toBeLessThan(40)
  })

  it('when all faults happen in turn', async () => {
    follow({ idleMs: 200 })
    await following()
    const faults = [
      { kind: 'status', code: 500 },
      { kind: 'reset' },
      { kind: 'close' },
      { kind: 'gone-event' },
      { kind: 'silent' },
      { kind: 'malformed', line: '{' },
      { kind: 'reset', afterBytes: 30 },
    ] as const
    server.watches.push(...faults)
    server.lists.push({ kind: 'status', code: 503 }, { kind: 'reset', afterBytes: 10 })
    server.endWatches('reset')
    for (let round = 0; round < 20; round += 1) {
      server.put(`r${round}`, 'x')
      if (round % 3 === 0) server.remove(`r${round - 1}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await expect.poll(() => server.watches.length).toBe(0)
    await equal()
    expect(server.requests.length).toBeLessThanOrEqual(2 + faults.length + 2 + 6)
  })
})
