/** Sends one request once: returns the response of a success, throws a typed error for everything else. */
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
import { guardedDispatcher, type WriteGuard } from './write-guard.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path from the root of the server: `/api/v1/pods`. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** Sending it twice has the same effect as once, so it may be sent again after a broken connection. */
  readonly idempotent: boolean
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Uses a separate connection instead of waiting for a free one. */
  readonly priority?: boolean | undefined
  /** Called each time the request is about to be sent; nothing is sent when it throws. */
  readonly guard?: WriteGuard | undefined
  /** For messages: the verb and its object. */
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
  readonly onResponse: ((request: ApiRequest, status: number) => void) | undefined
}

export interface RoundTripper {
  /** The response to one request, if it is a success. `idleMs` makes it a stream on a separate connection. */
  readonly roundTrip: (
    request: ApiRequest,
    identity: Identity,
    dispatchers: Dispatchers,
    idleMs?: number,
  ) => Promise<ApiResponse>
  readonly readText: (response: ApiResponse, request: ApiRequest) => Promise<string>
  readonly chunks: (response: ApiResponse, request: ApiRequest) => AsyncIterable<Uint8Array>
  readonly requestInfo: (request: ApiRequest) => RequestInfo
}

export function createRoundTripper({ access, clock, ...settings }: RoundTripperOptions): RoundTripper {
  const { server } = access
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const via = access.proxy && proxyWithoutCredentials(access.proxy)

  const requestInfo = ({ verb, subject, object }: ApiRequest): RequestInfo => ({ server, via, verb, subject, object })

  /** An abort keeps the caller's reason, a finding stays a finding; other errors are network errors. */
  const toThrown = (thrown: unknown, request: ApiRequest): unknown => {
    if (request.signal?.aborted) return request.signal.reason
    return thrown instanceof Failure ? thrown : errorFromThrown(thrown, requestInfo(request))
  }

  const readText = async (response: ApiResponse, request: ApiRequest): Promise<string> => {
    try {
      return await response.body.text()
    } catch (thrown) {
      throw toThrown(thrown, request)
    }
  }

  const toError = async (response: ApiResponse, request: ApiRequest, identity: Identity): Promise<ApiError> => {
    const body = parseJsonOrText(await readText(response, request))
    if (response.statusCode === 401) {
      return unauthorizedError(
        requestInfo(request),
        access.credential.user,
        certificateExpiredAt(identity, clock.now()),
      )
    }
    const retryAfterMs = parseRetryAfter(response.headers, clock.now())
    return errorFromResponse({ status: response.statusCode, body, retryAfterMs }, requestInfo(request))
  }

  const send = async (
    request: ApiRequest,
    identity: Identity,
    dispatchers: Dispatchers,
    idleMs?: number,
  ): Promise<ApiResponse> => {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)
    const limit = request.timeoutMs ?? settings.timeoutMs
    const pool = idleMs !== undefined || request.priority ? dispatchers.streams : dispatchers.requests
    const dispatcher = request.guard ? guardedDispatcher(pool, request.guard) : pool
    try {
      return await dispatcher.request({
        origin,
        path: prefix + request.path + queryString(request.query),
        method: request.method,
        headers: {
          accept: request.accept ?? 'application/json',
          'user-agent': settings.userAgent,
          ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
          ...identity.headers,
        },
        ...(body !== undefined && { body }),
        ...(request.signal && { signal: request.signal }),
        headersTimeout: limit,
        bodyTimeout: idleMs ?? limit,
      })
    } catch (thrown) {
      throw toThrown(thrown, request)
    }
  }

  return {
    requestInfo,
    readText,
    roundTrip: async (request, identity, dispatchers, idleMs) => {
      request.signal?.throwIfAborted()
      allowManyListeners(request.signal)
      const response = await send(request, identity, dispatchers, idleMs)
      settings.onResponse?.(request, response.statusCode)
      if (response.statusCode >= 400) throw await toError(response, request, identity)
      if (settings.onWarning) for (const warning of parseWarnings(response.headers)) settings.onWarning(warning)
      return response
    },
    chunks: async function* (response, request) {
      try {
        for await (const chunk of response.body) yield chunk as Uint8Array
      } catch (thrown) {
        throw toThrown(thrown, request)
      }
    },
  }
}

function parseJsonOrText(text: string): unknown {
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
function parseWarnings(headers: IncomingHttpHeaders): readonly string[] {
  const raw = headers['warning']
  if (raw === undefined) return []
  const header = Array.isArray(raw) ? raw.join(', ') : raw
  return [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
