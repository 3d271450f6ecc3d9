/**
 * The rules that hold for any object with a status: generation, Stalled and Reconciling, Ready.
 *
 * They follow kstatus, with lib-common's `severity` on top: an Error that lasts is a failure, a young one is not,
 * because these operators report as Error what the next reconcile may mend.
 */
import type { Condition, KubeObject } from '../../api/object.ts'
import {
  ageMs,
  describeCommand,
  findCondition,
  formatObjectName,
  getConditions,
  getNumber,
} from '../../api/raw-object.ts'
import { fieldDifferences } from '../field-differences.ts'
import { failed, progressing, type Readiness, type ReadinessContext, type ReadinessRule, ready } from './verdict.ts'

/** What is wrong before any status may be believed; undefined when the status is of this generation. */
export function outdatedStatus(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = getNumber(object, 'status', 'observedGeneration')
  if (generation !== undefined && observed !== undefined && observed < generation)
    return progressing(`the controller of ${formatObjectName(object)} to see generation ${generation}`)
  return undefined
}

/** Objects whose controller says Ready: without that word they are not ready. */
export const readyCondition: ReadinessRule = (object, context) =>
  outdatedStatus(object) ?? stalledReadiness(object) ?? conditionReadiness(object, 'Ready', context)

/** Objects that may have a Ready condition or none at all: what says nothing is as ready as it can be. */
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
  const culprit = findUnderlyingCondition(object, condition)
  const lasting = persistentError(object, context)
  return lasting
    ? failed(formatCondition(object, lasting), describeCommand(object))
    : progressing(formatCondition(object, culprit))
}

function isStale(object: KubeObject, { observedGeneration }: Condition): boolean {
  const { generation } = object.metadata
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
}

/** An error that has lasted, nearest to the cause: not the summary, which only repeats it. */
export function persistentError(
  object: KubeObject,
  { now, grace }: Pick<ReadinessContext, 'now' | 'grace'>,
): Condition | undefined {
  const errors = getConditions(object).filter(
    ({ status, severity, lastTransitionTime }) =>
      status !== 'True' && severity === 'Error' && ageMs(lastTransitionTime, now) >= grace.errorMs,
  )
  return errors.find(({ type }) => type !== 'Ready') ?? errors[0]
}

/** The summary only mirrors another condition: that one has the better words. */
function findUnderlyingCondition(object: KubeObject, summary: Condition): Condition {
  const open = getConditions(object).filter(
    (condition) => condition.status !== 'True' && condition.type !== summary.type,
  )
  return open.find(({ severity }) => severity === 'Error') ?? (summary.message ? summary : (open[0] ?? summary))
}

/** `OpenStackControlPlane openstack/openstack: RabbitMQ in progress (OpenStackControlPlaneRabbitMQReady)`. */
export function formatCondition(object: KubeObject, { type, reason, message }: Condition): string {
  const words = message || reason || 'no reason given'
  return `${formatObjectName(object)}: ${words} (${type})`
}

export const readBackReadiness: ReadinessRule = (live, { desired }) => {
  if (!desired) return ready
  const [first] = fieldDifferences(desired, live)
  return first ? progressing(`${formatObjectName(live)} to hold ${first.path} as planned`) : ready
}
