/**
 * Reads what an API server says when it refuses: `Status` objects, their codes, causes and turns of phrase.
 *
 * The one place that knows how the server words things.
 */

import { isRecord } from '../api/json.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type ApiErrorDetails, type FieldCause, type FieldConflict, type RequestInfo } from './api-error.ts'
import * as problems from './findings/api-server.ts'
import { notSignedIn } from './findings/connection.ts'

/** An answer that was not a success. */
export interface ErrorResponse {
  readonly status: number
  /** The body, parsed where it was JSON. */
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

export function errorFromResponse(refusal: ErrorResponse, errand: RequestInfo): ApiError {
  const status = readStatus(refusal.body)
  const reason = status.message ?? `HTTP ${refusal.status}`
  const read = byMessage(reason, status, errand) ?? byCode(refusal.status, reason, status, errand)
  const retryAfterMs = refusal.retryAfterMs ?? secondsToMs(status.details?.retryAfterSeconds)
  return new ApiError({ ...read, finding: placed(read, errand), status: refusal.status, retryAfterMs })
}

/** The finding with the object and, where the server named one, the field that it is about. */
function placed({ finding: made, conflicts, causes }: ApiErrorDetails, { object }: RequestInfo): Finding {
  const path = conflicts?.[0]?.path ?? causes?.[0]?.path
  return object ? { ...made, where: { ...object, ...(path && { path: path.replace(/^\./, '') }) } } : made
}

/** An ERROR event of a watch carries a Status with the code that HTTP would have had. */
export function errorFromWatch(object: unknown, errand: RequestInfo): ApiError {
  const code = isRecord(object) && typeof object['code'] === 'number' ? object['code'] : 500
  return errorFromResponse({ status: code, body: object }, errand)
}

/** Some refusals share a code with others and are told apart only by what they say. */
function byMessage(reason: string, status: Status, errand: RequestInfo): ApiErrorDetails | undefined {
  const webhook = /failed calling webhook "([^"]+)": (.*)/s.exec(reason)
  if (webhook?.[1]) {
    const facts = { webhook: webhook[1], reason: lastClause(webhook[2] ?? reason) }
    // The webhooks are asked before anything is stored, so nothing has happened yet.
    return { kind: 'webhook', repeat: 'always', finding: finding(problems.webhookUnavailable, facts) }
  }
  if (/^admission webhook "[^"]+" denied|ValidatingAdmissionPolicy .* denied/.test(reason)) {
    return refused('denied', [reason], causesOf(status), errand)
  }
  const wrong = wrongFields(reason)
  if (wrong.length > 0) return refused('invalid', wrong.map(inWords), wrong, errand)
  if (status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating')) {
    return { kind: 'terminating', finding: finding(problems.namespaceTerminating, { reason }) }
  }
  return undefined
}

function byCode(code: number, reason: string, status: Status, errand: RequestInfo): ApiErrorDetails {
  const { server, verb, subject } = errand
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
      return missing(status, errand)
    case 409:
      return conflict(reason, status, errand)
    case 410:
      return { kind: 'expired', finding: finding(problems.versionExpired, { reason }) }
    case 422: {
      const causes = causesOf(status)
      return refused('invalid', causes.length > 0 ? causes.map(inWords) : [reason], causes, errand)
    }
    case 429:
      return { kind: 'busy', repeat: 'always', finding: finding(problems.serverBusy, { server, reason }) }
    default:
  }
  if (code >= 500) {
    const facts = { server, status: code, reason }
    return { kind: 'failing', repeat: 'safe', finding: finding(problems.serverFailing, facts) }
  }
  return { kind: 'rejected', finding: finding(problems.requestRejected, { status: code, reason }) }
}

/** An object that is missing is named in `details`; an unknown path is a plain page. */
function missing(status: Status, errand: RequestInfo): ApiErrorDetails {
  const { name, kind } = status.details ?? {}
  if (!name) return { ...notServedFacts(errand) }
  const object = kind === 'namespaces' ? `the namespace ${name}` : errand.subject
  return { kind: 'not-found', finding: finding(problems.objectMissing, { object }) }
}

function notServedFacts({ subject, server }: RequestInfo): ApiErrorDetails {
  return { kind: 'not-served', finding: finding(problems.kindNotServed, { kind: subject, server }) }
}

function conflict(reason: string, status: Status, { subject: object }: RequestInfo): ApiErrorDetails {
  if (status.reason === 'AlreadyExists') {
    return { kind: 'already-exists', finding: finding(problems.objectExists, { object }) }
  }
  const conflicts = fieldConflicts(status)
  if (conflicts.length > 0) {
    const owners = [...new Set(conflicts.map((conflict) => conflict.manager))]
    const made = finding(problems.fieldConflict, { object, conflicts }, { owners })
    return { kind: 'field-conflict', conflicts, finding: made }
  }
  return { kind: 'conflict', finding: finding(problems.staleWrite, { object, reason: lastClause(reason) }) }
}

function fieldConflicts(status: Status): readonly FieldConflict[] {
  return (status.details?.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map(({ message = '', field = '' }) => {
      const who = /^conflict with "([^"]*)"(?: with subresource "([^"]*)")?/.exec(message)
      return {
        manager: who?.[1] ?? message,
        path: field,
        ...(who?.[2] !== undefined && { subresource: who[2] }),
      }
    })
}

function refused(
  kind: 'invalid' | 'denied',
  reasons: readonly string[],
  causes: readonly FieldCause[],
  { subject: object }: RequestInfo,
): ApiErrorDetails {
  return { kind, causes, finding: finding(problems.objectRefused, { object, reasons }) }
}

/**
 * Strict validation and server-side apply name wrong fields in the message only, each in its own words; apply does so
 * with the code 500, which would otherwise look like a failing server.
 */
function wrongFields(reason: string): readonly FieldCause[] {
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

function causesOf(status: Status): readonly FieldCause[] {
  return (status.details?.causes ?? []).map(({ field = '', message = '' }) => ({ path: field, message }))
}

function inWords({ path, message }: FieldCause): string {
  return path === '' || message.includes(`"${path}"`) ? message : `${path}: ${message}`
}

/** `pods is forbidden: User "x" cannot …`: the part that says who and what. */
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

/** A server that is no API server answers with pages: one line of it is enough to recognise it. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
