/**
 * One request and its answer: headers in, a success out, everything else as a typed error. Never twice.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Clock } from '../clock/clock.ts'
import { Failure } from '../errors/failure.ts'
import type { ObjectLocation } from '../errors/finding.ts'
import { type ApiError, type RequestInfo, unauthorizedError } from './api-error.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { certificateExpiredAt, type Identity } from './credential.ts'
import type { Dispatchers } from './dispatchers.ts'
import { errorFromThrown } from './network-error.ts'
import { proxyWithoutCredentials } from './proxy.ts'
import { allowManyListeners } from './signals.ts'
import { errorFromResponse } from './status-error.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root of the server: `/api/v1/pods`. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** Doing it twice is like doing it once, so it may be sent again after a broken connection. */
  readonly safe: boolean
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Takes a connection of its own instead of waiting for a free one. */
  readonly ahead?: boolean | undefined
  /** For messages: what is done to what. */
  readonly verb: string
  readonly subject: string
  readonly object?: ObjectLocation | undefined
}

export type ApiResponse = Dispatcher.ResponseData

export interface RoundTripperOptions {
  readonly access: ClusterAccess
  readonly clock: Clock
  readonly timeoutMs: number
  readonly userAgent: string
  readonly onWarning: ((text: string) => void) | undefined
}

export interface RoundTripper {
  /** The answer to one request, if it is a success. `idleMs` makes it a stream on connections of its own. */
  readonly roundTrip: (call: ApiRequest, identity: Identity, over: Dispatchers, idleMs?: number) => Promise<ApiResponse>
  readonly readText: (answer: ApiResponse, call: ApiRequest) => Promise<string>
  readonly chunks: (answer: ApiResponse, call: ApiRequest) => AsyncIterable<Uint8Array>
  readonly requestInfo: (call: ApiRequest) => RequestInfo
}

export function createRoundTripper({ access, clock, ...settings }: RoundTripperOptions): RoundTripper {
  const { server } = access
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const via = access.proxy && proxyWithoutCredentials(access.proxy)

  const errandOf = ({ verb, subject, object }: ApiRequest): RequestInfo => ({ server, via, verb, subject, object })

  /** An abort stays what the caller made of it, a finding stays a finding; the rest is the network's. */
  const asError = (thrown: unknown, call: ApiRequest): unknown => {
    if (call.signal?.aborted) return call.signal.reason
    return thrown instanceof Failure ? thrown : errorFromThrown(thrown, errandOf(call))
  }

  const readText = async (answer: ApiResponse, call: ApiRequest): Promise<string> => {
    try {
      return await answer.body.text()
    } catch (thrown) {
      throw asError(thrown, call)
    }
  }

  const refusal = async (answer: ApiResponse, call: ApiRequest, identity: Identity): Promise<ApiError> => {
    const body = parsedOrText(await readText(answer, call))
    if (answer.statusCode === 401) {
      return unauthorizedError(errandOf(call), access.credential.user, certificateExpiredAt(identity, clock.now()))
    }
    const retryAfterMs = parseRetryAfter(answer.headers, clock.now())
    return errorFromResponse({ status: answer.statusCode, body, retryAfterMs }, errandOf(call))
  }

  const request = async (
    call: ApiRequest,
    identity: Identity,
    over: Dispatchers,
    idleMs?: number,
  ): Promise<ApiResponse> => {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const limit = call.timeoutMs ?? settings.timeoutMs
    const dispatcher = idleMs !== undefined || call.ahead ? over.streams : over.requests
    try {
      return await dispatcher.request({
        origin,
        path: prefix + call.path + queryString(call.query),
        method: call.method,
        headers: {
          accept: call.accept ?? 'application/json',
          'user-agent': settings.userAgent,
          ...(body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
          ...identity.headers,
        },
        ...(body !== undefined && { body }),
        ...(call.signal && { signal: call.signal }),
        headersTimeout: limit,
        bodyTimeout: idleMs ?? limit,
      })
    } catch (thrown) {
      throw asError(thrown, call)
    }
  }

  return {
    requestInfo: errandOf,
    readText,
    roundTrip: async (call, identity, over, idleMs) => {
      call.signal?.throwIfAborted()
      allowManyListeners(call.signal)
      const answer = await request(call, identity, over, idleMs)
      if (answer.statusCode >= 400) throw await refusal(answer, call, identity)
      if (settings.onWarning) for (const warning of parseWarnings(answer.headers)) settings.onWarning(warning)
      return answer
    },
    chunks: async function* (answer, call) {
      try {
        for await (const chunk of answer.body) yield chunk as Uint8Array
      } catch (thrown) {
        throw asError(thrown, call)
      }
    },
  }
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function queryString(query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text && `?${text}`
}

/** Seconds, or a date. */
export function parseRetryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** `299 - "v1 Endpoints is deprecated"`, several in one header or in several. */
export function parseWarnings(headers: IncomingHttpHeaders): readonly string[] {
  const raw = headers['warning']
  if (raw === undefined) return []
  const joined = Array.isArray(raw) ? raw.join(', ') : raw
  return [...joined.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
