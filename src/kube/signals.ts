/** Shares one abort signal among many requests. */
import { setMaxListeners } from 'node:events'

/** Node warns of a leak at eleven listeners; here each is a request in flight, removed when the request ends. */
export function allowManyListeners(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal)
}

/** The promise, unless the signal is aborted first; the work goes on for other callers. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  signal.throwIfAborted()
  allowManyListeners(signal)
  const done = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true, signal: done.signal })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    done.abort()
  }
}
