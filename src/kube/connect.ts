/**
 * From "which cluster?" to a client that answers. The one door for commands; tests build transports themselves.
 */

import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from './client.ts'
import { type AccessOptions, loadAccess } from './cluster-access.ts'
import { createKubeClient } from './http-client.ts'
import { openTransport, type Transport, type TransportOptions } from './transport.ts'

export interface ConnectOptions extends Omit<AccessOptions, 'clock'>, TransportOptions {}

export interface Connection {
  readonly client: KubeClient
  /** For what is no object: `/version`, `/readyz`, exec into a pod. */
  readonly transport: Transport
  readonly server: string
  readonly context: string | undefined
  /** Where commands look unless they are told otherwise. */
  readonly namespace: string
  readonly close: () => Promise<void>
}

/** Reads the configuration; the server is asked for the first time by the first request. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { clock = systemClock } = options
  const access = await loadAccess({ ...options, clock })
  const transport = openTransport(access, { ...options, clock })
  const { server, context, namespace } = access
  return { client: createKubeClient(transport), transport, server, context, namespace, close: transport.close }
}
