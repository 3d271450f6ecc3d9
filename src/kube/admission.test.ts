import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Authority, createAuthority } from '../pki/authority.ts'
import { readCredentialFolder } from '../pki/watch-credentials.ts'
import { type AdmissionHandler, formatReview, parseReview } from './admission.ts'
import { type AdmissionServerOptions, serveAdmission } from './admission-server.ts'
import type { LogEntry } from './log.ts'

const object = { apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet', metadata: { name: 'edpm-0' } }
const request = {
  uid: 'u-1',
  operation: 'CREATE',
  kind: { group: 'network.openstack.org', version: 'v1beta1', kind: 'IPSet' },
  resource: { group: 'network.openstack.org', version: 'v1beta1', resource: 'ipsets' },
  name: 'edpm-0',
  namespace: 'openstack',
  object,
} as const
const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }

function answered(answer: Parameters<typeof formatReview>[1]): Record<string, unknown> {
  const { response } = JSON.parse(formatReview(request, answer)) as { response: Record<string, unknown> }
  return response
}

describe('an admission review', () => {
  it('is parsed with all its fields', () => {
    expect(parseReview(JSON.stringify(review))).toEqual(request)
  })

  it.each([
    ['{', 'the body is not JSON'],
    ['[]', 'the body is not an AdmissionReview'],
    ['null', 'the body is not an AdmissionReview'],
    [
      JSON.stringify({ ...review, apiVersion: 'admission.k8s.io/v1beta1' }),
      'only admission.k8s.io/v1 is supported, not admission.k8s.io/v1beta1',
    ],
    [JSON.stringify({ ...review, request: undefined }), 'the review has no request with a uid'],
    [JSON.stringify({ ...review, request: { uid: 'a' } }), 'the request has no operation'],
  ])('that is malformed is rejected with the reason: %s', (body, problem) => {
    expect(parseReview(body)).toEqual({ problem })
  })

  it('is answered with its uid', () => {
    expect(answered({ allowed: true })).toEqual({ uid: 'u-1', allowed: true })
  })

  it('is denied field by field, as the API server does', () => {
    const causes = [
      { field: 'spec.networks[0].name', message: 'no such network: ctlplan', reason: 'FieldValueNotFound' },
      { field: 'spec.networks', message: 'must not be empty' },
    ]
    expect(answered({ allowed: false, causes })['status']).toEqual({
      metadata: {},
      status: 'Failure',
      reason: 'Invalid',
      code: 422,
      message: 'spec.networks[0].name: no such network: ctlplan; spec.networks: must not be empty',
      details: {
        name: 'edpm-0',
        group: 'network.openstack.org',
        kind: 'IPSet',
        causes: [
          {
            reason: 'FieldValueNotFound',
            field: 'spec.networks[0].name',
            message: 'no such network: ctlplan',
          },
          { reason: 'FieldValueInvalid', field: 'spec.networks', message: 'must not be empty' },
        ],
      },
    })
  })

  it('is denied as a whole with a message, as Forbidden', () => {
    const status = answered({ allowed: false, reason: 'the network is in use' })['status']
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden', message: 'the network is in use' })
  })

  it('carries patch and warnings', () => {
    const patch = [{ op: 'add', path: '/metadata/labels', value: { a: 'ü' } }] as const
    const response = answered({ allowed: true, patch, warnings: ['two\nlines'] })
    expect(response['patchType']).toBe('JSONPatch')
    expect(JSON.parse(Buffer.from(String(response['patch']), 'base64').toString())).toEqual(patch)
    expect(response['warnings']).toEqual(['two lines'])
  })
})

interface Answer {
  readonly code: number
  readonly body: string
  /** The common name of the certificate that the server sent. */
  readonly subject: string
  readonly connection: string | undefined
}

async function read(response: IncomingMessage): Promise<Answer> {
  const subject = String((response.socket as TLSSocket).getPeerCertificate().subject.CN)
  const pieces: Buffer[] = []
  for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece)
  const { connection } = response.headers
  return { code: response.statusCode ?? 0, body: Buffer.concat(pieces).toString(), subject, connection }
}

describe('the admission server', () => {
  let folder: string
  let authority: Authority
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-admission-'))
    authority = await createAuthority({ commonName: 'test' })
    await issue('first')
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function issue(commonName: string): Promise<void> {
    const pair = await authority.issue({ commonName, hosts: ['127.0.0.1'], uses: ['server'] })
    await writeFile(path.join(folder, 'new.crt'), pair.certificate)
    await writeFile(path.join(folder, 'new.key'), pair.privateKey)
    await rename(path.join(folder, 'new.crt'), path.join(folder, 'tls.crt'))
    await rename(path.join(folder, 'new.key'), path.join(folder, 'tls.key'))
  }

  async function serving(
    handler: AdmissionHandler,
    more: Partial<AdmissionServerOptions> = {},
    control = new AbortController(),
  ) {
    const credentials = { read: () => readCredentialFolder(folder), pollMs: 10 }
    const entries: LogEntry[] = []
    const finished: string[] = []
    const server = await serveAdmission(
      {
        host: '127.0.0.1',
        port: 0,
        handlers: { '/validate': handler },
        credentials,
        log: (entry) => entries.push(entry),
        observer: { finished: (path, code) => finished.push(`${path} ${code}`) },
        ...more,
      },
      control.signal,
    )
    const ask = (
      body: string,
      over: { path?: string; method?: string; type?: string; keep?: boolean } = {},
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const sent = httpsRequest(
          {
            host: '127.0.0.1',
            port: server.port,
            path: over.path ?? '/validate?timeout=10s',
            method: over.method ?? 'POST',
            ca: authority.certificate,
            agent: false,
            headers: {
              'content-type': over.type ?? 'application/json',
              ...(over.keep && { connection: 'keep-alive' }),
            },
          },
          (response) => void read(response).then(resolve, reject),
        )
        sent.on('error', reject)
        sent.end(body)
      })
    const stop = async (): Promise<void> => {
      control.abort()
      await server.stopped
    }
    return { ask, stop, entries, finished }
  }

  const body = JSON.stringify(review)

  it('passes each review to the handler of its path', async () => {
    const seen: unknown[] = []
    const { ask, stop, finished } = await serving((review) => {
      seen.push(review.name)
      return { allowed: true, warnings: ['mind the gap'] }
    })
    const { code, body: text } = await ask(body)
    expect(code).toBe(200)
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'u-1', allowed: true, warnings: ['mind the gap'] },
    })
    expect(seen).toEqual(['edpm-0'])
    expect(finished).toEqual(['/validate 200'])
    await stop()
  })

  it.each([
    ['a page that is none', { path: '/toString' }, 404],
    ['a question that is not posted', { method: 'PUT' }, 405],
    ['another language', { type: 'application/yaml' }, 415],
  ])('responds to %s with a specific code', async (_, over, code) => {
    const { ask, stop } = await serving(() => ({ allowed: true }))
    expect((await ask(body, over)).code).toBe(code)
    await stop()
  })

  it('responds to a malformed review and to one that is too long, and keeps running', async () => {
    const { ask, stop } = await serving(() => ({ allowed: true }), { bodyLimit: 2_000 })
    expect(await ask('{"kind":')).toMatchObject({ code: 400, body: 'the body is not JSON' })
    expect((await ask(body + ' '.repeat(1_000_000))).code).toBe(413)
    expect((await ask(body)).code).toBe(200)
    await stop()
  })

  it('reviews a change of every object whose creation it allowed', async () => {
    const { ask, stop } = await serving(() => ({ allowed: true }))
    const sized = (subnets: number) => ({
      ...object,
      spec: Array.from({ length: subnets }, (_, n) => ({
        name: `s${n}`,
        cidr: '10.0.0.0/30',
        ranges: [{ start: 'a' }],
      })),
    })
    const decide = async (next: object, old?: object): Promise<unknown> => {
      const answer = await ask(
        JSON.stringify({ ...review, request: { ...request, object: next, oldObject: old ?? null } }),
      )
      expect(answer.code).toBe(200)
      return (JSON.parse(answer.body) as { readonly response: { readonly allowed: boolean } }).response.allowed
    }
    // The largest that is allowed, by bisection.
    let [allowed, refused] = [1, 13_000]
    while (refused - allowed > 1) {
      const middle = Math.floor((allowed + refused) / 2)
      if (await decide(sized(middle))) allowed = middle
      else refused = middle
    }
    expect(allowed).toBeGreaterThan(6_000)
    expect(await decide(sized(allowed), sized(allowed))).toBe(true)
    // Stored where no webhook was registered: it can be made smaller.
    expect(await decide(sized(1), sized(refused))).toBe(true)
    await stop()
  })

  it('leaves the decision to the failure policy when a handler fails or takes too long', async () => {
    const broken = await serving(() => {
      throw new Error('no cache yet')
    })
    expect(await broken.ask(body)).toMatchObject({ code: 500, body: 'the webhook failed: no cache yet' })
    expect(broken.entries.at(-1)).toMatchObject({ level: 'error', reason: 'no cache yet' })
    await broken.stop()

    let aborted = false
    const slow = await serving((_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    })
    // The API server requests the limit; nine tenths of it are ours.
    expect(await slow.ask(body, { path: '/validate?timeout=0.1s' })).toMatchObject({
      code: 504,
      body: 'the webhook took longer than 90 ms',
    })
    expect(aborted).toBe(true)
    await slow.stop()
  })

  it('uses a renewed certificate from the next connection on, and never half of a pair', async () => {
    const { ask, stop, entries } = await serving(() => ({ allowed: true }))
    expect((await ask(body)).subject).toBe('first')
    const stray = await authority.issue({ commonName: 'stray', hosts: ['127.0.0.1'], uses: ['server'] })
    await writeFile(path.join(folder, 'tls.crt'), stray.certificate)
    const until = async (message: string): Promise<void> => {
      while (!entries.some((entry) => entry.message === message)) await new Promise((done) => setTimeout(done, 5))
    }
    await until('the new certificate cannot be used')
    expect((await ask(body)).subject).toBe('first')
    await issue('second')
    await until('the certificate was renewed')
    expect((await ask(body)).subject).toBe('second')
    await stop()
    await issue('first')
  })

  it('finishes the review in flight at a stop and accepts no new one', async () => {
    const control = new AbortController()
    const { ask, stop } = await serving(
      async () => {
        control.abort()
        await new Promise((done) => setTimeout(done, 50))
        return { allowed: true }
      },
      {},
      control,
    )
    expect((await ask(body)).code).toBe(200)
    await stop()
    await expect(ask(body)).rejects.toThrow('ECONNREFUSED')
  })

  it('ends the connection of each review from the announcement of its stop on', async () => {
    const closing = new AbortController()
    const { ask, stop } = await serving(() => ({ allowed: true }), { closing: closing.signal })
    expect((await ask(body, { keep: true })).connection).toBe('keep-alive')
    closing.abort()
    expect(await ask(body, { keep: true })).toMatchObject({ code: 200, connection: 'close' })
    await stop()
  })

  it('does not wait forever for a review that does not end', async () => {
    const { ask, stop } = await serving(() => new Promise(() => {}), { graceMs: 50 })
    const response = ask(body).catch((error: Error) => error.message)
    await new Promise((done) => setTimeout(done, 100))
    await stop()
    expect(await response).toMatch(/socket hang up|ECONNRESET/)
  })
})
