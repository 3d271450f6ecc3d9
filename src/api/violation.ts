/**
 * Describes one violated rule of an object, with the field, in the terms of the API.
 *
 * Webhooks turn violations into denials and warnings, the DNSMasq controller into a condition.
 */

export interface Violation {
  /** `spec.networks[0].subnets[0].cidr` */
  readonly field: string
  readonly value: unknown
  readonly detail: string
  /**
   * `upstream`: infra-operator rejects it too. `own`: an additional rule, which must not make an object uneditable that
   * existed before it.
   */
  readonly rule: 'upstream' | 'own'
}

export interface Verdict {
  readonly refusals: readonly Violation[]
  readonly warnings: readonly Violation[]
}

/**
 * Decides what to deny and what to warn about. An own rule denies only new violations: one that the old object already
 * had, at any position in its list, stays a warning.
 */
export function judgeViolations(violations: readonly Violation[], old: readonly Violation[] = []): Verdict {
  const known = new Set(old.map((violation) => violation.detail))
  const isRefused = (violation: Violation): boolean => violation.rule === 'upstream' || !known.has(violation.detail)
  return { refusals: violations.filter(isRefused), warnings: violations.filter((violation) => !isRefused(violation)) }
}
