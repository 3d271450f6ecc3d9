/** Connects to a cluster: from the options of a command to a client. Tests build transports themselves. */
import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from './client.ts'
import { type AccessOptions, loadAccess } from './cluster-access.ts'
import { fixedCredential } from './credential.ts'
import { createKubeClient } from './http-client.ts'
import { openTransport, type Transport, type TransportOptions } from './transport.ts'

export interface ConnectOptions extends Omit<AccessOptions, 'clock'>, TransportOptions {}

export interface Connection {
  readonly client: KubeClient
  /** For requests that are not about objects: `/version`, `/readyz`, exec into a pod. */
  readonly transport: Transport
  readonly server: string
  readonly context: string | undefined
  /** The default namespace of commands. */
  readonly namespace: string
  readonly close: () => Promise<void>
}

/** Reads the configuration; the first request contacts the server. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { clock = systemClock } = options
  const access = await loadAccess({ ...options, clock })
  const transport = openTransport(access, { ...options, clock })
  const { server, context, namespace } = access
  return { client: createKubeClient(transport), transport, server, context, namespace, close: transport.close }
}

/** Connects to the same server with the bearer token of another user; nothing of the own credential is sent. */
export async function connectAs(token: string, options: ConnectOptions): Promise<Connection> {
  const { clock = systemClock } = options
  const access = await loadAccess({ ...options, clock })
  const credential = fixedCredential('the caller', { headers: { authorization: `Bearer ${token}` } })
  const transport = openTransport({ ...access, credential }, { ...options, clock })
  const { server, context, namespace } = access
  return { client: createKubeClient(transport), transport, server, context, namespace, close: transport.close }
}
