/**
 * What kubelet and Prometheus ask a running program: /healthz, /readyz and /metrics over plain HTTP.
 */
import { createServer, type ServerResponse } from 'node:http'
import { listenUntilAborted } from './listening-server.ts'
import type { Metrics } from './metrics.ts'
import type { HealthCheck } from './runtime.ts'

export interface HealthOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly ready: () => readonly HealthCheck[]
  readonly metrics?: Pick<Metrics, 'text'>
}

export interface HealthServer {
  readonly port: number
  /** Resolves when the server has stopped, after the signal has fired. */
  readonly stopped: Promise<void>
}

export async function serveHealth(options: HealthOptions, signal: AbortSignal): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'only GET\n')
    // Whoever can answer at all is alive; a loop that stands still does not answer.
    if (path === '/healthz') return answer(response, 200, 'ok\n')
    if (path === '/readyz') return readiness(response, options.ready())
    if (path === '/metrics' && options.metrics) return void figures(response, options.metrics)
    return answer(response, 404, 'no such page\n')
  })
  server.headersTimeout = server.requestTimeout = 10_000
  return listenUntilAborted(server, { what: 'health', host: options.host, port: options.port }, signal)
}

function readiness(response: ServerResponse, checks: readonly HealthCheck[]): void {
  const lines = checks.map(({ name, problem }) => (problem ? `[-] ${name}: ${problem}` : `[+] ${name}`))
  const ready = checks.every(({ problem }) => problem === undefined)
  answer(response, ready ? 200 : 503, `${[...lines, ready ? 'ready' : 'not ready'].join('\n')}\n`)
}

async function figures(response: ServerResponse, metrics: Pick<Metrics, 'text'>): Promise<void> {
  try {
    const { type, body } = await metrics.text()
    answer(response, 200, body, type)
  } catch {
    answer(response, 500, 'the figures could not be collected\n')
  }
}

function answer(response: ServerResponse, code: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
