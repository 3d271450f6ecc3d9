/**
 * Conditions as lib-common has them: Ready first, the rest by type, each with the time of its last change.
 *
 * Pure. `Ready` is made of the others: true when all are, otherwise the worst of them speaks for all.
 */
import type { Condition } from '../api/object.ts'
import type { Finding } from '../errors/finding.ts'

/** What is told of one aspect; when it began is found out by comparing. */
export interface ConditionState {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  /** Only where the status is False. */
  readonly severity?: 'Error' | 'Warning' | 'Info'
}

export function conditionTrue(type: string, message: string): ConditionState {
  return { type, status: 'True', reason: 'Ready', message }
}

/** It goes on by itself: something of ours or of another operator is still to come. */
export function conditionWaiting(type: string, message: string, reason = 'Requested'): ConditionState {
  return { type, status: 'False', severity: 'Info', reason, message }
}

/** Nobody asked for it. */
export function conditionNotRequested(type: string, message: string): ConditionState {
  return { type, status: 'False', severity: 'Info', reason: 'NotRequested', message }
}

/** A person has to do something. */
export function conditionError(type: string, { message, remedy, code }: Finding, reason = 'Error'): ConditionState {
  return { type, status: 'False', severity: 'Error', reason, message: `${message} (${code}: ${remedy})` }
}

export function conditionUnknown(type: string, message: string): ConditionState {
  return { type, status: 'Unknown', reason: 'Init', message }
}

const SEVERITY_RANK: Readonly<Record<string, number>> = { Error: 0, Warning: 1, Info: 2 }

/** Ready, out of all the others: `done` is what it says when nothing is missing. */
export function summarizeReady(others: readonly ConditionState[], done: string): ConditionState {
  const bad = others
    .filter(({ status }) => status !== 'True')
    .toSorted((a, b) => rank(a) - rank(b))
    .at(0)
  return bad ? { ...bad, type: 'Ready' } : conditionTrue('Ready', done)
}

function rank({ status, severity }: ConditionState): number {
  return status === 'Unknown' ? 3 : (SEVERITY_RANK[severity ?? ''] ?? 2)
}

/** The list as it is stored: what says the same as before keeps its time. */
export function stampConditions(
  told: readonly ConditionState[],
  before: readonly Condition[] | undefined,
  now: string,
): readonly Condition[] {
  const known = new Map((before ?? []).map((condition) => [condition.type, condition]))
  const order = (type: string): string => (type === 'Ready' ? '' : type)
  return told
    .toSorted((a, b) => (order(a.type) < order(b.type) ? -1 : 1))
    .map((told) => {
      const old = known.get(told.type)
      const same =
        old?.status === told.status &&
        old.reason === told.reason &&
        old.message === told.message &&
        (old.severity ?? '') === (told.severity ?? '')
      return { ...told, lastTransitionTime: (same && old.lastTransitionTime) || now }
    })
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}
