/**
 * The rules that hold for any object with a status: generation, Stalled and Reconciling, Ready.
 *
 * They follow kstatus, with lib-common's `severity` on top: an Error that lasts is a failure, a young one is not,
 * because these operators report as Error what the next reconcile may mend.
 */
import type { Condition, KubeObject } from '../../api/object.ts'
import {
  conditionOf,
  conditionsOf,
  describeCommand,
  nameOf,
  numberAt,
  sinceMs,
} from '../../api/raw-object.ts'
import {
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

/** What is wrong before any status may be believed; undefined when the status is of this generation. */
export function unsettled(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = numberAt(object, 'status', 'observedGeneration')
  if (generation !== undefined && observed !== undefined && observed < generation)
    return progressing(`the controller of ${nameOf(object)} to see generation ${generation}`)
  return undefined
}

/** Objects whose controller says Ready: without that word they are not ready. */
export const readyCondition: ReadinessRule = (object, context) =>
  unsettled(object) ?? stalled(object) ?? byCondition(object, 'Ready', context)

/** Objects that may have a Ready condition or none at all: what says nothing is as ready as it can be. */
export const anyObject: ReadinessRule = (object, context) => {
  const early = unsettled(object) ?? stalled(object)
  if (early) return early
  const reconciling = conditionOf(object, 'Reconciling')
  if (reconciling?.status === 'True') return progressing(say(object, reconciling))
  return conditionOf(object, 'Ready') ? byCondition(object, 'Ready', context) : ready
}

function stalled(object: KubeObject): Readiness | undefined {
  const condition = conditionOf(object, 'Stalled')
  return condition?.status === 'True' ? failed(say(object, condition), describeCommand(object)) : undefined
}

export function byCondition(object: KubeObject, type: string, context: ReadinessContext): Readiness {
  const condition = conditionOf(object, type)
  if (!condition) return progressing(`${nameOf(object)} to report ${type}`)
  if (isStale(object, condition))
    return progressing(`${nameOf(object)} to report ${type} for generation ${object.metadata.generation}`)
  if (condition.status === 'True') return ready
  const culprit = culpritOf(object, condition)
  const lasting = lastingError(object, context)
  return lasting ? failed(say(object, lasting), describeCommand(object)) : progressing(say(object, culprit))
}

function isStale(object: KubeObject, { observedGeneration }: Condition): boolean {
  const { generation } = object.metadata
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
}

/** An error that has lasted, nearest to the cause: not the summary, which only repeats it. */
export function lastingError(
  object: KubeObject,
  { now, grace }: Pick<ReadinessContext, 'now' | 'grace'>,
): Condition | undefined {
  const errors = conditionsOf(object).filter(
    ({ status, severity, lastTransitionTime }) =>
      status !== 'True' && severity === 'Error' && sinceMs(lastTransitionTime, now) >= grace.errorMs,
  )
  return errors.find(({ type }) => type !== 'Ready') ?? errors[0]
}

/** The summary only mirrors another condition: that one has the better words. */
function culpritOf(object: KubeObject, summary: Condition): Condition {
  const open = conditionsOf(object).filter((one) => one.status !== 'True' && one.type !== summary.type)
  return (
    open.find(({ severity }) => severity === 'Error') ?? (summary.message ? summary : (open[0] ?? summary))
  )
}

/** `OpenStackControlPlane openstack/openstack: RabbitMQ in progress (OpenStackControlPlaneRabbitMQReady)`. */
export function say(object: KubeObject, { type, reason, message }: Condition): string {
  const words = message || reason || 'no reason given'
  return `${nameOf(object)}: ${words} (${type})`
}
