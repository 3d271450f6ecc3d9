/**
 * Keeps one backend per caller, for a console behind the login of a cluster: the proxy in front sends the bearer token of
 * the user with every request, and everything is read with this token. Memory is bounded: the session unused for longest ends.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock/clock.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { ConsoleBackend } from '../backend.ts'
import { callerUnknown, originRefused } from './findings.ts'

export interface CallerSession {
  readonly backend: ConsoleBackend
  /** Open streams keep a session. */
  readonly isUsed: () => boolean
  readonly close: () => Promise<void>
}

export interface CallerSessionsOptions {
  /** Undefined if the API server does not accept the token. */
  readonly open: (token: string) => Promise<CallerSession | undefined>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly maxSessions?: number
  readonly idleMs?: number
}

export interface CallerSessions {
  readonly find: (header: (name: string) => string | undefined) => Promise<FoundCaller>
  readonly count: () => number
  readonly close: () => Promise<void>
}

export type FoundCaller =
  | { readonly kind: 'allow'; readonly backend: ConsoleBackend }
  | { readonly kind: 'refuse'; readonly status: 401 | 403; readonly finding: Finding }

interface Entry {
  readonly opening: Promise<CallerSession | undefined>
  lastUsed: number
}

const SWEEP_MS = 10_000

export function createCallerSessions(options: CallerSessionsOptions): CallerSessions {
  const { clock, maxSessions = 16, idleMs = 120_000 } = options
  const entries = new Map<string, Entry>()
  const end = async (key: string): Promise<void> => {
    const entry = entries.get(key)
    entries.delete(key)
    const session = await entry?.opening.catch(() => undefined)
    await session?.close()
  }
  const sweep = async (): Promise<void> => {
    while (!options.signal.aborted) {
      await clock.sleep(SWEEP_MS, options.signal)
      for (const [key, { opening, lastUsed }] of entries) {
        const session = await opening.catch(() => undefined)
        if (clock.elapsed() - lastUsed > idleMs && !session?.isUsed()) await end(key)
      }
    }
  }
  void sweep().catch(() => undefined)
  const open = async (token: string): Promise<CallerSession | undefined> => {
    // Tokens are not kept: a session is found by the hash.
    const key = createHash('sha256').update(token).digest('base64')
    const known = entries.get(key)
    const entry = known ?? { opening: options.open(token), lastUsed: 0 }
    entry.lastUsed = clock.elapsed()
    if (known) return known.opening
    const oldest = [...entries].toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed)[0]
    if (oldest && entries.size >= maxSessions) await end(oldest[0])
    entries.set(key, entry)
    const session = await entry.opening.catch((thrown: unknown) => {
      entries.delete(key)
      throw thrown
    })
    if (!session) entries.delete(key)
    return session
  }
  return {
    find: async (header) => {
      const site = header('sec-fetch-site') ?? 'same-origin'
      if (site === 'cross-site' && header('sec-fetch-mode') !== 'navigate')
        return { kind: 'refuse', status: 403, finding: finding(originRefused, { origin: header('origin') ?? site }) }
      const token = readToken(header)
      const session = token === undefined ? undefined : await open(token)
      if (session) return { kind: 'allow', backend: session.backend }
      return { kind: 'refuse', status: 401, finding: finding(callerUnknown, {}) }
    },
    count: () => entries.size,
    close: async () => {
      await Promise.all([...entries.keys()].map(end))
    },
  }
}

/** OpenShift's oauth-proxy sends the second header, proxies of OIDC the first one. */
function readToken(header: (name: string) => string | undefined): string | undefined {
  const bearer = /^Bearer ([\w.~+/=-]+)$/i.exec(header('authorization') ?? '')?.[1]
  const forwarded = /^[\w.~+/=-]+$/.exec(header('x-forwarded-access-token') ?? '')?.[0]
  return bearer ?? forwarded
}
