/**
 * Watches the certificate files of a running server and reports each new pair that matches. Polls, because the
 * kubelet swaps a symlink above the files, which file watchers miss.
 */
import { readFile } from 'node:fs/promises'
import type { Credentials } from './authority.ts'
import { isMatchingPair } from './certificate.ts'

export interface CredentialFiles {
  readonly certificateFile: string
  readonly privateKeyFile: string
}

export interface WatchCredentialsOptions extends CredentialFiles {
  readonly onChange: (credentials: Credentials) => void
  /** A pair that cannot be read or does not match; the last good one stays in use. */
  readonly onProblem?: (reason: unknown) => void
  readonly pollMs?: number
  readonly signal: AbortSignal
}

async function readCredentials(files: CredentialFiles): Promise<Credentials> {
  const [certificate, privateKey] = await Promise.all([
    readFile(files.certificateFile, 'utf8'),
    readFile(files.privateKeyFile, 'utf8'),
  ])
  return { certificate, privateKey }
}

/** Returns the current pair and calls `onChange` for each later one. */
export async function watchCredentials(options: WatchCredentialsOptions): Promise<Credentials> {
  const { onChange, onProblem, pollMs = 10_000, signal } = options
  const first = await readCredentials(options)
  let current = first
  const poll = async (): Promise<void> => {
    const next = await readCredentials(options)
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
