/** Runs an HTTP server until a signal fires, then lets requests in flight finish. */
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { failure, formatError } from '../errors/failure.ts'
import { cannotListen } from './findings/runtime.ts'

export interface ListenOptions {
  /** For the error message: `webhooks`, `health`. */
  readonly purpose: string
  readonly host: string
  /** 0 chooses a free port. */
  readonly port: number
  /** Requests in flight may take this long after the stop. */
  readonly graceMs?: number
  /** From this signal on every response ends its connection, so that clients open the next one elsewhere. */
  readonly closing?: AbortSignal
}

/**
 * Options for `createServer`. A client that sends slowly or nothing only holds a connection; the check runs every 30 s
 * by default, which would let it hold the connection for that long.
 */
export const requestLimits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
} as const

/** A connection with TLS costs about 100 KB. The API server opens one per concurrent review. */
const MAX_CONNECTIONS = 600
/** One client cannot keep the others out. */
const MAX_CONNECTIONS_PER_ADDRESS = 300

export interface RunningServer {
  readonly port: number
  readonly stopped: Promise<void>
}

/** Resolves when the port is open. After the signal it accepts no connection and closes idle ones. */
export async function listenUntilAborted(
  server: Server,
  options: ListenOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { purpose, host, port, graceMs = 5_000, closing = signal } = options
  limitConnections(server)
  await new Promise<void>((resolve, reject) => {
    // The listener stays: a later error, such as too many open files, must not end the program.
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'address already in use' : formatError(cause)
      reject(failure(cannotListen, { what: purpose, host, port, reason }, { cause }))
    })
    server.listen(port, host, resolve)
  })
  // A kept-alive connection would wait for a next request that is not accepted any more.
  server.prependListener('request', (_, response) => {
    if (closing.aborted || signal.aborted) response.setHeader('connection', 'close')
  })
  const stopped = new Promise<void>((resolve) => {
    const stop = (): void => {
      const force = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => {
        clearTimeout(force)
        resolve()
      })
      server.closeIdleConnections()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  server.on('request', (_, response) => {
    response.once('close', () => {
      if (signal.aborted) server.closeIdleConnections()
    })
  })
  return { port: (server.address() as AddressInfo).port, stopped }
}

function limitConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (open.get(address) ?? 0) + 1
    if (count > MAX_CONNECTIONS_PER_ADDRESS) {
      socket.destroy()
      return
    }
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
