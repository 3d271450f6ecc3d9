/**
 * The admission webhook server: HTTPS with certificates that change while it runs, one handler per path.
 *
 * It judges nothing. Whatever keeps a handler from judging (a defect, a time-out, a broken review) is an HTTP error,
 * so that the webhook configuration's failure policy decides, not we.
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
  /** 0 takes any free one. */
  readonly port: number
  readonly handlers: Readonly<Record<string, AdmissionHandler>>
  /** Files are looked at again every so often; a new pair is used from the next handshake on. */
  readonly credentials: CredentialFiles & { readonly pollMs?: number }
  /** So long a handler may take, should the API server not name a shorter time. */
  readonly timeoutMs?: number
  readonly bodyLimit?: number
  readonly graceMs?: number
  readonly clock?: Clock
  readonly log?: Log
  readonly observer?: AdmissionObserver
}

/** An answer that is no review: the API server applies the failure policy. */
interface Refused {
  readonly code: number
  readonly text: string
}

export async function serveAdmission(options: AdmissionServerOptions, signal: AbortSignal): Promise<RunningServer> {
  const { host, port, graceMs } = options
  const log = withFields(options.log ?? silentLog, { server: 'admission' })
  const served: { server?: Server } = {}
  const first = await watchCredentials({
    ...options.credentials,
    signal,
    onChange: (next) => {
      served.server?.setSecureContext(tlsOf(next))
      log({ level: 'info', message: 'the certificate was renewed' })
    },
    onProblem: (thrown) =>
      log({ level: 'warn', message: 'the new certificate cannot be used', reason: formatError(thrown) }),
  })
  const server = createServer(tlsOf(first), (request, response) => {
    void answer(request, response, { ...options, log })
  })
  served.server = server
  // Slow senders hold a connection; the API server sends at once.
  server.headersTimeout = server.requestTimeout = 10_000
  // The API server gives up an idle connection after 90 s. Who gives up first must not be us: a review that is sent at
  // that moment would be lost, and the object refused.
  server.keepAliveTimeout = 180_000
  return listenUntilAborted(server, { what: 'webhooks', host, port, ...(graceMs !== undefined && { graceMs }) }, signal)
}

function tlsOf({ certificate, privateKey }: Credentials): {
  readonly cert: string
  readonly key: string
  readonly minVersion: 'TLSv1.2'
} {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' }
}

type Serving = AdmissionServerOptions & { readonly log: Log }

async function answer(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { clock = systemClock, observer = {}, log } = serving
  const url = new URL(request.url ?? '/', 'https://webhook')
  const path = url.pathname
  const handler = Object.hasOwn(serving.handlers, path) ? serving.handlers[path] : undefined
  if (!handler) return send(response, { code: 404, text: 'no webhook here' })
  const began = clock.elapsed()
  observer.started?.(path)
  const refused = await judge(request, response, handler, url, serving).catch((thrown: unknown): Refused => {
    log({ level: 'error', message: 'a webhook failed', path, reason: formatError(thrown) })
    return { code: 500, text: `the webhook failed: ${formatError(thrown)}` }
  })
  if (refused) send(response, refused)
  observer.finished?.(path, refused?.code ?? 200, clock.elapsed() - began)
}

async function judge(
  request: IncomingMessage,
  response: ServerResponse,
  handler: AdmissionHandler,
  url: URL,
  serving: Serving,
): Promise<Refused | undefined> {
  const { bodyLimit = 3 * 1024 * 1024, timeoutMs = 10_000, clock = systemClock } = serving
  if (request.method !== 'POST') return { code: 405, text: 'reviews are posted' }
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return { code: 415, text: 'reviews are application/json' }
  }
  const body = await readBody(request, bodyLimit)
  if (body === undefined) return { code: 413, text: `a review may have ${bodyLimit} bytes` }
  const review = parseReview(body)
  if ('problem' in review) return { code: 400, text: review.problem }

  const control = new AbortController()
  const limitMs = Math.min(timeoutMs, askedTimeoutMs(url) ?? timeoutMs)
  let cancel = (): void => {}
  const late = new Promise<Refused>((resolve) => {
    cancel = clock.after(limitMs, () => {
      const text = `the webhook took longer than ${limitMs} ms`
      control.abort(new Error(text))
      resolve({ code: 504, text })
    })
  })
  const judged = (async () => handler(review, { signal: control.signal }))()
  try {
    const verdict = await Promise.race([judged, late])
    if ('code' in verdict) {
      // It may still throw; nobody waits for it any more.
      judged.catch(() => {})
      return verdict
    }
    send(response, { code: 200, text: formatReview(review, verdict) }, 'application/json')
    return undefined
  } finally {
    cancel()
  }
}

/** The API server says `?timeout=10s`. Some of it is left for the way back. */
function askedTimeoutMs(url: URL): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(url.searchParams.get('timeout') ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 900
}

/** The whole body, or undefined when it is longer than allowed. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    // The rest is read and dropped: an answer to a sender that is still sending would be lost.
    if (length <= limit) pieces.push(piece)
  }
  return length > limit ? undefined : Buffer.concat(pieces).toString('utf8')
}

function send(response: ServerResponse, { code, text }: Refused, type = 'text/plain; charset=utf-8'): void {
  if (response.headersSent) return
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}
