/** Conditions in lib-common's form, with the one that sums up the others in front. Pure. */
import type { Condition } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'

export function conditionTrue(type: string, message: string): Condition {
  return { type, status: 'True', reason: 'Ready', message }
}

export function conditionError(type: string, message: string): Condition {
  return { type, status: 'False', reason: 'Error', severity: 'Error', message }
}

export function conditionRequested(type: string, message: string): Condition {
  return { type, status: 'False', reason: 'Requested', severity: 'Info', message }
}

/** Nobody has begun yet. */
export function conditionUnknown(type: string, message: string): Condition {
  return { type, status: 'Unknown', reason: 'Init', message }
}

/** Something is not as it should be, and the rest goes on. */
export function conditionWarning(type: string, message: string): Condition {
  return { type, status: 'False', reason: 'Warning', severity: 'Warning', message }
}

/** Ready first, because printer columns read the first; an error before what is only waited for. */
export function summarizeConditions(
  conditions: readonly Condition[],
  before: readonly Condition[] | undefined,
  now: string,
): readonly Condition[] {
  const bad = conditions.filter((condition) => condition.status !== 'True' && condition.severity !== 'Warning')
  const worst = bad.find((condition) => condition.severity === 'Error') ?? bad[0]
  const ready: Condition = worst ? { ...worst, type: 'Ready' } : conditionTrue('Ready', 'Setup complete')
  return [ready, ...conditions].map((condition) => keepTransitionTime(condition, before ?? [], now))
}

/** A condition that says what it said before keeps its time. */
function keepTransitionTime(condition: Condition, before: readonly Condition[], now: string): Condition {
  const { lastTransitionTime, ...said } =
    before.find((one) => one.type === condition.type) ?? ({} as Partial<Condition>)
  return { ...condition, lastTransitionTime: sameJson(said, condition) ? (lastTransitionTime ?? now) : now }
}
