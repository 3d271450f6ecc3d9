/** Conditions as operators write them: a time of transition that moves only when the status does. Pure. */

export interface SimulatedCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export type ConditionTuple = readonly [
  type: string,
  status: SimulatedCondition['status'],
  reason: string,
  message?: string | undefined,
]

/** The conditions as wanted, in the order of the types; unchanged ones keep their times. */
export function updateConditions(
  before: readonly SimulatedCondition[],
  wanted: readonly ConditionTuple[],
  now: string,
): readonly SimulatedCondition[] {
  return wanted.map(([type, status, reason, message = '']) => {
    const old = before.find((actedCondition) => actedCondition.type === type)
    const same = old?.status === status
    const unchanged = same && old.reason === reason && (old.message ?? '') === message
    if (unchanged) return old
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: (same && old.lastTransitionTime) || now,
    }
  })
}
