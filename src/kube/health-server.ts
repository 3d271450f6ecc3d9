/**
 * Serves /healthz, /readyz and /metrics over plain HTTP, for the kubelet and for readers on the same machine.
 *
 * A token must not be sent over plain HTTP, so /metrics is for other machines on the port of the webhooks only.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenUntilAborted, type RunningServer, requestLimits } from './listening-server.ts'
import type { Metrics } from './metrics.ts'
import type { HealthCheck } from './runtime.ts'
import type { Authorize } from './token-review.ts'

export interface HealthOptions {
  readonly host: string
  /** 0 chooses a free port. */
  readonly port: number
  readonly ready: () => readonly HealthCheck[]
  readonly metrics?: Pick<Metrics, 'text'>
}

export async function serveHealth(options: HealthOptions, signal: AbortSignal): Promise<RunningServer> {
  const { metrics } = options
  const collect = metrics && shareCollection(metrics)
  const server = createServer(requestLimits, (request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return respond(response, 405, 'only GET\n')
    // A process that can respond is alive; a blocked event loop does not respond.
    if (path === '/healthz') return respond(response, 200, 'ok\n')
    if (path === '/readyz') return sendReadiness(response, options.ready())
    if (path === '/metrics' && collect) {
      if (!isLoopback(options.host))
        return respond(response, 403, 'metrics are served over HTTPS, on the webhook port\n')
      return void sendMetrics(response, collect)
    }
    return respond(response, 404, 'no such page\n')
  })
  return listenUntilAborted(server, { purpose: 'health', host: options.host, port: options.port }, signal)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

export type Page = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** The page /metrics for a server that other machines reach. */
export function metricsPage(metrics: Pick<Metrics, 'text'>, authorize: Authorize): Page {
  const collect = shareCollection(metrics)
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return respond(response, 405, 'only GET\n')
    const access = await authorize(request.headers.authorization, '/metrics').catch(() => undefined)
    if (access === 'allowed') return sendMetrics(response, collect)
    if (access === undefined) return respond(response, 503, 'the API server did not answer the review of the token\n')
    if (access === 'forbidden') return respond(response, 403, 'this user may not get /metrics\n')
    return respond(response, 401, 'a bearer token of this cluster is required\n')
  }
}

function sendReadiness(response: ServerResponse, checks: readonly HealthCheck[]): void {
  const lines = checks.map(({ name, problem }) => (problem ? `[-] ${name}: ${problem}` : `[+] ${name}`))
  const ready = checks.every(({ problem }) => problem === undefined)
  respond(response, ready ? 200 : 503, `${[...lines, ready ? 'ready' : 'not ready'].join('\n')}\n`)
}

/** Requests that arrive while the metrics are collected get the same text. */
function shareCollection(metrics: Pick<Metrics, 'text'>): Metrics['text'] {
  let running: ReturnType<Metrics['text']> | undefined
  return () => {
    running ??= metrics.text().finally(() => {
      running = undefined
    })
    return running
  }
}

async function sendMetrics(response: ServerResponse, collect: Metrics['text']): Promise<void> {
  try {
    const { type, body } = await collect()
    respond(response, 200, body, type)
  } catch {
    respond(response, 500, 'the metrics could not be collected\n')
  }
}

function respond(response: ServerResponse, code: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
