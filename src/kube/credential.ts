/**
 * Provides the headers and the client certificate of the next request, renewed before they expire.
 *
 * One credential serves many requests at once, so that concurrent renewals are one.
 */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock/clock.ts'
import { formatSystemError } from '../errors/failure.ts'
import { type ExecPlugin, runExecPlugin } from './exec-plugin.ts'
import { kubeconfigError } from './kubeconfig.ts'

export interface Identity {
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly certificate?: string
  readonly key?: string
}

export interface Credential {
  /** `user admin`, for messages. */
  readonly user: string
  readonly current: () => Promise<Identity>
  /** The server rejected `used`. True when there is another identity now. */
  readonly renew: (used: Identity) => Promise<boolean>
}

/** An identity that never changes: certificates, tokens and passwords in the kubeconfig. */
export function fixedCredential(user: string, identity: Identity): Credential {
  return { user, current: () => Promise.resolve(identity), renew: () => Promise.resolve(false) }
}

/** A token in a file that another program replaces: read again every minute, and when the server rejects it. */
export function tokenFileCredential(settings: {
  readonly user: string
  readonly file: string
  readonly base: Identity
  readonly clock: Clock
  readonly rereadMs?: number
}): Credential {
  const { user, file, base, clock, rereadMs = 60_000 } = settings
  return createRenewable(user, clock, async () => {
    const token = await readFile(file, 'utf8').catch((thrown: unknown) => {
      throw kubeconfigError(file, `the token cannot be read: ${formatSystemError(thrown)}`)
    })
    return { identity: withToken(base, token.trim()), until: clock.now() + rereadMs }
  })
}

/** An identity in files, read again when the server rejects it: it may have been renewed. */
export function fileCredential(settings: {
  readonly user: string
  readonly read: () => Promise<Identity>
  readonly clock: Clock
}): Credential {
  const { user, read, clock } = settings
  return createRenewable(user, clock, async () => ({ identity: await read(), until: Number.POSITIVE_INFINITY }))
}

/** A credential from a plugin, which runs again shortly before it expires and when the server rejects it. */
export function pluginCredential(settings: {
  readonly user: string
  readonly plugin: ExecPlugin
  readonly base: Identity
  readonly clock: Clock
}): Credential {
  const { user, plugin, base, clock } = settings
  return createRenewable(user, clock, async () => {
    const { token, certificate, key, expires } = await runExecPlugin(plugin)
    const identity = {
      ...(token ? withToken(base, token) : base),
      ...(certificate && key && { certificate, key }),
    }
    return { identity, until: expires === undefined ? Number.POSITIVE_INFINITY : expires - EARLY_MS }
  })
}

/** Renewed this long before it expires, so that a request does not expire on its way. */
const EARLY_MS = 10_000

interface Issued {
  readonly identity: Identity
  readonly until: number
}

function createRenewable(user: string, clock: Clock, fetch: () => Promise<Issued>): Credential {
  let latest: Issued | undefined
  let renewal: Promise<Issued> | undefined
  const renewNow = (): Promise<Issued> => {
    renewal ??= fetch()
      .then((issued) => {
        latest = issued
        return issued
      })
      .finally(() => {
        renewal = undefined
      })
    return renewal
  }
  const current = async (): Promise<Identity> =>
    (latest && clock.now() < latest.until ? latest : await renewNow()).identity
  const renew = async (used: Identity): Promise<boolean> => {
    // Many requests are rejected at once; the first one renews for all.
    if (latest && !sameIdentity(latest.identity, used)) return true
    const next = await renewNow()
    return !sameIdentity(next.identity, used)
  }
  return { user, current, renew }
}

function sameIdentity(a: Identity, b: Identity): boolean {
  return a.headers['authorization'] === b.headers['authorization'] && a.certificate === b.certificate
}

function withToken(base: Identity, token: string): Identity {
  return { ...base, headers: { ...base.headers, authorization: `Bearer ${token}` } }
}

/** When the client certificate expired, or undefined when it is valid or absent. */
export function certificateExpiredAt(identity: Identity, now: number): string | undefined {
  if (!identity.certificate) return undefined
  try {
    const until = Date.parse(new X509Certificate(identity.certificate).validTo)
    return until < now ? new Date(until).toISOString() : undefined
  } catch {
    return undefined
  }
}
