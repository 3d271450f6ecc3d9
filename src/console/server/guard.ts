/**
 * Decides whether a request may be answered: Host, Origin, one-time token, session cookie.
 *
 * A page of another site can make a browser send requests here, and can point its own name at this address. So every
 * request must name this server as Host, must not come from another origin, and must carry the cookie of a session.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Finding, finding } from '../../errors/finding.ts'
import { hostRefused, originRefused, tokenRefused, tokenRequired } from './findings.ts'

export interface GuardRequest {
  readonly method: string
  readonly path: string
  readonly header: (name: string) => string | undefined
  readonly query: (name: string) => string | undefined
}

export type Decision =
  | { readonly kind: 'allow' }
  /** The token was right: set the cookie and load the page again without it. */
  | { readonly kind: 'enter'; readonly cookie: string }
  /** A link of another site: the browser sends the cookie only when the console itself opens the page. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'refuse'; readonly status: 401 | 403 | 421 | 503; readonly finding: Finding }

export interface Guard {
  readonly decide: (request: GuardRequest) => Decision
  /** A new one-time token; the one before it, if unused, is void. */
  readonly issueToken: () => string
}

export interface GuardOptions {
  /** Called when a token was used, to print the link for another browser. */
  readonly onTokenUsed: () => void
  /** Known when the server listens. */
  readonly port: () => number
}

/** A session per browser; the oldest one ends when there are too many. */
const MAX_SESSIONS = 32

export function createGuard({ onTokenUsed, port }: GuardOptions): Guard {
  let token: Buffer | undefined
  const sessions: Buffer[] = []
  const cookieName = (): string => `stackloom-console-${port()}`
  const isSession = (cookie: string | undefined): boolean => {
    const value = readCookie(cookie, cookieName())
    if (value === undefined) return false
    const digest = hash(value)
    return sessions.some((known) => timingSafeEqual(known, digest))
  }
  const enter = (given: string): Decision => {
    const isRight = token !== undefined && timingSafeEqual(token, hash(given))
    if (!isRight) return { kind: 'refuse', status: 401, finding: finding(tokenRefused, {}) }
    token = undefined
    const session = randomBytes(32).toString('base64url')
    sessions.push(hash(session))
    if (sessions.length > MAX_SESSIONS) sessions.shift()
    onTokenUsed()
    return { kind: 'enter', cookie: `${cookieName()}=${session}; HttpOnly; SameSite=Strict; Path=/` }
  }
  return {
    issueToken: () => {
      const fresh = randomBytes(32).toString('base64url')
      token = hash(fresh)
      return fresh
    },
    decide: (request) => {
      const refused = checkOrigin(request, port())
      if (refused) return refused
      const given = request.method === 'GET' && request.path === '/' ? request.query('token') : undefined
      if (given !== undefined) return enter(given)
      if (isSession(request.header('cookie'))) return { kind: 'allow' }
      if (sessions.length > 0 && isLinkOfAnotherSite(request)) return { kind: 'reload' }
      return { kind: 'refuse', status: 401, finding: finding(tokenRequired, {}) }
    },
  }
}

/** Names under which a browser of this machine reaches loopback. */
function checkOrigin({ header, method }: GuardRequest, port: number): Decision | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
  const host = header('host') ?? ''
  if (!hosts.includes(host)) return { kind: 'refuse', status: 421, finding: finding(hostRefused, { host }) }
  const origin = header('origin')
  const isForeign = origin !== undefined && origin !== `http://${host}`
  // Browsers send it with every request; a link from elsewhere may open the page, but nothing else.
  const site = header('sec-fetch-site') ?? 'same-origin'
  const isNavigation = method === 'GET' && header('sec-fetch-mode') === 'navigate'
  const isCrossSite = site !== 'same-origin' && site !== 'none' && !isNavigation
  if (!isForeign && !isCrossSite) return undefined
  return { kind: 'refuse', status: 403, finding: finding(originRefused, { origin: origin ?? site }) }
}

function isLinkOfAnotherSite({ header, method, path }: GuardRequest): boolean {
  const isOpened = method === 'GET' && header('sec-fetch-mode') === 'navigate' && !path.startsWith('/api/')
  return isOpened && header('sec-fetch-site') === 'cross-site'
}

function readCookie(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '').split(';').find((part) => part.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
