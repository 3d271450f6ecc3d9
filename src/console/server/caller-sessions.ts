/**
 * Keeps one backend per caller, for a console behind the login of a cluster: the proxy in front sends the bearer token of
 * the user with every request, and everything is read with this token. Memory is bounded: the session unused for longest ends.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock/clock.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { ConsoleBackend } from '../backend.ts'
import { callerUnknown, originRefused, tooManyCallers } from './findings.ts'

export interface CallerSession {
  readonly backend: ConsoleBackend
  /** Open streams keep a session. */
  readonly isUsed: () => boolean
  /** Whether the API server still accepts the token. */
  readonly isAccepted: () => Promise<boolean>
  readonly close: () => Promise<void>
}

export interface CallerSessionsOptions {
  /** Undefined if the API server does not accept the token. */
  readonly open: (token: string) => Promise<CallerSession | undefined>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly maxSessions?: number
  readonly idleMs?: number
  readonly maxOpening?: number
}

export interface CallerSessions {
  readonly find: (header: (name: string) => string | undefined) => Promise<FoundCaller>
  readonly count: () => number
  readonly close: () => Promise<void>
}

export type FoundCaller =
  | { readonly kind: 'allow'; readonly backend: ConsoleBackend }
  | { readonly kind: 'refuse'; readonly status: 401 | 403 | 503; readonly finding: Finding }

interface Entry {
  readonly session: CallerSession
  lastUsed: number
  lastAccepted: number
}

const SWEEP_MS = 10_000
/** Of a token that was withdrawn or has ended, nothing more is shown after this time. */
const ACCEPTED_MS = 60_000

export function createCallerSessions(options: CallerSessionsOptions): CallerSessions {
  const { clock, maxSessions = 16, maxOpening = 16, idleMs = 120_000 } = options
  const entries = new Map<string, Entry>()
  const opening = new Map<string, Promise<CallerSession | undefined>>()
  let isClosed = false
  const end = async (key: string): Promise<void> => {
    const entry = entries.get(key)
    entries.delete(key)
    await entry?.session.close()
  }
  const sweep = async (): Promise<void> => {
    while (!options.signal.aborted) {
      await clock.sleep(SWEEP_MS, options.signal)
      for (const [key, entry] of entries) {
        if (clock.elapsed() - entry.lastUsed > idleMs && !entry.session.isUsed()) await end(key)
        else if (clock.elapsed() - entry.lastAccepted > ACCEPTED_MS) await checkAgain(key, entry)
      }
    }
  }
  const checkAgain = async (key: string, entry: Entry): Promise<void> => {
    // An API server that does not answer has not refused.
    const isAccepted = await entry.session.isAccepted().catch(() => true)
    entry.lastAccepted = clock.elapsed()
    if (!isAccepted) await end(key)
  }
  void sweep().catch(() => undefined)
  /** A session takes the place of another one only when its token was accepted. */
  const admit = async (key: string, token: string): Promise<CallerSession | undefined> => {
    const session = await options.open(token)
    if (!session) return undefined
    const oldest = [...entries].toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed)[0]
    const ending = oldest && entries.size >= maxSessions ? end(oldest[0]) : undefined
    entries.set(key, { session, lastUsed: clock.elapsed(), lastAccepted: clock.elapsed() })
    await ending
    if (isClosed) await end(key)
    return session
  }
  const open = async (token: string): Promise<CallerSession | 'busy' | undefined> => {
    // Tokens are not kept: a session is found by the hash.
    const key = createHash('sha256').update(token).digest('base64')
    const known = entries.get(key)
    if (known) {
      known.lastUsed = clock.elapsed()
      return known.session
    }
    const same = opening.get(key)
    if (same) return same
    if (opening.size >= maxOpening) return 'busy'
    const admitting = admit(key, token).finally(() => opening.delete(key))
    opening.set(key, admitting)
    return admitting
  }
  return {
    find: async (header) => {
      // Applications of tenants have names beside that of the console, so they are of the same site.
      const site = header('sec-fetch-site') ?? 'same-origin'
      if (site !== 'same-origin' && site !== 'none' && header('sec-fetch-mode') !== 'navigate')
        return { kind: 'refuse', status: 403, finding: finding(originRefused, { origin: header('origin') ?? site }) }
      const token = readToken(header)
      const session = token === undefined ? undefined : await open(token)
      if (session === 'busy') return { kind: 'refuse', status: 503, finding: finding(tooManyCallers, {}) }
      if (session) return { kind: 'allow', backend: session.backend }
      return { kind: 'refuse', status: 401, finding: finding(callerUnknown, {}) }
    },
    count: () => entries.size,
    close: async () => {
      isClosed = true
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
