/** From violations to what the API server is told: refusals by field in Kubernetes' words, the rest as warnings. */
import type { Verdict, Violation } from '../api/violation.ts'
import type { AdmissionRequest, AdmissionResponse } from '../kube/admission.ts'

export function buildAnswer(
  request: AdmissionRequest,
  { refusals, warnings }: Verdict,
  more: readonly string[] = [],
): AdmissionResponse {
  const told = [...warnings.map((warning) => `${warning.field}: ${warning.detail}`), ...more]
  if (refusals.length === 0) return { allowed: true, ...(told.length > 0 && { warnings: told }) }
  const causes = refusals.map((refusal) => ({ field: refusal.field, message: formatViolation(refusal) }))
  const { kind, group } = request.kind
  const list = causes.map(({ field, message }) => `${field}: ${message}`)
  const all = list.length === 1 ? (list[0] ?? '') : `[${list.join(', ')}]`
  return {
    allowed: false,
    causes,
    reason: `${kind}.${group} ${JSON.stringify(request.name ?? '')} is invalid: ${all}`,
    ...(told.length > 0 && { warnings: told }),
  }
}

function formatViolation({ value, detail }: Violation): string {
  return `Invalid value: ${JSON.stringify(value ?? null)}: ${detail}`
}

export function denied(reason: string): AdmissionResponse {
  return { allowed: false, reason }
}

export const allowed: AdmissionResponse = { allowed: true }
