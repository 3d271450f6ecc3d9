/**
 * Builds status conditions in lib-common's form: constructors, the two rules for Ready, and transition times.
 *
 * Pure. Knows no kind.
 */
import type { Condition } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'

export interface ReportedCondition extends Condition {
  readonly reason: string
  readonly message: string
  /** Only where the status is False. */
  readonly severity?: 'Error' | 'Warning' | 'Info'
}

export function conditionTrue(type: string, message: string): ReportedCondition {
  return { type, status: 'True', reason: 'Ready', message }
}

export function conditionError(type: string, message: string, reason = 'Error'): ReportedCondition {
  return { type, status: 'False', reason, severity: 'Error', message }
}

/** An error that a person has to resolve, with the finding's code and remedy in the message. */
export function conditionForFinding(
  type: string,
  { message, remedy, code }: Finding,
  reason?: string,
): ReportedCondition {
  return conditionError(type, `${message} (${code}: ${remedy})`, reason)
}

/** Something is wrong that does not stop the rest. */
export function conditionWarning(type: string, message: string): ReportedCondition {
  return { type, status: 'False', reason: 'Warning', severity: 'Warning', message }
}

/** Work in progress: it continues without intervention. */
export function conditionRequested(type: string, message: string, reason = 'Requested'): ReportedCondition {
  return { type, status: 'False', reason, severity: 'Info', message }
}

/** Work that has not started. */
export function conditionUnknown(type: string, message: string): ReportedCondition {
  return { type, status: 'Unknown', reason: 'Init', message }
}

/** Selects the condition that Ready repeats; undefined when the object is ready. */
export type ReadyRule = (conditions: readonly Condition[]) => Condition | undefined

/** infra-operator's rule: the first error, then the first condition that is not True. Warnings do not count. */
export const firstUnready: ReadyRule = (conditions) => {
  const unready = conditions.filter(({ status, severity }) => status !== 'True' && severity !== 'Warning')
  return unready.find(({ severity }) => severity === 'Error') ?? unready[0]
}

const SEVERITY_RANK: Readonly<Record<string, number>> = { Error: 0, Warning: 1, Info: 2 }

/** The data plane's rule: the worst severity, warnings included; Unknown last. */
export const worstSeverity: ReadyRule = (conditions) => {
  const rank = ({ status, severity }: Condition): number =>
    status === 'Unknown' ? 3 : (SEVERITY_RANK[severity ?? ''] ?? 2)
  return conditions
    .filter(({ status }) => status !== 'True')
    .toSorted((a, b) => rank(a) - rank(b))
    .at(0)
}

export function readyCondition(
  conditions: readonly Condition[],
  rule: ReadyRule,
  message = 'Setup complete',
): Condition {
  const unready = rule(conditions)
  return unready ? { ...unready, type: 'Ready' } : conditionTrue('Ready', message)
}

/** The conditions with their transition times: a condition that did not change keeps the time that it had. */
export function stampConditions(
  conditions: readonly Condition[],
  previous: readonly Condition[] | undefined,
  now: string,
): readonly Condition[] {
  const previousByType = new Map(previous?.map((condition) => [condition.type, condition]))
  return conditions.map((condition) => {
    const before = previousByType.get(condition.type)
    const time = before && isSameState(before, condition) ? before.lastTransitionTime : undefined
    return { ...condition, lastTransitionTime: time || now }
  })
}

function isSameState(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    (a.severity ?? '') === (b.severity ?? '')
  )
}

/** Ready first, because printer columns read the first condition; the rest by type. */
export function sortConditions<T extends Condition>(conditions: readonly T[]): readonly T[] {
  const order = ({ type }: T): string => (type === 'Ready' ? '' : type)
  return conditions.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
}

/** Puts Ready, by infra-operator's rule, before the given conditions, and sets the transition times of all. */
export function summarizeConditions(
  conditions: readonly Condition[],
  previous: readonly Condition[] | undefined,
  now: string,
): readonly Condition[] {
  return stampConditions([readyCondition(conditions, firstUnready), ...conditions], previous, now)
}
