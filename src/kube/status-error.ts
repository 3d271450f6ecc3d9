/**
 * Classifies the error responses of an API server: `Status` objects, their codes, causes and messages.
 *
 * The only place that knows the wording of the server's messages.
 */

import { isRecord } from '../api/json.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type ApiErrorDetails, type FieldCause, type FieldConflict, type RequestInfo } from './api-error.ts'
import * as problems from './findings/api-server.ts'
import { notSignedIn } from './findings/connection.ts'

/** A response that is not a success. */
export interface ErrorResponse {
  readonly status: number
  /** The body, parsed if it is JSON. */
  readonly body: unknown
  readonly retryAfterMs?: number | undefined
}

interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

interface Status {
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    readonly name?: string
    readonly kind?: string
    readonly causes?: readonly StatusCause[]
    readonly retryAfterSeconds?: number
  }
}

export function errorFromResponse(response: ErrorResponse, request: RequestInfo): ApiError {
  const status = readStatus(response.body)
  const reason = status.message ?? `HTTP ${response.status}`
  const details = classifyByMessage(reason, status, request) ?? classifyByCode(response.status, reason, status, request)
  const retryAfterMs = response.retryAfterMs ?? secondsToMs(status.details?.retryAfterSeconds)
  return new ApiError({ ...details, finding: locateFinding(details, request), status: response.status, retryAfterMs })
}

/** Adds the object and, if the server named one, the field to the finding. */
function locateFinding({ finding: base, conflicts, causes }: ApiErrorDetails, { object }: RequestInfo): Finding {
  const path = conflicts?.[0]?.path ?? causes?.[0]?.path
  return object ? { ...base, where: { ...object, ...(path && { path: path.replace(/^\./, '') }) } } : base
}

/** An ERROR event of a watch carries a Status with the code that HTTP would have had. */
export function errorFromWatch(object: unknown, request: RequestInfo): ApiError {
  const code = isRecord(object) && typeof object['code'] === 'number' ? object['code'] : 500
  return errorFromResponse({ status: code, body: object }, request)
}

/** Some errors share a code with others and differ only in the message. */
function classifyByMessage(reason: string, status: Status, request: RequestInfo): ApiErrorDetails | undefined {
  const webhook = /failed calling webhook "([^"]+)": (.*)/s.exec(reason)
  if (webhook?.[1]) {
    const facts = { webhook: webhook[1], reason: lastClause(webhook[2] ?? reason) }
    // Webhooks are called before anything is stored, so nothing has happened yet.
    return { kind: 'webhook', retryable: 'always', finding: finding(problems.webhookUnavailable, facts) }
  }
  if (/^admission webhook "[^"]+" denied|ValidatingAdmissionPolicy .* denied/.test(reason)) {
    return rejectedDetails('denied', [reason], fieldCauses(status), request)
  }
  const fieldErrors = parseFieldErrors(reason)
  if (fieldErrors.length > 0) return rejectedDetails('invalid', fieldErrors.map(formatCause), fieldErrors, request)
  if (status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating')) {
    return { kind: 'terminating', finding: finding(problems.namespaceTerminating, { reason }) }
  }
  return undefined
}

function classifyByCode(code: number, reason: string, status: Status, request: RequestInfo): ApiErrorDetails {
  const { server, verb, subject } = request
  switch (code) {
    case 401:
      return { kind: 'unauthorized', finding: finding(notSignedIn, { server, user: 'this user' }) }
    case 403:
      return {
        kind: 'forbidden',
        finding: finding(problems.forbidden, {
          action: `${verb} ${subject}`,
          reason: afterForbidden(reason),
        }),
      }
    case 404:
      return notFoundDetails(status, request)
    case 409:
      return conflictDetails(reason, status, request)
    case 410:
      return { kind: 'expired', finding: finding(problems.versionExpired, { reason }) }
    case 422: {
      const causes = fieldCauses(status)
      return rejectedDetails('invalid', causes.length > 0 ? causes.map(formatCause) : [reason], causes, request)
    }
    case 429:
      return { kind: 'busy', retryable: 'always', finding: finding(problems.serverBusy, { server, reason }) }
    default:
  }
  if (code >= 500) {
    const facts = { server, status: code, reason }
    return { kind: 'failing', retryable: 'idempotent', finding: finding(problems.serverFailing, facts) }
  }
  return { kind: 'rejected', finding: finding(problems.requestRejected, { status: code, reason }) }
}

/** The details name a missing object; an unknown path returns a plain page. */
function notFoundDetails(status: Status, request: RequestInfo): ApiErrorDetails {
  const { name, kind } = status.details ?? {}
  if (!name) return { ...notServedDetails(request) }
  const object = kind === 'namespaces' ? `the namespace ${name}` : request.subject
  return { kind: 'not-found', finding: finding(problems.objectMissing, { object }) }
}

function notServedDetails({ subject, server }: RequestInfo): ApiErrorDetails {
  return { kind: 'not-served', finding: finding(problems.kindNotServed, { kind: subject, server }) }
}

function conflictDetails(reason: string, status: Status, { subject: object }: RequestInfo): ApiErrorDetails {
  if (status.reason === 'AlreadyExists') {
    return { kind: 'already-exists', finding: finding(problems.objectExists, { object }) }
  }
  const conflicts = fieldConflicts(status)
  if (conflicts.length > 0) {
    const owners = [...new Set(conflicts.map((conflictDetails) => conflictDetails.manager))]
    const base = finding(problems.fieldConflict, { object, conflicts }, { owners })
    return { kind: 'field-conflict', conflicts, finding: base }
  }
  return { kind: 'conflict', finding: finding(problems.staleWrite, { object, reason: lastClause(reason) }) }
}

function fieldConflicts(status: Status): readonly FieldConflict[] {
  return (status.details?.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map(({ message = '', field = '' }) => {
      const match = /^conflict with "([^"]*)"(?: with subresource "([^"]*)")?/.exec(message)
      return {
        manager: match?.[1] ?? message,
        path: field,
        ...(match?.[2] !== undefined && { subresource: match[2] }),
      }
    })
}

function rejectedDetails(
  kind: 'invalid' | 'denied',
  reasons: readonly string[],
  causes: readonly FieldCause[],
  { subject: object }: RequestInfo,
): ApiErrorDetails {
  return { kind, causes, finding: finding(problems.objectRefused, { object, reasons }) }
}

/**
 * Strict validation and server-side apply name invalid fields in the message only; apply uses the code 500, which would
 * otherwise look like a failing server.
 */
function parseFieldErrors(reason: string): readonly FieldCause[] {
  const strict = [...reason.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)]
  if (strict.length > 0) return strict.map(([message, path = '']) => ({ path, message }))
  const typed = /^failed to create typed (?:patch|live) object \([^)]*\): (.*)/s.exec(reason)?.[1]
  return (typed ?? '')
    .replace(/^errors:\s*/, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, path = '', message = line.trim()] = /^\s*\.(.+?): (.*)$/.exec(line) ?? []
      return { path, message: message.replace('field not declared in schema', `unknown field "${path}"`) }
    })
}

function fieldCauses(status: Status): readonly FieldCause[] {
  return (status.details?.causes ?? []).map(({ field = '', message = '' }) => ({ path: field, message }))
}

function formatCause({ path, message }: FieldCause): string {
  return path === '' || message.includes(`"${path}"`) ? message : `${path}: ${message}`
}

/** The part of `pods is forbidden: User "x" cannot …` that names the user and the action. */
function afterForbidden(reason: string): string {
  return reason.replace(/^.*? is forbidden: /, '')
}

function lastClause(reason: string): string {
  return reason.slice(reason.lastIndexOf(': ') + 1).trim()
}

function readStatus(body: unknown): Status {
  if (isRecord(body) && body['kind'] === 'Status') return body
  return typeof body === 'string' && body.trim() ? { message: oneLine(body) } : {}
}

/** A server that is not an API server returns pages: one line is enough to recognise it. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
