/**
 * Parses and formats admission reviews of the API server.
 *
 * Pure. Must not know connections and certificates (`admission-server.ts`) or rules (`webhooks/`).
 */
import { asRecord } from '../api/json.ts'
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
  /** The object to store; absent for a delete. */
  readonly object?: KubeObject | null
  /** The stored object; absent for a create. */
  readonly oldObject?: KubeObject | null
  readonly dryRun?: boolean
  readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
}

/** One invalid field. `reason` is a Kubernetes cause type: FieldValueInvalid, FieldValueRequired, … */
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
  /** Why it is denied, in one sentence. Built from the causes by default. */
  readonly reason?: string
  readonly causes?: readonly AdmissionCause[]
  /** Shown to the client, allowed or not. */
  readonly warnings?: readonly string[]
  /** Changes before the object is stored; mutating webhooks only. */
  readonly patch?: readonly JsonPatchOperation[]
}

export type AdmissionHandler = (
  request: AdmissionRequest,
  context: { readonly signal: AbortSignal },
) => AdmissionResponse | Promise<AdmissionResponse>

/** Callbacks for metrics. */
export interface AdmissionObserver {
  readonly started?: (path: string) => void
  readonly finished?: (path: string, code: number, tookMs: number) => void
}

const reviewVersion = 'admission.k8s.io/v1'

/** The request of a review, or why the review is malformed. */
export function parseReview(body: string): AdmissionRequest | { readonly problem: string } {
  let review: unknown
  try {
    review = JSON.parse(body)
  } catch {
    return { problem: 'the body is not JSON' }
  }
  const { apiVersion, kind, request } = asRecord(review)
  if (kind !== 'AdmissionReview') return { problem: 'the body is not an AdmissionReview' }
  if (apiVersion !== reviewVersion) return { problem: `only ${reviewVersion} is supported, not ${String(apiVersion)}` }
  const { uid, operation } = asRecord(request)
  if (typeof uid !== 'string' || uid === '') return { problem: 'the review has no request with a uid' }
  if (typeof operation !== 'string') return { problem: 'the request has no operation' }
  return request as AdmissionRequest
}

export function formatReview(request: AdmissionRequest, decision: AdmissionResponse): string {
  const { allowed, patch, warnings } = decision
  const response = {
    uid: request.uid,
    allowed,
    ...(warnings?.length && { warnings: warnings.map(oneLine) }),
    ...(allowed && patch?.length && { patchType: 'JSONPatch', patch: base64(patch) }),
    ...(!allowed && { status: denialStatus(request, decision) }),
  }
  return JSON.stringify({ apiVersion: reviewVersion, kind: 'AdmissionReview', response })
}

/** Invalid fields are reported as the API server reports its own, so that clients can point at them. */
function denialStatus(request: AdmissionRequest, { reason, causes = [] }: AdmissionResponse): object {
  const { group, kind } = request.kind ?? {}
  const sentence = causes.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ')
  return {
    metadata: {},
    status: 'Failure',
    message: reason ?? (sentence || 'denied'),
    reason: causes.length ? 'Invalid' : 'Forbidden',
    code: causes.length ? 422 : 403,
    details: {
      ...(request.name && { name: request.name }),
      ...(group && { group }),
      ...(kind && { kind }),
      ...(causes.length && {
        causes: causes.map(({ field, message, reason: cause = 'FieldValueInvalid' }) => ({
          reason: cause,
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

/** Warnings are sent as HTTP headers: one line each. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
