/**
 * Sends HTTP requests to one API server with credentials, bounded retries, typed errors and JSON.
 *
 * Must not know kinds and verbs: paths come in, JSON or a stream of bytes goes out.
 */
import type { Dispatcher } from 'undici'
import { type Clock, systemClock } from '../clock/clock.ts'
import { ApiError, isApiError, malformedResponse, type RequestInfo } from './api-error.ts'
import type { ClusterAccess } from './cluster-access.ts'
import type { Identity } from './credential.ts'
import { type Dispatchers, openDispatchers } from './dispatchers.ts'
import { defaultRetryPolicy, type RetryPolicy, retryDelay } from './retry.ts'
import { type ApiRequest, createRoundTripper } from './round-trip.ts'

export interface StreamCall extends ApiRequest {
  /** A connection that is silent for this long is treated as dead. */
  readonly idleMs: number
}

export interface Transport {
  readonly server: string
  /** Sends, retries, and returns the parsed JSON; throws ApiError. */
  readonly json: (call: ApiRequest) => Promise<unknown>
  /** The same for responses that are not JSON (`/readyz`, logs). */
  readonly text: (call: ApiRequest) => Promise<string>
  /** Opens a long response once. Only a rejected credential is retried: the caller resumes. */
  readonly stream: (call: StreamCall) => Promise<AsyncIterable<Uint8Array>>
  /** For a WebSocket: the same connections and the authentication headers. */
  readonly upgrade: () => Promise<{
    readonly dispatcher: Dispatcher
    readonly headers: Readonly<Record<string, string | string[]>>
  }>
  /** Closes all connections, including those of running watches. */
  readonly close: () => Promise<void>
}

export interface TransportOptions {
  readonly clock?: Clock
  readonly retry?: RetryPolicy
  readonly timeoutMs?: number
  readonly connectTimeoutMs?: number
  /** More connections do not make a server faster, but each costs a handshake of about 10 ms. */
  readonly connections?: number
  readonly userAgent?: string
  /** Warnings that the server sends with its responses. */
  readonly onWarning?: ((text: string) => void) | undefined
  /** Each response that arrives, with its status. */
  readonly onResponse?: ((request: ApiRequest, status: number) => void) | undefined
}

export function openTransport(access: ClusterAccess, options: TransportOptions = {}): Transport {
  const { clock = systemClock, retry = defaultRetryPolicy, timeoutMs = 30_000, userAgent = 'stackloom' } = options
  const connections = connectionsFor(access, options)
  const roundTripper = createRoundTripper({
    access,
    clock,
    timeoutMs,
    userAgent,
    onWarning: options.onWarning,
    onResponse: options.onResponse,
  })

  /** A rejected credential is renewed once, for all requests that wait for it. */
  const withCredential = async <T>(attempt: (identity: Identity) => Promise<T>): Promise<T> => {
    const identity = await access.credential.current()
    try {
      return await attempt(identity)
    } catch (thrown) {
      if (!isApiError(thrown, 'unauthorized') || !(await access.credential.renew(identity))) throw thrown
      return attempt(await access.credential.current())
    }
  }

  const once = (request: ApiRequest): Promise<string> =>
    withCredential(async (identity) =>
      roundTripper.readText(await roundTripper.roundTrip(request, identity, connections.for(identity)), request),
    )

  const text = async (request: ApiRequest): Promise<string> => {
    const started = clock.elapsed()
    for (let count = 1; ; count += 1) {
      try {
        return await once(request)
      } catch (error) {
        if (!(error instanceof ApiError) || connections.closed()) throw error
        const attempt = { error, count, elapsedMs: clock.elapsed() - started, idempotent: request.idempotent }
        const delay = retryDelay(attempt, retry, clock)
        if (delay === undefined) throw error
        await clock.sleep(delay, request.signal)
      }
    }
  }

  return {
    server: access.server,
    text,
    json: async (request) => parseJson(await text(request), roundTripper.requestInfo(request)),
    stream: (request) =>
      withCredential(async (identity) =>
        roundTripper.chunks(
          await roundTripper.roundTrip(request, identity, connections.for(identity), request.idleMs),
          request,
        ),
      ),
    upgrade: async () => {
      const identity = await access.credential.current()
      return { dispatcher: connections.for(identity).streams, headers: identity.headers }
    },
    close: () => connections.close(),
  }
}

interface Connections {
  readonly for: (identity: Identity) => Dispatchers
  readonly closed: () => boolean
  readonly close: () => Promise<void>
}

/** Connections belong to a client certificate: a renewed one needs new connections. */
function connectionsFor(
  access: ClusterAccess,
  { connections = 8, connectTimeoutMs = 10_000 }: TransportOptions,
): Connections {
  const settings = { tls: access.tls, proxy: access.proxy, connections, connectTimeoutMs }
  let open: { readonly dispatchers: Dispatchers; readonly certificate: string | undefined } | undefined
  let closed = false
  return {
    closed: () => closed,
    for: (identity) => {
      if (closed) throw new Error(`the connection to ${access.server} was closed by this program`)
      if (open && open.certificate === identity.certificate) return open.dispatchers
      open?.dispatchers.retire()
      open = { dispatchers: openDispatchers(settings, identity), certificate: identity.certificate }
      return open.dispatchers
    },
    close: async () => {
      closed = true
      await open?.dispatchers.close()
      open = undefined
    },
  }
}

function parseJson(text: string, request: RequestInfo): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const reason = text.trimStart().startsWith('<') ? 'a web page instead of JSON' : 'the response is not JSON'
    throw malformedResponse(reason, request, thrown)
  }
}
