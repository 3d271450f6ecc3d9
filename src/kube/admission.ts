/**
 * Admission reviews: what the API server asks before it stores an object, and how it wants to be answered.
 *
 * Pure. Connections and certificates are `admission-server.ts`'s business, rules are the webhooks'.
 */
import type { KubeObject } from '../api/object.ts'

export interface AdmissionRequest {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  /** Empty for a create with `generateName`. */
  readonly name?: string
  readonly namespace?: string
  /** What is to be stored; absent for a delete. */
  readonly object?: KubeObject | null
  /** What is stored now; absent for a create. */
  readonly oldObject?: KubeObject | null
  readonly dryRun?: boolean
  readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
}

/** One field that is wrong. `reason` is one of Kubernetes' own: FieldValueInvalid, FieldValueRequired, … */
export interface AdmissionCause {
  readonly field: string
  readonly message: string
  readonly reason?: string
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

export interface AdmissionResponse {
  readonly allowed: boolean
  /** Why not, in one sentence. Made of the causes unless said. */
  readonly reason?: string
  readonly causes?: readonly AdmissionCause[]
  /** Shown to whoever wrote the object, allowed or not. */
  readonly warnings?: readonly string[]
  /** Changes before it is stored; mutating webhooks only. */
  readonly patch?: readonly JsonPatchOperation[]
}

export type AdmissionHandler = (
  request: AdmissionRequest,
  context: { readonly signal: AbortSignal },
) => AdmissionResponse | Promise<AdmissionResponse>

/** Told what happens, for metrics. */
export interface AdmissionObserver {
  readonly started?: (path: string) => void
  readonly finished?: (path: string, code: number, tookMs: number) => void
}

const reviewVersion = 'admission.k8s.io/v1'

/** The request in a review, or what is wrong with the review. */
export function parseReview(body: string): AdmissionRequest | { readonly problem: string } {
  let review: unknown
  try {
    review = JSON.parse(body)
  } catch {
    return { problem: 'the body is not JSON' }
  }
  const { apiVersion, kind, request } = asRecord(review)
  if (kind !== 'AdmissionReview') return { problem: 'the body is not an AdmissionReview' }
  if (apiVersion !== reviewVersion) return { problem: `only ${reviewVersion} is understood, not ${String(apiVersion)}` }
  const { uid, operation } = asRecord(request)
  if (typeof uid !== 'string' || uid === '') return { problem: 'the review has no request with a uid' }
  if (typeof operation !== 'string') return { problem: 'the request names no operation' }
  return request as AdmissionRequest
}

export function formatReview(request: AdmissionRequest, answer: AdmissionResponse): string {
  const { allowed, patch, warnings } = answer
  const response = {
    uid: request.uid,
    allowed,
    ...(warnings?.length && { warnings: warnings.map(oneLine) }),
    ...(allowed && patch?.length && { patchType: 'JSONPatch', patch: base64(patch) }),
    ...(!allowed && { status: refusal(request, answer) }),
  }
  return JSON.stringify({ apiVersion: reviewVersion, kind: 'AdmissionReview', response })
}

/** Wrong fields are told as the API server tells its own: clients that point at fields work for ours too. */
function refusal(request: AdmissionRequest, { reason, causes = [] }: AdmissionResponse): object {
  const { group, kind } = request.kind ?? {}
  const sentence = causes.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ')
  return {
    metadata: {},
    status: 'Failure',
    message: reason ?? (sentence || 'refused'),
    reason: causes.length ? 'Invalid' : 'Forbidden',
    code: causes.length ? 422 : 403,
    details: {
      ...(request.name && { name: request.name }),
      ...(group && { group }),
      ...(kind && { kind }),
      ...(causes.length && {
        causes: causes.map(({ field, message, reason: why = 'FieldValueInvalid' }) => ({
          reason: why,
          message,
          field,
        })),
      }),
    },
  }
}

function base64(patch: readonly JsonPatchOperation[]): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64')
}

/** Warnings travel in HTTP headers: one line each, and the API server cuts long ones. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
