/**
 * A violation: one rule that an object breaks, with the field that breaks it, in the words of the API.
 *
 * Webhooks turn violations into refusals and warnings, controllers into conditions, the planner into findings.
 */

export interface Violation {
  /** `spec.networks[0].subnets[0].cidr` */
  readonly field: string
  readonly value: unknown
  readonly detail: string
  /**
   * `upstream`: infra-operator refuses it too. `own`: a rule of ours, which must not make an object uneditable
   * that lived before us.
   */
  readonly rule: 'upstream' | 'own'
}

export interface Verdict {
  readonly refusals: readonly Violation[]
  readonly warnings: readonly Violation[]
}

/**
 * What to refuse and what to warn of. A rule of ours refuses only what is new: a violation that the old object
 * had already, at whatever place in its list, stays a warning.
 */
export function judgeViolations(violations: readonly Violation[], old: readonly Violation[] = []): Verdict {
  const known = new Set(old.map((violation) => violation.detail))
  const refused = (violation: Violation): boolean => violation.rule === 'upstream' || !known.has(violation.detail)
  return { refusals: violations.filter(refused), warnings: violations.filter((violation) => !refused(violation)) }
}
