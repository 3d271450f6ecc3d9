/**
 * A server on loopback that simulates a failing API server: the test's script responds to each request.
 *
 * For failures only. The behaviour of a real API server is tested in `test/real/`.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Number of requests before this one. */
  readonly index: number
  /** The common name of the client certificate. */
  readonly clientName: string | undefined
}

export type RequestScript = (request: SeenRequest, response: ServerResponse) => void | Promise<void>

export interface ScriptedServer {
  readonly url: string
  readonly port: number
  readonly seen: readonly SeenRequest[]
  readonly close: () => Promise<void>
}

export async function startScriptedServer(script: RequestScript, tls?: ServerOptions): Promise<ScriptedServer> {
  const seen: SeenRequest[] = []
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://played')
      const received = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        index: seen.length,
        clientName: clientName(request),
      }
      seen.push(received)
      void script(received, response)
    })
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function clientName(request: IncomingMessage): string | undefined {
  const socket = request.socket as { getPeerCertificate?: () => { subject?: { CN?: string } } | null }
  return socket.getPeerCertificate?.()?.subject?.CN
}

export function respondJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** A Status object, as in error responses of an API server. */
export function statusObject(code: number, reason: string, message: string, details?: unknown): unknown {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message,
    ...(details ? { details } : {}),
  }
}

/** Responds to discovery of the core group, for tests that use ConfigMaps, Namespaces and Pods. */
export function respondCoreDiscovery(request: SeenRequest, response: ServerResponse): boolean {
  if (request.path !== '/api/v1') return false
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
  respondJson(response, {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs },
      { name: 'namespaces', kind: 'Namespace', namespaced: false, verbs },
      { name: 'namespaces/status', kind: 'Namespace', namespaced: false, verbs },
      { name: 'pods', kind: 'Pod', namespaced: true, verbs },
    ],
  })
  return true
}
