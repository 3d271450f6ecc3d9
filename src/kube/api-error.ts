/**
 * Represents every failed request as one typed error with a finding, so that an unhandled error prints well.
 *
 * Must not know HTTP bodies (`status-error.ts`) or socket errors (`network-error.ts`).
 */

import { type ExitCode, Failure } from '../errors/failure.ts'
import { type Finding, finding, type ObjectLocation } from '../errors/finding.ts'
import * as problems from './findings/api-server.ts'
import { certificateExpired, notSignedIn } from './findings/connection.ts'

export type ApiErrorKind =
  /** There is no connection, or it broke. */
  | 'unreachable'
  /** The connection is open, but there is no response in time. */
  | 'timeout'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  /** The server does not serve this kind. */
  | 'not-served'
  | 'already-exists'
  /** The object changed since the caller read it: read and decide again. */
  | 'conflict'
  /** Server-side apply: fields belong to other managers, see `conflicts`. */
  | 'field-conflict'
  /** Schema, strict validation: see `causes`. */
  | 'invalid'
  /** An admission webhook or policy denied it. */
  | 'denied'
  /** The namespace is being deleted. */
  | 'terminating'
  /** The resourceVersion or the continue token is too old: list again. */
  | 'expired'
  | 'busy'
  /** An admission webhook could not be called. */
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

/** Whether the same request may be sent again: always, only when it is idempotent, or never. */
export type Retryable = 'always' | 'idempotent' | 'never'

export interface ApiErrorDetails {
  readonly kind: ApiErrorKind
  readonly finding: Finding
  readonly retryable?: Retryable
  readonly status?: number
  readonly conflicts?: readonly FieldConflict[]
  readonly causes?: readonly FieldCause[]
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

export class ApiError extends Failure {
  readonly kind: ApiErrorKind
  readonly retryable: Retryable
  /** The HTTP status, or undefined when there was no response. */
  readonly status: number | undefined
  readonly conflicts: readonly FieldConflict[]
  readonly causes: readonly FieldCause[]
  readonly retryAfterMs: number | undefined

  constructor(facts: ApiErrorDetails) {
    super([facts.finding], exitCodeOf(facts.kind), { cause: facts.cause })
    this.name = 'ApiError'
    this.kind = facts.kind
    this.retryable = facts.retryable ?? 'never'
    this.status = facts.status
    this.conflicts = facts.conflicts ?? []
    this.causes = facts.causes ?? []
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** Whether a thrown value is an API error, optionally of one of these kinds. */
export function isApiError(thrown: unknown, ...kinds: readonly ApiErrorKind[]): thrown is ApiError {
  return thrown instanceof ApiError && (kinds.length === 0 || kinds.includes(thrown.kind))
}

/** What was requested from which server, for messages. */
export interface RequestInfo {
  readonly server: string
  /** The proxy, without its password. */
  readonly via?: string | undefined
  /** `apply` and `metallb.io/IPAddressPool metallb-system/a`, `list` and `v1 Pod`. */
  readonly verb: string
  readonly subject: string
  /** The object to read or write, for requests about one object. */
  readonly object?: ObjectLocation | undefined
}

export function malformedResponse(reason: string, request: RequestInfo, cause?: unknown): ApiError {
  const facts = { server: request.server, reason }
  return new ApiError({
    kind: 'malformed',
    finding: finding(problems.malformedAnswer, facts),
    cause,
  })
}

/** A missing or rejected credential; an expired client certificate is named as the cause. */
export function unauthorizedError({ server }: RequestInfo, user: string, expired: string | undefined): ApiError {
  const authFinding =
    expired === undefined
      ? finding(notSignedIn, { server, user })
      : finding(certificateExpired, {
          whose: `the client certificate of ${user}`,
          server,
          since: expired,
        })
  return new ApiError({ kind: 'unauthorized', status: 401, finding: authFinding })
}

export function notServedError(request: RequestInfo): ApiError {
  const facts = { kind: request.subject, server: request.server }
  return new ApiError({ kind: 'not-served', status: 404, finding: finding(problems.kindNotServed, facts) })
}

/** Checked here, because the server would only report an unknown path. */
export function missingNamespaceError(where: ObjectLocation, object: string): ApiError {
  const causes = [{ path: 'metadata.namespace', message: `${where.kind} is namespaced, and no namespace is given` }]
  const facts = { object, reasons: causes.map((cause) => cause.message) }
  const authFinding = finding(problems.objectRefused, facts, { where: { ...where, path: 'metadata.namespace' } })
  return new ApiError({ kind: 'invalid', causes, finding: authFinding })
}

/** 2 when the cluster could not be reached, 1 when it refused. */
function exitCodeOf(kind: ApiErrorKind): ExitCode {
  const unreached: readonly ApiErrorKind[] = ['unreachable', 'timeout', 'unauthorized', 'busy', 'failing', 'malformed']
  return unreached.includes(kind) ? 2 : 1
}
