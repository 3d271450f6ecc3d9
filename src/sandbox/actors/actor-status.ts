/** How actors write: only what differs, as operators do, so that a quiet world stays quiet. */
import { type Condition, formatTimestamp, type KubeObject } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'

/** Creates what is missing; an object that is there is left to whoever changes it. */
export async function createMissing(
  client: KubeClient,
  live: KubeObject | undefined,
  wanted: KubeObject,
  fieldManager: string,
): Promise<void> {
  if (live) return
  await client.create(wanted, { fieldManager }).catch((thrown: unknown) => {
    if (!isApiError(thrown, 'already-exists')) throw thrown
  })
}

/** A status that says the same is not written again. */
export async function writeStatus(
  client: KubeClient,
  live: KubeObject,
  status: Readonly<Record<string, unknown>>,
  fieldManager: string,
): Promise<void> {
  const before = (live['status'] ?? {}) as Readonly<Record<string, unknown>>
  const { conditions, ...rest } = status
  const same =
    Object.entries(rest).every(([key, value]) => JSON.stringify(before[key]) === JSON.stringify(value)) &&
    sameConditions(before['conditions'], conditions)
  if (same) return
  const next = { ...before, ...status, ...(conditions !== undefined && { conditions }) }
  await client.update({ ...live, status: next }, { subresource: 'status', fieldManager }).catch((thrown: unknown) => {
    // Somebody was faster, or it is gone: the next look sees it.
    if (!isApiError(thrown, 'conflict', 'not-found')) throw thrown
  })
}

function sameConditions(before: unknown, after: unknown): boolean {
  return JSON.stringify(comparableConditions(before)) === JSON.stringify(comparableConditions(after))
}

function comparableConditions(conditions: unknown): unknown {
  if (!Array.isArray(conditions)) return []
  return (conditions as readonly Condition[]).map(({ type, status, reason, message, severity }) => [
    type,
    status,
    reason,
    message,
    severity,
  ])
}

/** Conditions in lib-common's form; a transition keeps its time while the status stays. */
export function withTransitionTimes(
  live: KubeObject,
  wanted: readonly Omit<Condition, 'lastTransitionTime'>[],
  now: number,
): readonly Condition[] {
  const before = ((live['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []).map(
    (condition) => [condition.type, condition] as const,
  )
  const known = new Map(before)
  return wanted.map((condition) => {
    const old = known.get(condition.type)
    const time = old && old.status === condition.status ? old.lastTransitionTime : undefined
    return { ...condition, lastTransitionTime: time ?? formatTimestamp(now) }
  })
}

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
