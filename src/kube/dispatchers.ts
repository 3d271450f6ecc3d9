/**
 * Opens connections to one API server: a bounded pool for requests and an unbounded one for watches, so that neither
 * waits for the other. HTTP/1.1 on purpose: with one stream per connection none can starve another.
 */
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici'
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

type TlsOptions = SecureContextOptions & { readonly timeout: number }

export function openDispatchers(settings: DispatcherSettings, identity: Identity): Dispatchers {
  const { tls, connectTimeoutMs } = settings
  const options = {
    timeout: connectTimeoutMs,
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.servername && { servername: tls.servername }),
    ...(tls.insecure && { rejectUnauthorized: false }),
    ...(identity.certificate && { cert: identity.certificate, key: identity.key }),
  }
  const connector = sharedConnector(options)
  const requests = dispatcher(settings, options, connector, settings.connections)
  const streams = dispatcher(settings, options, connector, undefined)
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

/** Parses the certificates once: each connection would parse them again, which is a third of its CPU time. */
function sharedConnector(options: TlsOptions): buildConnector.connector {
  let shared: buildConnector.connector | undefined
  return (target, callback) => {
    const isSecure = target.protocol === 'https:'
    shared ??= buildConnector(isSecure ? { ...options, secureContext: createSecureContext(options) } : options)
    shared(target, callback)
  }
}

function dispatcher(
  { proxy, connectTimeoutMs }: DispatcherSettings,
  options: TlsOptions,
  connector: buildConnector.connector,
  connections: number | undefined,
): Dispatcher {
  const pool = { ...(connections !== undefined && { connections }), bodyTimeout: 0, keepAliveTimeout: 30_000 }
  if (proxy === undefined) return new Agent({ ...pool, connect: connector })
  if (proxy.startsWith('socks5:')) {
    return new Agent({ ...pool, connect: socksConnector(proxy, connector, connectTimeoutMs) })
  }
  return new ProxyAgent({
    ...pool,
    uri: proxy,
    requestTls: options,
    proxyTls: { timeout: connectTimeoutMs },
  })
}
