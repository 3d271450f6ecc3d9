/** Runs an HTTP server until a signal fires, then lets requests in flight finish. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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
}

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
  const { purpose, host, port, graceMs = 5_000 } = options
  await new Promise<void>((resolve, reject) => {
    // The listener stays: a later error, such as too many open files, must not end the program.
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'address already in use' : formatError(cause)
      reject(failure(cannotListen, { what: purpose, host, port, reason }, { cause }))
    })
    server.listen(port, host, resolve)
  })
  const stopped = new Promise<void>((resolve) => {
    const stop = (): void => {
      const force = setTimeout(() => server.closeAllConnections(), graceMs)
      // A kept-alive connection would wait for a next request that is not accepted any more.
      server.prependListener('request', (_, response) => response.setHeader('connection', 'close'))
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
