/** Conditions as operators write them: a time of transition that moves only when the status does. Pure. */

export interface ActedCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export type WantedCondition = readonly [
  type: string,
  status: ActedCondition['status'],
  reason: string,
  message?: string | undefined,
]

/** The conditions as wanted, in the order of the types; unchanged ones keep their times. */
export function conditionsAfter(
  before: readonly ActedCondition[],
  wanted: readonly WantedCondition[],
  now: string,
): readonly ActedCondition[] {
  return wanted.map(([type, status, reason, message = '']) => {
    const old = before.find((one) => one.type === type)
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
