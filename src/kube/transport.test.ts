import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { instantClock } from '../../test/instant-clock.ts'
import {
  type RequestScript,
  respondJson,
  type ScriptedServer,
  startScriptedServer,
  statusObject,
} from '../../test/scripted-server.ts'
import { createAuthority } from '../pki/authority.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { type Credential, fixedCredential } from './credential.ts'
import type { ApiRequest } from './round-trip.ts'
import { openTransport, type Transport, type TransportOptions } from './transport.ts'

const anonymous = fixedCredential('an anonymous user', { headers: {} })
const get: ApiRequest = { method: 'GET', path: '/x', idempotent: true, verb: 'get', subject: 'x' }
const create: ApiRequest = { ...get, method: 'POST', body: { a: 1 }, idempotent: false, verb: 'create' }

const open: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()))
})

function transportTo(server: string, access: Partial<ClusterAccess> = {}, options: TransportOptions = {}): Transport {
  const whole = {
    server,
    context: undefined,
    namespace: 'default',
    tls: {},
    proxy: undefined,
    credential: anonymous,
  }
  const transport = openTransport({ ...whole, ...access }, { clock: instantClock(), ...options })
  open.push(transport)
  return transport
}

async function startServer(script: RequestScript): Promise<ScriptedServer> {
  const server = await startScriptedServer(script)
  open.push(server)
  return server
}

/** Fails the first requests, then responds normally. */
function afterFailures(count: number, fail: (answer: ServerResponse) => void): RequestScript {
  return ({ index }, answer) => (index < count ? fail(answer) : respondJson(answer, { ok: true }))
}

describe('a request', () => {
  it('waits as long as the server requests and retries', async () => {
    const clock = instantClock()
    const server = await startServer(
      afterFailures(2, (answer) =>
        respondJson(answer, statusObject(429, 'TooManyRequests', 'later'), 429, { 'retry-after': '3' }),
      ),
    )
    expect(await transportTo(server.url, {}, { clock }).json(create)).toEqual({ ok: true })
    expect(server.seen).toHaveLength(3)
    for (const pause of clock.pauses) expect(pause).toBeGreaterThanOrEqual(3000)
  })

  it('that always fails is sent a bounded number of times', async () => {
    const server = await startServer((_, answer) => respondJson(answer, statusObject(500, '', 'no'), 500))
    await expect(transportTo(server.url).json(get)).rejects.toMatchObject({ kind: 'failing', status: 500 })
    expect(server.seen).toHaveLength(5)
  })

  it('that creates is not retried after a 500: it may have succeeded', async () => {
    const server = await startServer((_, answer) => respondJson(answer, statusObject(500, '', 'no'), 500))
    await expect(transportTo(server.url).json(create)).rejects.toMatchObject({ kind: 'failing' })
    expect(server.seen).toHaveLength(1)
  })

  it('survives connections that are cut, and does not retry a create over one', async () => {
    const cut = (answer: ServerResponse): void => void answer.socket?.destroy()
    const server = await startServer(afterFailures(2, cut))
    expect(await transportTo(server.url).json(get)).toEqual({ ok: true })
    expect(server.seen).toHaveLength(3)

    const other = await startServer(afterFailures(1, cut))
    await expect(transportTo(other.url).json(create)).rejects.toMatchObject({ kind: 'unreachable' })
    expect(other.seen).toHaveLength(1)
  })

  it('survives a response that is cut in the middle', async () => {
    const server = await startServer(
      afterFailures(1, (answer) => {
        answer.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        answer.write('{"half":')
        setImmediate(() => answer.socket?.destroy())
      }),
    )
    expect(await transportTo(server.url).json(get)).toEqual({ ok: true })
    expect(server.seen).toHaveLength(2)
  })

  it('waits no longer than allowed for the first or the next byte', async () => {
    const silent = await startServer(() => undefined)
    const impatient = { timeoutMs: 50, retry: { ...noRetry } }
    await expect(transportTo(silent.url, {}, impatient).json(get)).rejects.toMatchObject({
      kind: 'timeout',
      findings: [{ code: 'SL1120' }],
    })
    const stalled = await startServer((_, answer) => {
      answer.writeHead(200)
      answer.write('{')
    })
    await expect(transportTo(stalled.url, {}, impatient).json(get)).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('to a closed port ends with one finding after a few attempts', async () => {
    const gone = await startScriptedServer(() => undefined)
    await gone.close()
    const clock = instantClock()
    await expect(transportTo(gone.url, {}, { clock }).json(create)).rejects.toMatchObject({
      kind: 'unreachable',
      exitCode: 2,
      findings: [{ code: 'SL1100', message: `no response from ${gone.url}: connection refused` }],
    })
    expect(clock.pauses).toHaveLength(3)
  })

  it('that gets a page instead of JSON is not retried, and reports it', async () => {
    const server = await startServer((_, answer) => void answer.end('<html>sign in</html>'))
    await expect(transportTo(server.url).json(get)).rejects.toMatchObject({
      kind: 'malformed',
      findings: [{ code: 'SL1118', message: expect.stringContaining('a web page') }],
    })
    expect(server.seen).toHaveLength(1)
  })

  it('is not sent when its guard refuses after it waited for a connection or before a retry', async () => {
    let held = true
    const guard = (): void => {
      if (!held) throw new Error('lost')
    }
    const pending: ServerResponse[] = []
    const server = await startServer((_, answer) => void pending.push(answer))
    const transport = transportTo(server.url, {}, { connections: 1 })
    const first = transport.json({ ...create, guard })
    const queued = transport.json({ ...create, guard })
    await expect.poll(() => pending.length).toBe(1)
    held = false
    pending[0]?.writeHead(503, { 'retry-after': '1' }).end('{}')
    await expect(queued).rejects.toThrow('lost')
    await expect(first).rejects.toThrow('lost')
    expect(server.seen).toHaveLength(1)
  })

  it('stops when its signal is aborted, with the reason of the caller', async () => {
    const server = await startServer(() => undefined)
    const stop = new AbortController()
    const response = transportTo(server.url).json({ ...get, signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 20)
    await expect(response).rejects.toThrow('enough')
    await expect(transportTo(server.url).json({ ...get, signal: stop.signal })).rejects.toThrow('enough')
    expect(server.seen.length).toBeLessThanOrEqual(1)
  })

  it('ends at once when the program closes the connection, and none can be sent after', async () => {
    const server = await startServer(() => undefined)
    const clock = instantClock()
    const transport = transportTo(server.url, {}, { clock })
    const response = transport.json(get).catch((error: unknown) => error)
    await expect.poll(() => server.seen.length).toBe(1)
    await transport.close()
    expect(await response).toMatchObject({ kind: 'unreachable' })
    expect(clock.pauses).toEqual([])
    await expect(transport.json(get)).rejects.toThrow('was closed by this program')
    expect(server.seen).toHaveLength(1)
  })

  it('passes on the warnings of the server', async () => {
    const warning = ['299 - "v1 Endpoints is deprecated"', '299 - "say \\"no\\", then", 299 x "third"']
    const server = await startServer((_, answer) => respondJson(answer, {}, 200, { warning }))
    const warnings: string[] = []
    await transportTo(server.url, {}, { onWarning: (text) => void warnings.push(text) }).json(get)
    expect(warnings).toEqual(['v1 Endpoints is deprecated', 'say "no", then', 'third'])
  })

  it('keeps the base path of the server', async () => {
    const server = await startServer((_, answer) => respondJson(answer, {}))
    await transportTo(`${server.url}/k8s/clusters/c-1`).json({ ...get, query: { a: 'b c', none: undefined } })
    expect(server.seen[0]).toMatchObject({ path: '/k8s/clusters/c-1/x' })
    expect([...(server.seen[0]?.query ?? [])]).toEqual([['a', 'b c']])
  })

  it('never waits behind watches, however many there are', async () => {
    const server = await startServer(({ path }, answer) => {
      if (path !== '/watch') return respondJson(answer, { ok: true })
      answer.writeHead(200)
      answer.write('{}\n')
    })
    const transport = transportTo(server.url, {}, { connections: 2 })
    const watch = { ...get, path: '/watch', idleMs: 60_000 }
    const streams = await Promise.all(Array.from({ length: 20 }, () => transport.stream(watch)))
    expect(streams).toHaveLength(20)
    const answers = await Promise.all(Array.from({ length: 50 }, () => transport.json(get)))
    expect(answers).toHaveLength(50)
  })
})

const noRetry = {
  attempts: { busy: 1, failing: 1, unreachable: 1 },
  deadlineMs: 0,
  initialDelayMs: 0,
  maxDelayMs: 0,
}

describe('a request with priority', () => {
  it('is sent while every connection waits for a slow response', async () => {
    const waiting: ServerResponse[] = []
    const server = await startServer(({ path }, answer) => {
      if (path === '/slow') waiting.push(answer)
      else respondJson(answer, { ok: true })
    })
    const transport = transportTo(server.url, {}, { connections: 1 })
    const slow = [1, 2, 3].map(() => transport.json({ ...get, path: '/slow' }))
    await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(1)
    expect(await transport.json({ ...get, priority: true })).toEqual({ ok: true })
    expect(waiting).toHaveLength(1)
    for (let answered = 0; answered < 3; answered += 1) {
      await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(answered + 1)
      respondJson(waiting[answered] as ServerResponse, {})
    }
    await Promise.all(slow)
  })
})

describe('a credential', () => {
  function renewable(): Credential & { readonly renewals: () => number } {
    let renewals = 0
    let identity = { headers: { authorization: 'Bearer old' } }
    return {
      user: 'user ann',
      current: () => Promise.resolve(identity),
      renew: (used) => {
        if (used === identity) {
          renewals += 1
          identity = { headers: { authorization: 'Bearer new' } }
        }
        return Promise.resolve(true)
      },
      renewals: () => renewals,
    }
  }
  const rejectsFirstToken: RequestScript = ({ headers }, answer) =>
    headers.authorization === 'Bearer new'
      ? respondJson(answer, { ok: true })
      : respondJson(answer, statusObject(401, 'Unauthorized', 'Unauthorized'), 401)

  it('that is rejected is renewed once for all requests', async () => {
    const server = await startServer(rejectsFirstToken)
    const credential = renewable()
    const transport = transportTo(server.url, { credential })
    await Promise.all(Array.from({ length: 10 }, () => transport.json(create)))
    expect(credential.renewals()).toBe(1)
    expect(server.seen.length).toBeLessThanOrEqual(20)
  })

  it('is renewed for a watch, too', async () => {
    const server = await startServer(rejectsFirstToken)
    const transport = transportTo(server.url, { credential: renewable() })
    await transport.stream({ ...get, idleMs: 1000 })
    expect(server.seen).toHaveLength(2)
  })

  it('that stays rejected is sent at most twice, and never shown', async () => {
    const server = await startServer((_, answer) => respondJson(answer, statusObject(401, 'Unauthorized', 'x'), 401))
    const refused = transportTo(server.url, { credential: renewable() }).json(get)
    await expect(refused).rejects.toMatchObject({
      kind: 'unauthorized',
      exitCode: 2,
      findings: [{ code: 'SL1107', message: expect.stringContaining('user ann') }],
    })
    expect(server.seen).toHaveLength(2)
    await refused.catch((error: Error) =>
      expect(`${error.stack} ${JSON.stringify(error.message)}`).not.toContain('Bearer'),
    )
  })
})

describe('TLS', () => {
  const longAgo = { now: () => Date.parse('2020-01-01T00:00:00Z') }
  async function tlsServer(hosts: readonly string[], clock?: { now: () => number }, days = 825) {
    const authority = await createAuthority({ commonName: 'ca' }, clock)
    const issued = await authority.issue({ commonName: 'server', hosts, uses: ['server'], days })
    const server = await startScriptedServer((seen, answer) => respondJson(answer, { name: seen.clientName }), {
      cert: issued.certificate,
      key: issued.privateKey,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    })
    open.push(server)
    return { server, authority }
  }

  it('trusts the CA of the cluster and sends the client certificate', async () => {
    const { server, authority } = await tlsServer(['127.0.0.1'])
    const ann = await authority.issue({ commonName: 'ann', uses: ['client'] })
    const identity = { headers: {}, certificate: ann.certificate, key: ann.privateKey }
    const access = { tls: { ca: authority.certificate }, credential: fixedCredential('user ann', identity) }
    expect(await transportTo(server.url, access).json(get)).toEqual({ name: 'ann' })
  })

  it('uses a new client certificate when the credential has one', async () => {
    const { server, authority } = await tlsServer(['127.0.0.1'])
    const names = ['first', 'second']
    const identities = await Promise.all(
      names.map(async (commonName) => {
        const { certificate, privateKey } = await authority.issue({ commonName, uses: ['client'] })
        return { headers: {}, certificate, key: privateKey }
      }),
    )
    let turn = 0
    const credential = {
      ...anonymous,
      current: () => Promise.resolve(identities[turn] ?? { headers: {} }),
    }
    const transport = transportTo(server.url, { tls: { ca: authority.certificate }, credential })
    expect(await transport.json(get)).toEqual({ name: 'first' })
    turn = 1
    expect(await transport.json(get)).toEqual({ name: 'second' })
  })

  it('rejects an unknown CA once, before anything is sent', async () => {
    const { server } = await tlsServer(['127.0.0.1'])
    const { authority: other } = await tlsServer(['127.0.0.1'])
    const clock = instantClock()
    const response = transportTo(server.url, { tls: { ca: other.certificate } }, { clock }).json(get)
    await expect(response).rejects.toMatchObject({ kind: 'unreachable', findings: [{ code: 'SL1101' }] })
    expect(server.seen).toHaveLength(0)
    expect(clock.pauses).toHaveLength(0)
  })

  it('checks tls-server-name, and nothing when insecure', async () => {
    const { server, authority } = await tlsServer(['api.lab.example'])
    const ca = authority.certificate
    await expect(transportTo(server.url, { tls: { ca } }).json(get)).rejects.toMatchObject({
      findings: [{ code: 'SL1101' }],
    })
    expect(await transportTo(server.url, { tls: { ca, servername: 'api.lab.example' } }).json(get)).toEqual({})
    expect(await transportTo(server.url, { tls: { insecure: true } }).json(get)).toEqual({})
  })

  it('names the expired certificate of the server', async () => {
    const authority = await createAuthority({ commonName: 'ca', days: 36_500 }, longAgo)
    const { certificate, privateKey } = await authority.issue({
      commonName: 's',
      hosts: ['127.0.0.1'],
      uses: ['server'],
      days: 30,
    })
    const server = await startScriptedServer((_, answer) => respondJson(answer, {}), {
      cert: certificate,
      key: privateKey,
    })
    open.push(server)
    const response = transportTo(server.url, { tls: { ca: authority.certificate } }).json(get)
    await expect(response).rejects.toMatchObject({
      findings: [{ code: 'SL1102', message: expect.stringContaining('server') }],
    })
  })

  it('names an expired client certificate as the cause of a 401', async () => {
    const authority = await createAuthority({ commonName: 'ca', days: 36_500 }, longAgo)
    const old = await authority.issue({ commonName: 'ann', uses: ['client'], days: 30 })
    const server = await startServer((_, answer) => respondJson(answer, statusObject(401, 'Unauthorized', 'x'), 401))
    const identity = { headers: {}, certificate: old.certificate, key: old.privateKey }
    const response = transportTo(server.url, { credential: fixedCredential('user ann', identity) }).json(get)
    await expect(response).rejects.toMatchObject({
      findings: [
        {
          code: 'SL1102',
          message: expect.stringMatching(/user ann .* has expired \(valid until 2020-01-31/),
        },
      ],
    })
  })
})
