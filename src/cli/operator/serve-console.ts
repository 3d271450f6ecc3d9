/**
 * Serves the console beside the operator. It listens on loopback: a proxy in the same pod signs users in. Every request to
 * the API server is made with the bearer token of the caller; the rights of the operator are never used for it.
 */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { RunningBackend } from '../../console/backend-options.ts'
import { createBackend } from '../../console/create-backend.ts'
import { openRunStore } from '../../console/run-store.ts'
import { createApp } from '../../console/server/app.ts'
import { loadAssets } from '../../console/server/assets.ts'
import { type CallerSession, createCallerSessions } from '../../console/server/caller-sessions.ts'
import { serveConsole } from '../../console/server/serve.ts'
import { createStreamHub } from '../../console/server/stream-hub.ts'
import { isApiError } from '../../kube/api-error.ts'
import { connectAs } from '../../kube/connect.ts'
import type { Log } from '../../kube/log.ts'
import { watchCluster } from '../console/live-sources.ts'
import type { Io } from '../io.ts'
import { programVersion } from '../program-version.ts'
import type { RunOptions } from './run.ts'

export interface OperatorConsole {
  readonly port: number
  readonly close: () => Promise<void>
}

export async function serveOperatorConsole(options: RunOptions, log: Log, io: Io): Promise<OperatorConsole> {
  const { catalogue } = await import('../explain/catalogue.ts')
  // An operator that fails ends its console, too.
  const ended = new AbortController()
  const signal = AbortSignal.any([io.stop, ended.signal])
  const title = (code: string): string => catalogue.get(code)?.title ?? code
  const sessions = createCallerSessions({
    clock: systemClock,
    signal,
    open: (token) => openSession(token, options, title, io),
  })
  const app = createApp({
    admit: (context) => sessions.find((name) => context.req.header(name)),
    assets: loadAssets(),
  })
  const fetch = (request: Request): Response | Promise<Response> => app.fetch(request)
  const running = await serveConsole({ fetch, host: '127.0.0.1', port: options.consolePort ?? 8082 }, signal)
  log({ level: 'info', message: 'the console is served on loopback', port: running.port })
  return {
    port: running.port,
    close: async () => {
      ended.abort()
      await sessions.close()
      await running.stopped
    },
  }
}

async function openSession(
  token: string,
  { kubeconfig, context, namespaces }: RunOptions,
  title: (code: string) => string,
  io: Io,
): Promise<CallerSession | undefined> {
  const connection = await connectAs(token, { kubeconfig, context, env: io.env })
  /** A caller without rights is known nevertheless. */
  const isAccepted = async (): Promise<boolean> => {
    try {
      await connection.client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' }, { signal: io.stop })
      return true
    } catch (thrown) {
      if (isApiError(thrown, 'forbidden')) return true
      if (isApiError(thrown, 'unauthorized')) return false
      throw thrown
    }
  }
  let isKnown = false
  try {
    isKnown = await isAccepted()
  } finally {
    if (!isKnown) await connection.close()
  }
  if (!isKnown) return undefined
  const server = randomUUID().slice(0, 8)
  const hub = createStreamHub(server)
  const started: { backend?: RunningBackend } = {}
  const live = watchCluster(connection, {
    namespaces: () => namespaces ?? [],
    onChange: (change) => started.backend?.clusterChanged(change),
    onListed: () => started.backend?.clusterListed(),
    onConnection: (state) => started.backend?.connectionChanged(state),
  })
  const backend = createBackend({
    program: { name: 'stackloom', version: programVersion() },
    server,
    hub,
    clock: systemClock,
    live,
    ...(namespaces && { namespaces }),
    runs: openRunStore({ folder: undefined, files: [], clock: systemClock, onEvents: () => undefined }),
    title,
    fileOptions: [],
    clusterOptions: [],
  })
  started.backend = backend
  return { backend, isUsed: () => hub.clients() > 0, isAccepted, close: backend.close }
}
