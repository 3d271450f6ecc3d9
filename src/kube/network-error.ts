/** Turns errors below HTTP (sockets, DNS, TLS, time-outs) into API errors. */
import { formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type RequestInfo, type Retryable } from './api-error.ts'
import * as problems from './findings/api-server.ts'
import { certificateExpired, serverNotTrusted, serverUnreachable, unusableProxy } from './findings/connection.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no response to the connection attempt',
  UND_ERR_CONNECT_TIMEOUT: 'no response to the connection attempt',
}

/** These fail before a connection is open, so nothing was sent. */
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

export function errorFromThrown(thrown: unknown, request: RequestInfo): ApiError {
  const { server } = request
  const { code, deepest } = innermost(thrown)
  const toApiError = (kind: ApiError['kind'], retryable: Retryable, found: Finding): ApiError =>
    new ApiError({ kind, retryable, finding: found, cause: thrown })

  if (code === 'CERT_HAS_EXPIRED') {
    const facts = { whose: "the server's certificate", server, since: undefined }
    return toApiError('unreachable', 'never', finding(certificateExpired, facts))
  }
  if (untrusted.has(code)) {
    const facts = { server, reason: formatError(deepest) }
    return toApiError('unreachable', 'never', finding(serverNotTrusted, facts))
  }
  if (tooSlow.has(code)) {
    const reason = `${request.verb} ${request.subject} took too long`
    return toApiError('timeout', 'idempotent', finding(problems.serverTooSlow, { server, reason }))
  }
  const proxyReason = findProxyRefusal(code, deepest)
  if (proxyReason !== undefined) {
    const facts = { proxy: request.via ?? 'in between', reason: proxyReason }
    return toApiError('unreachable', 'never', finding(unusableProxy, facts))
  }
  const reason = `${reasons[code] ?? formatError(deepest)}${request.via ? ` (through the proxy ${request.via})` : ''}`
  const retryable = code === 'ENOTFOUND' || isTls(code) ? 'never' : neverSent.has(code) ? 'always' : 'idempotent'
  return toApiError('unreachable', retryable, finding(serverUnreachable, { server, reason }))
}

/** Why a proxy refused to connect; undici reports it in the message only. */
function findProxyRefusal(code: string, deepest: unknown): string | undefined {
  const message = formatError(deepest)
  if (code === 'SOCKS_REFUSED') return message.replace(/^.*refuses: /, '')
  const status = /Proxy (?:response|Authentication Required) \((\d+)\)/.exec(message)?.[1]
  return status === undefined ? undefined : `it responds ${status}`
}

/** A TLS alert, or a plain-text response to a TLS handshake: a retry fails the same way. */
function isTls(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_OSSL_') || code === 'EPROTO'
}

/** undici and Node wrap errors in each other; the innermost error with a code is the cause. */
function innermost(thrown: unknown): { readonly code: string; readonly deepest: unknown } {
  let code = ''
  let deepest = thrown
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    const innerCode = (error as NodeJS.ErrnoException).code
    if (innerCode) {
      code = innerCode
      deepest = error
    }
  }
  return { code, deepest }
}
