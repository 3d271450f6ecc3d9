/**
 * HTTP to one API server: credentials on every request, retries with bounded patience, typed errors, JSON.
 *
 * Knows no kinds and no verbs: paths come in, JSON or a stream of bytes goes out.
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
  /** A connection that sends nothing for so long is taken for dead. */
  readonly idleMs: number
}

export interface Transport {
  readonly server: string
  /** Sends, retries, and gives the parsed JSON; throws ApiError. */
  readonly json: (call: ApiRequest) => Promise<unknown>
  /** The same for answers that are no JSON (`/readyz`, logs). */
  readonly text: (call: ApiRequest) => Promise<string>
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
  /** More than these few do not make a server faster, but each costs a handshake of about 10 ms. */
  readonly connections?: number
  readonly userAgent?: string
  /** Warnings that the server sends beside its answers. */
  readonly onWarning?: ((text: string) => void) | undefined
}

export function openTransport(access: ClusterAccess, options: TransportOptions = {}): Transport {
  const { clock = systemClock, retry = defaultRetryPolicy, timeoutMs = 30_000, userAgent = 'stackloom' } = options
  const connections = connectionsFor(access, options)
  const exchange = createRoundTripper({ access, clock, timeoutMs, userAgent, onWarning: options.onWarning })

  /** A refused credential is renewed once; whoever renewed it meanwhile did it for all. */
  const withCredential = async <T>(attempt: (identity: Identity) => Promise<T>): Promise<T> => {
    const identity = await access.credential.current()
    try {
      return await attempt(identity)
    } catch (thrown) {
      if (!isApiError(thrown, 'unauthorized') || !(await access.credential.renew(identity))) throw thrown
      return attempt(await access.credential.current())
    }
  }

  const once = (call: ApiRequest): Promise<string> =>
    withCredential(async (identity) =>
      exchange.readText(await exchange.roundTrip(call, identity, connections.for(identity)), call),
    )

  const text = async (call: ApiRequest): Promise<string> => {
    const started = clock.elapsed()
    for (let count = 1; ; count += 1) {
      try {
        return await once(call)
      } catch (error) {
        if (!(error instanceof ApiError) || connections.closed()) throw error
        const attempt = { error, count, elapsedMs: clock.elapsed() - started, safe: call.safe }
        const pause = retryDelay(attempt, retry, clock)
        if (pause === undefined) throw error
        await clock.sleep(pause, call.signal)
      }
    }
  }

  return {
    server: access.server,
    text,
    json: async (call) => parsed(await text(call), exchange.requestInfo(call)),
    stream: (call) =>
      withCredential(async (identity) =>
        exchange.chunks(await exchange.roundTrip(call, identity, connections.for(identity), call.idleMs), call),
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

function parsed(text: string, errand: RequestInfo): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const what = text.trimStart().startsWith('<') ? 'a web page instead of JSON' : 'the answer is not JSON'
    throw malformedResponse(what, errand, thrown)
  }
}
