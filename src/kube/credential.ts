/**
 * Who we are to the server: the headers and the client certificate of the next request, renewed when they run out.
 *
 * One credential serves many requests at once, so renewal happens once however many ask for it.
 */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock/clock.ts'
import { type ExecPlugin, runExecPlugin } from './exec-plugin.ts'
import { describeSystemError, kubeconfigError } from './kubeconfig.ts'

export interface Identity {
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly certificate?: string
  readonly key?: string
}

export interface Credential {
  /** `user admin`, for messages. */
  readonly user: string
  readonly current: () => Promise<Identity>
  /** The server refused `used`. True when there is another identity now. */
  readonly renew: (used: Identity) => Promise<boolean>
}

/** The same identity for ever: certificates, tokens and passwords that stand in the kubeconfig. */
export function fixedCredential(user: string, identity: Identity): Credential {
  return { user, current: () => Promise.resolve(identity), renew: () => Promise.resolve(false) }
}

/** A token in a file that somebody else replaces: looked at every minute, and when the server refuses it. */
export function tokenFileCredential(settings: {
  readonly user: string
  readonly file: string
  readonly base: Identity
  readonly clock: Clock
  readonly rereadMs?: number
}): Credential {
  const { user, file, base, clock, rereadMs = 60_000 } = settings
  return renewed(user, clock, async () => {
    const token = await readFile(file, 'utf8').catch((thrown: unknown) => {
      throw kubeconfigError(file, `the token cannot be read: ${describeSystemError(thrown)}`)
    })
    return { identity: withToken(base, token.trim()), until: clock.now() + rereadMs }
  })
}

/** What files hold, read again when the server refuses it: somebody may have renewed it. */
export function fileCredential(settings: {
  readonly user: string
  readonly read: () => Promise<Identity>
  readonly clock: Clock
}): Credential {
  const { user, read, clock } = settings
  return renewed(user, clock, async () => ({ identity: await read(), until: Number.POSITIVE_INFINITY }))
}

/** A credential that a plugin gives, run again shortly before it expires and when the server refuses it. */
export function pluginCredential(settings: {
  readonly user: string
  readonly plugin: ExecPlugin
  readonly base: Identity
  readonly clock: Clock
}): Credential {
  const { user, plugin, base, clock } = settings
  return renewed(user, clock, async () => {
    const { token, certificate, key, expires } = await runExecPlugin(plugin)
    const identity = {
      ...(token ? withToken(base, token) : base),
      ...(certificate && key && { certificate, key }),
    }
    return { identity, until: expires === undefined ? Number.POSITIVE_INFINITY : expires - EARLY_MS }
  })
}

/** Renewed this much before the end, so that a request does not expire on its way. */
const EARLY_MS = 10_000

interface Lease {
  readonly identity: Identity
  readonly until: number
}

function renewed(user: string, clock: Clock, fetch: () => Promise<Lease>): Credential {
  let held: Lease | undefined
  let coming: Promise<Lease> | undefined
  const renewNow = (): Promise<Lease> => {
    coming ??= fetch()
      .then((lease) => {
        held = lease
        return lease
      })
      .finally(() => {
        coming = undefined
      })
    return coming
  }
  const current = async (): Promise<Identity> => (held && clock.now() < held.until ? held : await renewNow()).identity
  const renew = async (used: Identity): Promise<boolean> => {
    // Many requests are refused at once; the first one renews for all.
    if (held && !sameIdentity(held.identity, used)) return true
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

/** When the client certificate ran out, or undefined when it is good or there is none. */
export function certificateExpiredAt(identity: Identity, now: number): string | undefined {
  if (!identity.certificate) return undefined
  try {
    const until = Date.parse(new X509Certificate(identity.certificate).validTo)
    return until < now ? new Date(until).toISOString() : undefined
  } catch {
    return undefined
  }
}
