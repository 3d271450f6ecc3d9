/**
 * Readiness of any object with conditions. Follows kstatus and the `severity` of lib-common: only a persistent Error is a
 * failure, because operators also report errors that the next reconcile may fix.
 */
import type { Condition, KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, formatObjectName, getConditions, getNumber } from '../../api/raw-object.ts'
import { fieldDifferences } from '../field-differences.ts'
import {
  errorAgeMs,
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

/** Progressing when the status belongs to an older generation. */
export function outdatedStatus(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = getNumber(object, 'status', 'observedGeneration')
  if (generation !== undefined && observed !== undefined && observed < generation)
    return progressing(`the controller of ${formatObjectName(object)} to see generation ${generation}`)
  return undefined
}

/** For objects whose controller always sets Ready. */
export const readyCondition: ReadinessRule = (object, context) =>
  outdatedStatus(object) ?? stalledReadiness(object) ?? conditionReadiness(object, 'Ready', context)

/** For objects that may have no Ready condition: without conditions they are ready. */
export const genericReadiness: ReadinessRule = (object, context) => {
  const early = outdatedStatus(object) ?? stalledReadiness(object)
  if (early) return early
  const reconciling = findCondition(object, 'Reconciling')
  if (reconciling?.status === 'True') return progressing(formatCondition(object, reconciling))
  return findCondition(object, 'Ready') ? conditionReadiness(object, 'Ready', context) : ready
}

function stalledReadiness(object: KubeObject): Readiness | undefined {
  const condition = findCondition(object, 'Stalled')
  return condition?.status === 'True' ? failed(formatCondition(object, condition), describeCommand(object)) : undefined
}

export function conditionReadiness(object: KubeObject, type: string, context: ReadinessContext): Readiness {
  const condition = findCondition(object, type)
  if (!condition) return progressing(`${formatObjectName(object)} to report ${type}`)
  if (isStale(object, condition))
    return progressing(`${formatObjectName(object)} to report ${type} for generation ${object.metadata.generation}`)
  if (condition.status === 'True') return ready
  const underlying = findUnderlyingCondition(object, condition)
  const persistent = persistentError(object, context)
  return persistent
    ? failed(formatCondition(object, persistent), describeCommand(object))
    : progressing(formatCondition(object, underlying))
}

function isStale(object: KubeObject, { observedGeneration }: Condition): boolean {
  const { generation } = object.metadata
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
}

/** A persistent error, preferably not `Ready`, which only repeats another condition. */
export function persistentError(
  object: KubeObject,
  context: Pick<ReadinessContext, 'now' | 'grace' | 'since'>,
): Condition | undefined {
  const errors = getConditions(object).filter(
    ({ status, severity, lastTransitionTime }) =>
      status !== 'True' && severity === 'Error' && errorAgeMs(lastTransitionTime, context) >= context.grace.errorMs,
  )
  return errors.find(({ type }) => type !== 'Ready') ?? errors[0]
}

/** The summary condition mirrors another condition, which has a better message. */
function findUnderlyingCondition(object: KubeObject, summary: Condition): Condition {
  const open = getConditions(object).filter(
    (condition) => condition.status !== 'True' && condition.type !== summary.type,
  )
  return open.find(({ severity }) => severity === 'Error') ?? (summary.message ? summary : (open[0] ?? summary))
}

/** `OpenStackControlPlane openstack/openstack: RabbitMQ in progress (OpenStackControlPlaneRabbitMQReady)`. */
export function formatCondition(object: KubeObject, { type, reason, message }: Condition): string {
  const text = message || reason || 'no reason given'
  return `${formatObjectName(object)}: ${text} (${type})`
}

/** For kinds without a status, such as MetalLB configuration: ready when the live object has the applied fields. */
export const readBackReadiness: ReadinessRule = (live, { desired }) => {
  if (!desired) return ready
  const [first] = fieldDifferences(desired, live)
  return first ? progressing(`${formatObjectName(live)} to have ${first.path} as applied`) : ready
}
