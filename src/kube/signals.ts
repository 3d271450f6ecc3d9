/** One stop signal for many requests: what that needs. */
import { setMaxListeners } from 'node:events'

/** Node warns of a leak at eleven listeners; here each is a request in flight, and it leaves when the request ends. */
export function allowManyListeners(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal)
}

/** The answer, unless the signal is aborted first; the work itself goes on for those who still want it. */
export async function abortable<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer
  signal.throwIfAborted()
  allowManyListeners(signal)
  const heard = new AbortController()
  const given = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true, signal: heard.signal })
  })
  try {
    return await Promise.race([answer, given])
  } finally {
    heard.abort()
  }
}
