/** From violations to what the API server is told: refusals by field in Kubernetes' words, the rest as warnings. */
import type { Verdict, Violation } from '../api/violation.ts'
import type { AdmissionAnswer, AdmissionRequest } from '../kube/admission.ts'

export function answerOf(
  request: AdmissionRequest,
  { refusals, warnings }: Verdict,
  more: readonly string[] = [],
): AdmissionAnswer {
  const told = [...warnings.map((one) => `${one.field}: ${one.detail}`), ...more]
  if (refusals.length === 0) return { allowed: true, ...(told.length > 0 && { warnings: told }) }
  const causes = refusals.map((one) => ({ field: one.field, message: messageOf(one) }))
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

function messageOf({ value, detail }: Violation): string {
  return `Invalid value: ${JSON.stringify(value ?? null)}: ${detail}`
}

export function refused(reason: string): AdmissionAnswer {
  return { allowed: false, reason }
}

export const allowed: AdmissionAnswer = { allowed: true }
