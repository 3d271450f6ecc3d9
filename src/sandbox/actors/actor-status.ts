/** Writes objects and statuses for actors, only when they differ, so that an idle cluster has no writes. */
import { type Condition, formatTimestamp, type KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'

/** Creates an object if it does not exist; never changes an existing one. */
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

/** Skips the write when the status is unchanged. */
export async function writeStatus(
  client: KubeClient,
  live: KubeObject,
  status: Readonly<Record<string, unknown>>,
  fieldManager: string,
): Promise<void> {
  const before = (live['status'] ?? {}) as Readonly<Record<string, unknown>>
  const { conditions, ...rest } = status
  const same =
    Object.entries(rest).every(([key, value]) => sameJson(before[key], value)) &&
    sameConditions(before['conditions'], conditions)
  if (same) return
  const next = { ...before, ...status, ...(conditions !== undefined && { conditions }) }
  await client.update({ ...live, status: next }, { subresource: 'status', fieldManager }).catch((thrown: unknown) => {
    // Another writer was faster, or the object was deleted: the next reconcile handles it.
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

/** Conditions of an object's status with transition times, for operators that use lib-common. */
export function withTransitionTimes(
  live: KubeObject,
  desired: readonly Omit<Condition, 'lastTransitionTime'>[],
  now: number,
): readonly Condition[] {
  const before = (live['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []
  return keepTransitionTimes(before, desired, formatTimestamp(now))
}

export type ConditionTuple = readonly [
  type: string,
  status: Condition['status'],
  reason: string,
  message?: string | undefined,
]

export function updateConditions(
  before: readonly Condition[],
  desired: readonly ConditionTuple[],
  now: string,
): readonly Condition[] {
  const conditions = desired.map(([type, status, reason, message = '']) => ({ type, status, reason, message }))
  return keepTransitionTimes(before, conditions, now)
}

/** The transition time changes only with the status; an unchanged condition is returned as it is. */
function keepTransitionTimes(
  before: readonly Condition[],
  desired: readonly Omit<Condition, 'lastTransitionTime'>[],
  now: string,
): readonly Condition[] {
  return desired.map((condition) => {
    const old = before.find(({ type }) => type === condition.type)
    if (old?.status !== condition.status) return { ...condition, lastTransitionTime: now }
    const unchanged =
      old.reason === condition.reason &&
      (old.message ?? '') === (condition.message ?? '') &&
      old.severity === condition.severity
    return unchanged ? old : { ...condition, lastTransitionTime: old.lastTransitionTime ?? now }
  })
}
