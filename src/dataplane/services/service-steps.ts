/**
 * The steps of a service on its host: how each stands, and what they come to together.
 *
 * Gathers runs from the caches; `decide` does the rest.
 */

import { type ConditionState, conditionTrue, conditionWaiting } from '../conditions.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import type { Applied } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { DEPLOYMENT_READY, decisionCondition } from '../nodes/node-status.ts'
import { type Attempt, findAttempt, isServiceRun } from '../runs/attempts.ts'
import { decideStep, type RunDecision } from '../runs/decide-step.ts'
import type { ServiceDefinition, ServiceStep } from '../service-definitions/definition.ts'
import type { World } from '../world.ts'
import { hashServiceStep, type ServiceInputs } from './service-config.ts'
import type { ServiceState } from './service-state.ts'

export interface ServiceStepState {
  readonly step: ServiceStep
  readonly hash: string
  readonly decision: RunDecision
}

export interface ServiceStepInputs {
  readonly state: ServiceState
  readonly applied: Readonly<Record<string, Applied>>
  readonly blockedBy: string | undefined
  readonly host: string
  readonly now: number
}

export function decideSteps(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  { state, applied, blockedBy: first, host, now }: ServiceStepInputs,
): readonly ServiceStepState[] {
  const { namespace = '' } = service.metadata
  const { nodeView } = state
  const runs = serviceRuns(world, definition, namespace, host)
  const inputs = resolveInputs(service, state)
  let gate = first
  return definition.steps.map((step): ServiceStepState => {
    // Without all of its inputs no hash can be told, and nothing is done or out of date.
    const hash = inputs ? hashServiceStep(step, inputs) : ''
    const attempts = runs.flatMap((run): readonly Attempt[] => {
      const attempt = findAttempt(run, host, step.name)
      return attempt ? [attempt] : []
    })
    const decision = decideStep({
      desiredHash: hash,
      applied: applied[step.name],
      attempts,
      heldReason: (service.spec.deploy ?? true) ? undefined : 'deploy is false',
      policy: nodeView?.policy ?? 'auto',
      request: nodeView?.runRequest,
      blockedBy: gate,
      activeRun: world.runs.activeRun(namespace, host),
      retry: world.retry,
      now,
    })
    const held = hash === '' && decision.kind !== 'running' ? waitForInputs(decision, gate) : decision
    if (held.kind !== 'done') gate ??= `${step.name} comes first`
    return { step, hash, decision: held }
  })
}

/** Runs for this host that objects of this service asked for. */
export function serviceRuns(
  world: World,
  { annotation }: ServiceDefinition,
  namespace: string,
  host: string,
): readonly AnsibleRun[] {
  return world.runs.forHost(namespace, host).filter((run) => isServiceRun(run, annotation.kind))
}

/** Undefined while they are not all there. */
function resolveInputs(
  service: ServiceObject,
  { facts, inventory, nodeView }: ServiceState,
): ServiceInputs | undefined {
  if (!facts || !inventory) return undefined
  return {
    service,
    facts,
    inventory: inventory.text,
    runner: nodeView?.effective.runner,
    mounted: nodeView?.mountedHash,
    request: nodeView?.runRequest,
  }
}

/** Inputs that are not all there yet: whatever else would be said, they come first. */
function waitForInputs(decision: RunDecision, gate: string | undefined): RunDecision {
  return decision.kind === 'held' ? decision : { kind: 'wait', why: gate ?? 'its inputs are not complete' }
}

export function serviceDeploymentCondition(steps: readonly ServiceStepState[]): ConditionState {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  const { decision, step } = open
  if (decision.kind === 'running' || decision.kind === 'start')
    return conditionWaiting(DEPLOYMENT_READY, 'Deployment in progress')
  if (decision.kind === 'wait') return conditionWaiting(DEPLOYMENT_READY, decision.why)
  return decisionCondition(DEPLOYMENT_READY, step.name, decision)
}
