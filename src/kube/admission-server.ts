/**
 * Serves admission webhooks over HTTPS, one handler per path, with certificates that may change while it runs.
 *
 * Decides nothing itself: a failing handler, a time-out or a malformed review is an HTTP error, so that the failure
 * policy of the webhook configuration applies.
 */
import { constants } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type Clock, systemClock } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import type { Credentials } from '../pki/authority.ts'
import { watchCredentials } from '../pki/watch-credentials.ts'
import {
  type AdmissionHandler,
  type AdmissionObserver,
  type AdmissionRequest,
  formatReview,
  parseReview,
} from './admission.ts'
import { countValues, measureJson } from './json-complexity.ts'
import { listenUntilAborted, type RunningServer, requestLimits } from './listening-server.ts'
import { type Log, silentLog, withFields } from './log.ts'

export interface AdmissionServerOptions {
  readonly host: string
  /** 0 chooses a free port. */
  readonly port: number
  readonly handlers: Readonly<Record<string, AdmissionHandler>>
  /** Pages that are no webhooks, by path. */
  readonly pages?: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>>
  /** Polled; a new pair is used from the next handshake on. */
  readonly credentials: { readonly read: () => Promise<Credentials>; readonly pollMs?: number }
  /** Limit for a handler; the API server may request a shorter one. */
  readonly timeoutMs?: number
  readonly bodyLimit?: number
  /** Bytes of all bodies that are being received or reviewed. */
  readonly totalBodyLimit?: number
  readonly graceMs?: number
  /** From this signal on every response ends its connection. */
  readonly closing?: AbortSignal
  readonly clock?: Clock
  readonly log?: Log
  readonly observer?: AdmissionObserver
}

/** A response that is not a review: the API server applies the failure policy. */
interface HttpError {
  readonly code: number
  readonly text: string
}

export async function serveAdmission(options: AdmissionServerOptions, signal: AbortSignal): Promise<RunningServer> {
  const { host, port, graceMs, closing } = options
  const log = withFields(options.log ?? silentLog, { server: 'admission' })
  const running: { server?: Server } = {}
  const first = await watchCredentials({
    ...options.credentials,
    signal,
    onChange: (next) => {
      running.server?.setSecureContext(tlsOptions(next))
      log({ level: 'info', message: 'the certificate was renewed' })
    },
    onProblem: (thrown) =>
      log({ level: 'warn', message: 'the new certificate cannot be used', reason: formatError(thrown) }),
  })
  const deps = { ...options, log, bodies: createBodyBudget(options.totalBodyLimit ?? TOTAL_BODY_LIMIT) }
  const limits = { ...tlsOptions(first), ...requestLimits, handshakeTimeout: requestLimits.headersTimeout }
  const server = createServer(limits, (request, response) => {
    handleRequest(request, response, deps).catch((thrown: unknown) => {
      log({ level: 'error', message: 'a request failed', reason: formatError(thrown) })
      response.destroy()
    })
  })
  running.server = server
  // The API server closes idle connections after 90 s. If this side closed first, a review sent at that moment would be
  // lost and the object rejected.
  server.keepAliveTimeout = 180_000
  return listenUntilAborted(
    server,
    { purpose: 'webhooks', host, port, ...(graceMs !== undefined && { graceMs }), ...(closing && { closing }) },
    signal,
  )
}

function tlsOptions({ certificate, privateKey }: Credentials): {
  readonly cert: string
  readonly key: string
  readonly minVersion: 'TLSv1.2'
  readonly secureOptions: number
} {
  // A renegotiation costs the server more than the client.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2', secureOptions }
}

/** Every client in the cluster can connect, and the memory limit of the operator is 512 Mi. */
const TOTAL_BODY_LIMIT = 48 * 1024 * 1024

/** Keys and values of an object: more than any that a person writes. JSON.parse takes up to 15 ms for twice as many. */
const MAX_OBJECT_VALUES = 80_000
/** An update has the object and its old version: what could be created can be changed. */
const MAX_VALUES = 2 * MAX_OBJECT_VALUES + 1_000
const MAX_DEPTH = 200
/** JSON.parse takes up to 25 ms for so many, and 55 ms for twice as many. */
const MAX_KEYS = 10_000
/** etcd stores objects of 1.5 MiB; a review has two of them, the user and the options of the request. */
const BODY_LIMIT = 4 * 1024 * 1024

interface BodyBudget {
  /** False when the bytes do not fit. */
  readonly take: (bytes: number) => boolean
  readonly giveBack: (bytes: number) => void
}

function createBodyBudget(limit: number): BodyBudget {
  let used = 0
  return {
    take: (bytes) => {
      if (used + bytes > limit) return false
      used += bytes
      return true
    },
    giveBack: (bytes) => {
      used -= bytes
    },
  }
}

type ServerDeps = AdmissionServerOptions & { readonly log: Log; readonly bodies: BodyBudget }

async function handleRequest(request: IncomingMessage, response: ServerResponse, deps: ServerDeps): Promise<void> {
  const { clock = systemClock, observer = {}, log } = deps
  // Not `new URL`, which throws for a target such as `//`.
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  const page = deps.pages && Object.hasOwn(deps.pages, path) ? deps.pages[path] : undefined
  if (page) return page(request, response)
  const handler = Object.hasOwn(deps.handlers, path) ? deps.handlers[path] : undefined
  if (!handler) return send(response, { code: 404, text: 'no such webhook' })
  const began = clock.elapsed()
  observer.started?.(path)
  const error = await review(request, response, handler, query, deps).catch((thrown: unknown): HttpError => {
    log({ level: 'error', message: 'a webhook failed', path, reason: formatError(thrown) })
    return { code: 500, text: `the webhook failed: ${formatError(thrown)}` }
  })
  if (error) send(response, error)
  observer.finished?.(path, error?.code ?? 200, clock.elapsed() - began)
}

async function review(
  request: IncomingMessage,
  response: ServerResponse,
  handler: AdmissionHandler,
  query: string,
  deps: ServerDeps,
): Promise<HttpError | undefined> {
  const { bodyLimit = BODY_LIMIT } = deps
  if (request.method !== 'POST') return { code: 405, text: 'reviews must be posted' }
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return { code: 415, text: 'reviews must be application/json' }
  }
  const received = await receiveBody(request, bodyLimit, deps.bodies)
  try {
    if ('code' in received) return received
    const admission = parseReview(received.body)
    if ('problem' in admission) return { code: 400, text: admission.problem }
    if (isTooLarge(admission, received.values)) {
      const reason = `an object may have at most ${MAX_OBJECT_VALUES} keys and values: with more, later changes could not be reviewed`
      send(response, { code: 200, text: formatReview(admission, { allowed: false, reason }) }, 'application/json')
      return undefined
    }
    return await runHandler(admission, response, handler, query, deps)
  } finally {
    deps.bodies.giveBack(received.taken)
  }
}

/** Only the new version counts: one that was stored without this webhook can be made smaller. */
function isTooLarge({ object }: AdmissionRequest, values: number): boolean {
  return values > MAX_OBJECT_VALUES && countValues(object, MAX_OBJECT_VALUES + 1) > MAX_OBJECT_VALUES
}

async function runHandler(
  admission: AdmissionRequest,
  response: ServerResponse,
  handler: AdmissionHandler,
  query: string,
  { timeoutMs = 10_000, clock = systemClock }: ServerDeps,
): Promise<HttpError | undefined> {
  const control = new AbortController()
  const limitMs = Math.min(timeoutMs, requestedTimeoutMs(query) ?? timeoutMs)
  let cancel = (): void => {}
  const timedOut = new Promise<HttpError>((resolve) => {
    cancel = clock.after(limitMs, () => {
      const text = `the webhook took longer than ${limitMs} ms`
      control.abort(new Error(text))
      resolve({ code: 504, text })
    })
  })
  const pending = (async () => handler(admission, { signal: control.signal }))()
  try {
    const result = await Promise.race([pending, timedOut])
    if ('code' in result) {
      // It may still throw, but the response has been sent.
      pending.catch(() => {})
      return result
    }
    send(response, { code: 200, text: formatReview(admission, result) }, 'application/json')
    return undefined
  } finally {
    cancel()
  }
}

/** The API server sends `?timeout=10s`. A tenth of it is left for the response. */
function requestedTimeoutMs(query: string): number | undefined {
  const seconds = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(new URLSearchParams(query).get('timeout') ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 900
}

type ReceivedBody = (HttpError | { readonly body: string; readonly values: number }) & {
  /** Bytes to give back to the budget after the review. */
  readonly taken: number
}

async function receiveBody(request: IncomingMessage, limit: number, bodies: BodyBudget): Promise<ReceivedBody> {
  let pieces: Buffer[] = []
  let length = 0
  let taken = 0
  let isOverBudget = false
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      length += piece.length
      // The rest is read and dropped: a response before the end of the request would be lost.
      if (length > limit || isOverBudget) continue
      if (bodies.take(piece.length)) {
        taken += piece.length
        pieces.push(piece)
      } else {
        isOverBudget = true
        pieces = []
      }
    }
  } catch {
    // The client closed the connection or was too slow: not an error of this program, and not worth a log entry.
    return { code: 400, text: 'the request is incomplete', taken }
  }
  if (length > limit) return { code: 413, text: `a review may have at most ${limit} bytes`, taken }
  if (isOverBudget) return { code: 503, text: 'too many reviews at once', taken }
  const bytes = Buffer.concat(pieces)
  const { values, depth, keys } = measureJson(bytes, MAX_KEYS + 1)
  if (keys > MAX_KEYS) return { code: 413, text: `a review may have at most ${MAX_KEYS} different keys`, taken }
  if (values > MAX_VALUES || depth > MAX_DEPTH) {
    return { code: 413, text: `a review may have at most ${MAX_VALUES} values, ${MAX_DEPTH} levels deep`, taken }
  }
  return { body: bytes.toString('utf8'), values, taken }
}

function send(response: ServerResponse, { code, text }: HttpError, type = 'text/plain; charset=utf-8'): void {
  if (response.headersSent) return
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) }
  // Only a client that sends reviews may keep its connection.
  response.writeHead(code, code < 400 ? headers : { ...headers, connection: 'close' }).end(text)
}
