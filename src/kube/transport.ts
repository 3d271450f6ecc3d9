/**
 * HTTP to one API server: credentials on every request, retries with bounded patience, typed errors, JSON.
 *
 * Knows no kinds and no verbs: paths come in, JSON or a stream of bytes goes out.
 */
import type { Dispatcher } from 'undici'
import { Failure } from '../errors/failure.ts'
import { ApiError, type Errand, errorFromRefusal, malformed, unauthorized } from './api-error.ts'
import { type Clock, systemClock } from './clock.ts'
import type { ClusterAccess } from './config.ts'
import { expiredSince, type Identity } from './credential.ts'
import { type Dispatchers, openDispatchers } from './dispatchers.ts'
import { errorFromThrown } from './network-error.ts'
import { retryAfterOf, warningsOf } from './response-headers.ts'
import { defaultRetry, pauseBefore, type RetryPolicy } from './retry.ts'
import { heardByMany } from './signals.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root of the server: `/api/v1/pods`. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** Doing it twice is like doing it once, so it may be sent again after a broken connection. */
  readonly safe: boolean
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** For messages: what is done to what. */
  readonly verb: string
  readonly subject: string
}

export interface StreamCall extends Call {
  /** A connection that sends nothing for so long is taken for dead. */
  readonly idleMs: number
}

export interface Transport {
  readonly server: string
  /** Sends, retries, and gives the parsed JSON; throws ApiError. */
  readonly json: (call: Call) => Promise<unknown>
  /** The same for answers that are no JSON (`/readyz`, logs). */
  readonly text: (call: Call) => Promise<string>
  /** Opens a long answer once. Only a refused credential is tried again: resuming is the caller's business. */
  readonly stream: (call: StreamCall) => Promise<AsyncIterable<Uint8Array>>
  /** What a WebSocket needs: the same connections, and the headers that say who we are. */
  readonly upgrade: () => Promise<{
    readonly dispatcher: Dispatcher
    readonly headers: Readonly<Record<string, string | string[]>>
  }>
  /** Ends all connections, also those of running watches. */
  readonly close: () => Promise<void>
}

export interface TransportOptions {
  readonly clock?: Clock
  readonly retry?: RetryPolicy
  readonly timeoutMs?: number
  readonly connectTimeoutMs?: number
  readonly connections?: number
  readonly userAgent?: string
  /** Warnings that the server sends beside its answers. */
  readonly onWarning?: ((text: string) => void) | undefined
}

type Answer = Dispatcher.ResponseData

export function openTransport(access: ClusterAccess, options: TransportOptions = {}): Transport {
  const { clock = systemClock, retry = defaultRetry, timeoutMs = 30_000 } = options
  const { server } = access
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const connections = connectionsFor(access, options)

  const open = async (call: Call, idleMs?: number): Promise<{ answer: Answer; identity: Identity }> => {
    call.signal?.throwIfAborted()
    heardByMany(call.signal)
    const errand = errandOf(call, server)
    const identity = await access.credential.current()
    const dispatchers = connections.for(identity)
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const limit = call.timeoutMs ?? timeoutMs
    try {
      const answer = await (idleMs === undefined ? dispatchers.requests : dispatchers.streams).request({
        origin,
        path: prefix + call.path + queryString(call.query),
        method: call.method,
        headers: {
          accept: call.accept ?? 'application/json',
          'user-agent': options.userAgent ?? 'stackloom',
          ...(body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
          ...identity.headers,
        },
        ...(body !== undefined && { body }),
        ...(call.signal && { signal: call.signal }),
        headersTimeout: limit,
        bodyTimeout: idleMs ?? limit,
      })
      return { answer, identity }
    } catch (thrown) {
      throw asError(thrown, call, errand)
    }
  }

  /** One attempt, read to its end. */
  const once = async (call: Call): Promise<string> => {
    const errand = errandOf(call, server)
    const { answer, identity } = await open(call)
    const text = await answer.body.text().catch((thrown: unknown) => {
      throw asError(thrown, call, errand)
    })
    if (answer.statusCode >= 400) throw refusal({ answer, text, errand, identity })
    if (options.onWarning) for (const warning of warningsOf(answer.headers)) options.onWarning(warning)
    return text
  }

  const refusal = (seen: {
    readonly answer: Answer
    readonly text: string
    readonly errand: Errand
    readonly identity: Identity
  }): ApiError => {
    const { answer, text, errand, identity } = seen
    if (answer.statusCode === 401) {
      const { user } = access.credential
      return new Unauthorized(unauthorized(errand, user, expiredSince(identity, clock.now())), identity)
    }
    const retryAfterMs = retryAfterOf(answer.headers, clock.now())
    return errorFromRefusal({ status: answer.statusCode, body: parsedOrText(text), retryAfterMs }, errand)
  }

  /** A refused credential is renewed once; whoever renewed it meanwhile did it for all. */
  const withCredential = async <T>(attempt: () => Promise<T>): Promise<T> => {
    try {
      return await attempt()
    } catch (thrown) {
      if (!(thrown instanceof Unauthorized) || !(await access.credential.renew(thrown.used))) throw thrown
      return attempt()
    }
  }

  const text = async (call: Call): Promise<string> => {
    const started = clock.elapsed()
    for (let count = 1; ; count += 1) {
      try {
        return await withCredential(() => once(call))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const attempt = { error, count, elapsedMs: clock.elapsed() - started, safe: call.safe }
        const pause = pauseBefore(attempt, retry, clock)
        if (pause === undefined) throw error
        await clock.sleep(pause, call.signal)
      }
    }
  }

  return {
    server,
    text,
    json: async (call) => parsed(await text(call), errandOf(call, server)),
    stream: (call) =>
      withCredential(async () => {
        const errand = errandOf(call, server)
        const { answer, identity } = await open(call, call.idleMs)
        if (answer.statusCode < 400) return readableErrors(answer.body, call, errand)
        const said = await answer.body.text().catch(() => '')
        throw refusal({ answer, text: said, errand, identity })
      }),
    upgrade: async () => {
      const identity = await access.credential.current()
      return { dispatcher: connections.for(identity).streams, headers: identity.headers }
    },
    close: () => connections.close(),
  }
}

/** Remembers which identity was refused, so that it is not renewed when somebody else already has. */
class Unauthorized extends ApiError {
  readonly used: Identity

  constructor(error: ApiError, used: Identity) {
    super({ kind: error.kind, status: 401, finding: error.findings[0] as ApiError['findings'][number] })
    this.used = used
  }
}

/** Connections belong to a client certificate: a renewed one needs new connections. */
function connectionsFor(
  access: ClusterAccess,
  { connections = 32, connectTimeoutMs = 10_000 }: TransportOptions,
): { readonly for: (identity: Identity) => Dispatchers; readonly close: () => Promise<void> } {
  const settings = { tls: access.tls, proxy: access.proxy, connections, connectTimeoutMs }
  let open: { readonly dispatchers: Dispatchers; readonly certificate: string | undefined } | undefined
  return {
    for: (identity) => {
      if (open && open.certificate === identity.certificate) return open.dispatchers
      open?.dispatchers.retire()
      open = { dispatchers: openDispatchers(settings, identity), certificate: identity.certificate }
      return open.dispatchers
    },
    close: async () => {
      await open?.dispatchers.close()
      open = undefined
    },
  }
}

async function* readableErrors(
  body: AsyncIterable<Uint8Array>,
  call: Call,
  errand: Errand,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (thrown) {
    throw asError(thrown, call, errand)
  }
}

/** An abort stays what the caller made of it, a finding stays a finding; the rest is the network's. */
function asError(thrown: unknown, { signal }: Call, errand: Errand): unknown {
  if (signal?.aborted) return signal.reason
  return thrown instanceof Failure ? thrown : errorFromThrown(thrown, errand)
}

function errandOf({ verb, subject }: Call, server: string): Errand {
  return { server, verb, subject }
}

function parsed(text: string, errand: Errand): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const what = text.trimStart().startsWith('<') ? 'a web page instead of JSON' : 'the answer is not JSON'
    throw malformed(what, errand, thrown)
  }
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function queryString(query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text && `?${text}`
}
