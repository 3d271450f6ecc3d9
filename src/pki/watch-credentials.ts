/**
 * Watches the certificate of a running server and reports each new pair that matches. Polls, because the kubelet swaps a
 * symlink above certificate files, which file watchers miss.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Credentials } from './authority.ts'
import { isMatchingPair } from './certificate.ts'

export interface WatchCredentialsOptions {
  readonly read: () => Promise<Credentials>
  readonly onChange: (credentials: Credentials) => void
  /** A pair that cannot be read or does not match; the last good one stays in use. */
  readonly onProblem?: (reason: unknown) => void
  readonly pollMs?: number
  readonly signal: AbortSignal
}

/** Reads a folder as kubelets write it for a Secret of certificates. */
export async function readCredentialFolder(folder: string): Promise<Credentials> {
  const [certificate, privateKey] = await Promise.all(
    ['tls.crt', 'tls.key'].map((name) => readFile(path.join(folder, name), 'utf8')),
  )
  return { certificate: certificate ?? '', privateKey: privateKey ?? '' }
}

/** Returns the current pair and calls `onChange` for each later one. */
export async function watchCredentials(options: WatchCredentialsOptions): Promise<Credentials> {
  const { read, onChange, onProblem, pollMs = 10_000, signal } = options
  const first = await read()
  let current = first
  const poll = async (): Promise<void> => {
    const next = await read()
    if (next.certificate === current.certificate && next.privateKey === current.privateKey) return
    // Between the writes of the two files they do not match: the next poll sees both.
    if (!isMatchingPair(next)) throw new Error('the certificate and the private key do not belong together')
    if (signal.aborted) return
    current = next
    onChange(next)
  }
  let timer: NodeJS.Timeout
  const schedule = (): void => {
    timer = setTimeout(() => {
      poll()
        .catch((reason: unknown) => onProblem?.(reason))
        .finally(() => !signal.aborted && schedule())
    }, pollMs).unref()
  }
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  if (!signal.aborted) schedule()
  return first
}
