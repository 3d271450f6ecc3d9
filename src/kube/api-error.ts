/**
 * What a server says when it does not do what it was asked, as one typed error.
 *
 * It is a failure with a finding, so whoever does not handle it shows it well. Reading `Status` objects happens
 * here and nowhere else; errors below HTTP are read in `network-error.ts`.
 */
import { type ExitCode, Failure } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import * as problems from '../errors/kube.ts'

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
export type Repeat = 'always' | 'safe' | 'never'

export interface ApiErrorFacts {
  readonly kind: ApiErrorKind
  readonly finding: Finding
  readonly repeat?: Repeat
  readonly status?: number
  readonly conflicts?: readonly FieldConflict[]
  readonly causes?: readonly FieldCause[]
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

export class ApiError extends Failure {
  readonly kind: ApiErrorKind
  readonly repeat: Repeat
  /** The HTTP status, or undefined when there was no answer. */
  readonly status: number | undefined
  readonly conflicts: readonly FieldConflict[]
  readonly causes: readonly FieldCause[]
  readonly retryAfterMs: number | undefined

  constructor(facts: ApiErrorFacts) {
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
export interface Errand {
  readonly server: string
  /** `apply metallb.io/IPAddressPool metallb-system/a`, `list v1 Pod`. */
  readonly verb: string
  readonly subject: string
}

/** An answer that was not a success. */
export interface Refusal {
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

export function errorFromRefusal(refusal: Refusal, errand: Errand): ApiError {
  const status = readStatus(refusal.body)
  const reason = status.message ?? `HTTP ${refusal.status}`
  const read = byMessage(reason, status, errand) ?? byCode(refusal.status, reason, status, errand)
  const retryAfterMs = refusal.retryAfterMs ?? secondsToMs(status.details?.retryAfterSeconds)
  return new ApiError({
    ...read,
    status: refusal.status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

/** An ERROR event of a watch carries a Status with the code that HTTP would have had. */
export function errorFromWatch(object: unknown, errand: Errand): ApiError {
  const code = isRecord(object) && typeof object['code'] === 'number' ? object['code'] : 500
  return errorFromRefusal({ status: code, body: object }, errand)
}

export function malformed(reason: string, errand: Errand, cause?: unknown): ApiError {
  const facts = { server: errand.server, reason }
  return new ApiError({
    kind: 'malformed',
    finding: finding(problems.malformedAnswer, facts),
    cause,
  })
}

/** Nobody, or not the one that the server wants: an expired client certificate is named as the cause. */
export function unauthorized({ server }: Errand, user: string, expired: string | undefined): ApiError {
  const made =
    expired === undefined
      ? finding(problems.notSignedIn, { server, user })
      : finding(problems.certificateExpired, {
          whose: `the client certificate of ${user}`,
          server,
          since: expired,
        })
  return new ApiError({ kind: 'unauthorized', status: 401, finding: made })
}

export function notServed(errand: Errand): ApiError {
  const facts = { kind: errand.subject, server: errand.server }
  return new ApiError({ kind: 'not-served', status: 404, finding: finding(problems.kindNotServed, facts) })
}

/** Some refusals share a code with others and are told apart only by what they say. */
function byMessage(reason: string, status: Status, errand: Errand): ApiErrorFacts | undefined {
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

function byCode(code: number, reason: string, status: Status, errand: Errand): ApiErrorFacts {
  const { server, verb, subject } = errand
  switch (code) {
    case 401:
      return { kind: 'unauthorized', finding: finding(problems.notSignedIn, { server, user: 'this user' }) }
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
function missing(status: Status, errand: Errand): ApiErrorFacts {
  const { name, kind } = status.details ?? {}
  if (!name) return { ...notServedFacts(errand) }
  const object = kind === 'namespaces' ? `the namespace ${name}` : errand.subject
  return { kind: 'not-found', finding: finding(problems.objectMissing, { object }) }
}

function notServedFacts({ subject, server }: Errand): ApiErrorFacts {
  return { kind: 'not-served', finding: finding(problems.kindNotServed, { kind: subject, server }) }
}

function conflict(reason: string, status: Status, { subject: object }: Errand): ApiErrorFacts {
  if (status.reason === 'AlreadyExists') {
    return { kind: 'already-exists', finding: finding(problems.objectExists, { object }) }
  }
  const conflicts = fieldConflicts(status)
  if (conflicts.length > 0) {
    const owners = [...new Set(conflicts.map((one) => one.manager))]
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
  { subject: object }: Errand,
): ApiErrorFacts {
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** 2 when the cluster could not be asked, 1 when it said no. */
function exitCodeOf(kind: ApiErrorKind): ExitCode {
  const unasked: readonly ApiErrorKind[] = [
    'unreachable',
    'timeout',
    'unauthorized',
    'busy',
    'failing',
    'malformed',
  ]
  return unasked.includes(kind) ? 2 : 1
}
