/**
 * Errors below HTTP (sockets, names, TLS, time), read once and told in words.
 */

import { formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type RequestInfo, type Retryable } from './api-error.ts'
import * as problems from './findings/api-server.ts'
import { certificateExpired, serverNotTrusted, serverUnreachable, unusableProxy } from './findings/connection.ts'

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer to the connection attempt',
  UND_ERR_CONNECT_TIMEOUT: 'no answer to the connection attempt',
}

/** Before a connection stands nothing has been sent. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
])

const tooSlow = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

export function errorFromThrown(thrown: unknown, errand: RequestInfo): ApiError {
  const { server } = errand
  const { code, deepest } = innermost(thrown)
  const make = (kind: ApiError['kind'], repeat: Retryable, made: Finding): ApiError =>
    new ApiError({ kind, repeat, finding: made, cause: thrown })

  if (code === 'CERT_HAS_EXPIRED') {
    const facts = { whose: "the server's certificate", server, since: undefined }
    return make('unreachable', 'never', finding(certificateExpired, facts))
  }
  if (untrusted.has(code)) {
    const facts = { server, reason: formatError(deepest) }
    return make('unreachable', 'never', finding(serverNotTrusted, facts))
  }
  if (tooSlow.has(code)) {
    const reason = `${errand.verb} ${errand.subject} took too long`
    return make('timeout', 'safe', finding(problems.serverTooSlow, { server, reason }))
  }
  const refusal = proxyRefusal(code, deepest)
  if (refusal !== undefined) {
    const facts = { proxy: errand.via ?? 'in between', reason: refusal }
    return make('unreachable', 'never', finding(unusableProxy, facts))
  }
  const reason = `${words[code] ?? formatError(deepest)}${errand.via ? ` (through the proxy ${errand.via})` : ''}`
  const repeat = code === 'ENOTFOUND' || isTls(code) ? 'never' : neverSent.has(code) ? 'always' : 'safe'
  return make('unreachable', repeat, finding(serverUnreachable, { server, reason }))
}

/** What a proxy says instead of connecting; undici tells it in words only. */
function proxyRefusal(code: string, deepest: unknown): string | undefined {
  const said = formatError(deepest)
  if (code === 'SOCKS_REFUSED') return said.replace(/^.*refuses: /, '')
  const status = /Proxy (?:response|Authentication Required) \((\d+)\)/.exec(said)?.[1]
  return status === undefined ? undefined : `it answers ${status}`
}

/** A TLS alert or a plain answer to a TLS greeting: asking again gives the same. */
function isTls(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_OSSL_') || code === 'EPROTO'
}

/** undici and Node wrap errors in each other; the one with a code deepest inside says what happened. */
function innermost(thrown: unknown): { readonly code: string; readonly deepest: unknown } {
  let code = ''
  let deepest = thrown
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    const own = (at as NodeJS.ErrnoException).code
    if (own) {
      code = own
      deepest = at
    }
  }
  return { code, deepest }
}
