/**
 * A server's life: it listens, and ends when a signal fires, after what it is at.
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { failure, formatError } from '../errors/failure.ts'
import { cannotListen } from './findings/runtime.ts'

export interface ListenOptions {
  /** For the message, should it fail: `webhooks`, `health`. */
  readonly what: string
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** So long requests that are under way may take after the stop. */
  readonly graceMs?: number
}

export interface RunningServer {
  readonly port: number
  readonly stopped: Promise<void>
}

/** Answers once the port is open. After the signal no connection is taken, and those that wait are ended. */
export async function listenUntilAborted(
  server: Server,
  place: ListenOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { what, host, port, graceMs = 5_000 } = place
  await new Promise<void>((resolve, reject) => {
    // It stays: an error after the start, such as too many open files, must not end the program.
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'address already in use' : formatError(cause)
      reject(failure(cannotListen, { what, host, port, reason }, { cause }))
    })
    server.listen(port, host, resolve)
  })
  const stopped = new Promise<void>((resolve) => {
    const stop = (): void => {
      const force = setTimeout(() => server.closeAllConnections(), graceMs)
      // A connection that is kept alive would wait for a next request that is not welcome any more.
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
