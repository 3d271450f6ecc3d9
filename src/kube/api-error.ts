/**
 * What a server says when it does not do what it was asked, as one typed error.
 *
 * It is a failure with a finding, so whoever does not handle it shows it well. Answers are read in `refusal.ts`, errors
 * below HTTP in `network-error.ts`.
 */

import { type ExitCode, Failure } from '../errors/failure.ts'
import { type Finding, finding, type ObjectLocation } from '../errors/finding.ts'
import * as problems from './findings/api-server.ts'
import { certificateExpired, notSignedIn } from './findings/connection.ts'

export type ApiErrorKind =
  /** No connection, or it broke. */
  | 'unreachable'
  /** A connection, but no answer in time. */
  | 'timeout'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  /** The server knows no such kind. */
  | 'not-served'
  | 'already-exists'
  /** The object is another one than the caller has seen: read again, decide again. */
  | 'conflict'
  /** Server-side apply: fields belong to other managers, see `conflicts`. */
  | 'field-conflict'
  /** Schema, strict validation: see `causes`. */
  | 'invalid'
  /** An admission webhook or policy said no. */
  | 'denied'
  /** The namespace is being deleted. */
  | 'terminating'
  /** The resourceVersion or the continue token is too old: list again. */
  | 'expired'
  | 'busy'
  /** An admission webhook could not be asked. */
  | 'webhook'
  | 'failing'
  | 'malformed'
  | 'rejected'

/** A field that another manager owns. */
export interface FieldConflict {
  readonly manager: string
  readonly path: string
  readonly subresource?: string
}

export interface FieldCause {
  readonly path: string
  readonly message: string
}

/** May the same request be sent again? Always, only where doing it twice is like doing it once, or never. */
export type Retryable = 'always' | 'safe' | 'never'

export interface ApiErrorDetails {
  readonly kind: ApiErrorKind
  readonly finding: Finding
  readonly repeat?: Retryable
  readonly status?: number
  readonly conflicts?: readonly FieldConflict[]
  readonly causes?: readonly FieldCause[]
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

export class ApiError extends Failure {
  readonly kind: ApiErrorKind
  readonly repeat: Retryable
  /** The HTTP status, or undefined when there was no answer. */
  readonly status: number | undefined
  readonly conflicts: readonly FieldConflict[]
  readonly causes: readonly FieldCause[]
  readonly retryAfterMs: number | undefined

  constructor(facts: ApiErrorDetails) {
    super([facts.finding], exitCodeOf(facts.kind), { cause: facts.cause })
    this.name = 'ApiError'
    this.kind = facts.kind
    this.repeat = facts.repeat ?? 'never'
    this.status = facts.status
    this.conflicts = facts.conflicts ?? []
    this.causes = facts.causes ?? []
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** Whether something thrown is an API error, of one of these kinds where kinds are given. */
export function isApiError(thrown: unknown, ...kinds: readonly ApiErrorKind[]): thrown is ApiError {
  return thrown instanceof ApiError && (kinds.length === 0 || kinds.includes(thrown.kind))
}

/** Who was asked for what: the words that a message needs. */
export interface RequestInfo {
  readonly server: string
  /** The proxy in between, without its password. */
  readonly via?: string | undefined
  /** `apply` and `metallb.io/IPAddressPool metallb-system/a`, `list` and `v1 Pod`. */
  readonly verb: string
  readonly subject: string
  /** The object that was to be read or written, where it is one. */
  readonly object?: ObjectLocation | undefined
}

export function malformedResponse(reason: string, errand: RequestInfo, cause?: unknown): ApiError {
  const facts = { server: errand.server, reason }
  return new ApiError({
    kind: 'malformed',
    finding: finding(problems.malformedAnswer, facts),
    cause,
  })
}

/** Nobody, or not the one that the server wants: an expired client certificate is named as the cause. */
export function unauthorizedError({ server }: RequestInfo, user: string, expired: string | undefined): ApiError {
  const made =
    expired === undefined
      ? finding(notSignedIn, { server, user })
      : finding(certificateExpired, {
          whose: `the client certificate of ${user}`,
          server,
          since: expired,
        })
  return new ApiError({ kind: 'unauthorized', status: 401, finding: made })
}

export function notServedError(errand: RequestInfo): ApiError {
  const facts = { kind: errand.subject, server: errand.server }
  return new ApiError({ kind: 'not-served', status: 404, finding: finding(problems.kindNotServed, facts) })
}

/** Told here, because the server would only say that it knows no such path. */
export function missingNamespaceError(where: ObjectLocation, object: string): ApiError {
  const causes = [{ path: 'metadata.namespace', message: `${where.kind} lives in a namespace, and none is given` }]
  const facts = { object, reasons: causes.map((cause) => cause.message) }
  const made = finding(problems.objectRefused, facts, { where: { ...where, path: 'metadata.namespace' } })
  return new ApiError({ kind: 'invalid', causes, finding: made })
}

/** 2 when the cluster could not be asked, 1 when it said no. */
function exitCodeOf(kind: ApiErrorKind): ExitCode {
  const unasked: readonly ApiErrorKind[] = ['unreachable', 'timeout', 'unauthorized', 'busy', 'failing', 'malformed']
  return unasked.includes(kind) ? 2 : 1
}
