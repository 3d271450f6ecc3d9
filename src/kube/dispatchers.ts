/**
 * Opens connections to one API server: a bounded pool for requests and an unbounded one for watches, so that neither
 * waits for the other. HTTP/1.1 on purpose: with one stream per connection none can starve another.
 */
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { ClusterTls } from './cluster-access.ts'
import type { Identity } from './credential.ts'
import { socksConnector } from './socks.ts'

export interface Dispatchers {
  readonly requests: Dispatcher
  readonly streams: Dispatcher
  /** Finishes the requests in flight and accepts no new ones. */
  readonly retire: () => void
  readonly close: () => Promise<void>
}

export interface DispatcherSettings {
  readonly tls: ClusterTls
  readonly proxy: string | undefined
  readonly connectTimeoutMs: number
  /** Requests in flight at the same time; others wait for a free connection. */
  readonly connections: number
}

export function openDispatchers(settings: DispatcherSettings, identity: Identity): Dispatchers {
  const requests = dispatcher(settings, identity, settings.connections)
  const streams = dispatcher(settings, identity, undefined)
  return {
    requests,
    streams,
    retire: () => {
      for (const dispatcher of [requests, streams]) dispatcher.close().catch(() => undefined)
    },
    close: async () => {
      await Promise.all([requests.destroy(), streams.destroy()])
    },
  }
}

function dispatcher(
  { tls, proxy, connectTimeoutMs }: DispatcherSettings,
  identity: Identity,
  connections: number | undefined,
): Dispatcher {
  const connect = {
    timeout: connectTimeoutMs,
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.servername && { servername: tls.servername }),
    ...(tls.insecure && { rejectUnauthorized: false }),
    ...(identity.certificate && { cert: identity.certificate, key: identity.key }),
  }
  const pool = { ...(connections !== undefined && { connections }), bodyTimeout: 0, keepAliveTimeout: 30_000 }
  if (proxy === undefined) return new Agent({ ...pool, connect })
  if (proxy.startsWith('socks5:')) {
    return new Agent({ ...pool, connect: socksConnector(proxy, connect, connectTimeoutMs) })
  }
  return new ProxyAgent({
    ...pool,
    uri: proxy,
    requestTls: connect,
    proxyTls: { timeout: connectTimeoutMs },
  })
}
