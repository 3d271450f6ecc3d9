/**
 * Serves admission webhooks over HTTPS, one handler per path, with certificates that may change while it runs.
 *
 * Decides nothing itself: a failing handler, a time-out or a malformed review is an HTTP error, so that the failure
 * policy of the webhook configuration applies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type Clock, systemClock } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import type { Credentials } from '../pki/authority.ts'
import { type CredentialFiles, watchCredentials } from '../pki/watch-credentials.ts'
import { type AdmissionHandler, type AdmissionObserver, formatReview, parseReview } from './admission.ts'
import { listenUntilAborted, type RunningServer } from './listening-server.ts'
import { type Log, silentLog, withFields } from './log.ts'

export interface AdmissionServerOptions {
  readonly host: string
  /** 0 chooses a free port. */
  readonly port: number
  readonly handlers: Readonly<Record<string, AdmissionHandler>>
  /** The files are polled; a new pair is used from the next handshake on. */
  readonly credentials: CredentialFiles & { readonly pollMs?: number }
  /** Limit for a handler; the API server may request a shorter one. */
  readonly timeoutMs?: number
  readonly bodyLimit?: number
  readonly graceMs?: number
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
  const { host, port, graceMs } = options
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
  const server = createServer(tlsOptions(first), (request, response) => {
    void handleRequest(request, response, { ...options, log })
  })
  running.server = server
  // The API server sends immediately; a slow sender only holds a connection.
  server.headersTimeout = server.requestTimeout = 10_000
  // The API server closes idle connections after 90 s. If this side closed first, a review sent at that moment would be
  // lost and the object rejected.
  server.keepAliveTimeout = 180_000
  return listenUntilAborted(
    server,
    { purpose: 'webhooks', host, port, ...(graceMs !== undefined && { graceMs }) },
    signal,
  )
}

function tlsOptions({ certificate, privateKey }: Credentials): {
  readonly cert: string
  readonly key: string
  readonly minVersion: 'TLSv1.2'
} {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' }
}

type ServerDeps = AdmissionServerOptions & { readonly log: Log }

async function handleRequest(request: IncomingMessage, response: ServerResponse, deps: ServerDeps): Promise<void> {
  const { clock = systemClock, observer = {}, log } = deps
  const url = new URL(request.url ?? '/', 'https://webhook')
  const path = url.pathname
  const handler = Object.hasOwn(deps.handlers, path) ? deps.handlers[path] : undefined
  if (!handler) return send(response, { code: 404, text: 'no such webhook' })
  const began = clock.elapsed()
  observer.started?.(path)
  const error = await review(request, response, handler, url, deps).catch((thrown: unknown): HttpError => {
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
  url: URL,
  deps: ServerDeps,
): Promise<HttpError | undefined> {
  const { bodyLimit = 3 * 1024 * 1024, timeoutMs = 10_000, clock = systemClock } = deps
  if (request.method !== 'POST') return { code: 405, text: 'reviews must be posted' }
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return { code: 415, text: 'reviews must be application/json' }
  }
  const body = await readBody(request, bodyLimit)
  if (body === undefined) return { code: 413, text: `a review may have at most ${bodyLimit} bytes` }
  const admission = parseReview(body)
  if ('problem' in admission) return { code: 400, text: admission.problem }

  const control = new AbortController()
  const limitMs = Math.min(timeoutMs, requestedTimeoutMs(url) ?? timeoutMs)
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
function requestedTimeoutMs(url: URL): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(url.searchParams.get('timeout') ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 900
}

/** The body, or undefined when it is longer than allowed. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    // The rest is read and dropped: a response before the end of the request would be lost.
    if (length <= limit) pieces.push(piece)
  }
  return length > limit ? undefined : Buffer.concat(pieces).toString('utf8')
}

function send(response: ServerResponse, { code, text }: HttpError, type = 'text/plain; charset=utf-8'): void {
  if (response.headersSent) return
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}
