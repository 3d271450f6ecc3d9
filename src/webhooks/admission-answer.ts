/** Turns violations into an admission response: refusals by field in Kubernetes' wording, the rest as warnings. */
import type { Verdict, Violation } from '../api/violation.ts'
import type { AdmissionRequest, AdmissionResponse } from '../kube/admission.ts'

/** More help no reader, and the API server sends each warning as a header. */
const MAX_CAUSES = 100

export function buildAnswer(
  request: AdmissionRequest,
  { refusals, warnings }: Verdict,
  moreWarnings: readonly string[] = [],
): AdmissionResponse {
  const allWarnings = [...warnings.map(({ field, detail }) => `${field}: ${detail}`), ...moreWarnings].slice(
    0,
    MAX_CAUSES,
  )
  const warned = allWarnings.length > 0 && { warnings: allWarnings }
  if (refusals.length === 0) return { allowed: true, ...warned }
  const causes = refusals
    .slice(0, MAX_CAUSES)
    .map((violation) => ({ field: violation.field, message: formatViolation(violation) }))
  const { kind, group } = request.kind
  const lines = causes.map(({ field, message }) => `${field}: ${message}`)
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`
  const more = refusals.length > causes.length ? `, and ${refusals.length - causes.length} more` : ''
  const reason = `${kind}.${group} ${JSON.stringify(request.name ?? '')} is invalid: ${list}${more}`
  return { allowed: false, causes, reason, ...warned }
}

function formatViolation({ value, detail }: Violation): string {
  return `Invalid value: ${JSON.stringify(value ?? null)}: ${detail}`
}

export function denied(reason: string): AdmissionResponse {
  return { allowed: false, reason }
}

export const allowed: AdmissionResponse = { allowed: true }
