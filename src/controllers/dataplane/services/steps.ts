/**
 * The steps of a service on its host: how each stands, and what they come to together.
 *
 * Gathers runs from the caches; `decide` does the rest.
 */
import type { AnsibleRun } from '../../../api/ansibleee.ts'
import type { Applied } from '../../../api/dataplane.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import type { ServiceDefinition, ServiceStep } from '../../../node-services/definition.ts'
import { type Attempt, attemptOf, isOfService } from '../attempts.ts'
import { isTrue, type Told, waits } from '../conditions.ts'
import { type Decision, decide } from '../decide.ts'
import { DEPLOYMENT, decisionTold } from '../nodes/status.ts'
import type { World } from '../world.ts'
import { type ServiceInputs, serviceStepInputs } from './config.ts'
import type { Gathered } from './gather.ts'

export interface StepDecision {
  readonly step: ServiceStep
  readonly hash: string
  readonly decision: Decision
}

export interface Situation {
  readonly gathered: Gathered
  readonly applied: Readonly<Record<string, Applied>>
  readonly gate: string | undefined
  readonly host: string
  readonly now: number
}

export function decideSteps(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  { gathered, applied, gate: first, host, now }: Situation,
): readonly StepDecision[] {
  const { namespace = '' } = service.metadata
  const { node } = gathered
  const runs = runsOf(world, definition, namespace, host)
  const inputs = inputsOf(service, gathered)
  let gate = first
  return definition.steps.map((step): StepDecision => {
    // Without all of its inputs no hash can be told, and nothing is done or out of date.
    const hash = inputs ? serviceStepInputs(step, inputs) : ''
    const attempts = runs.flatMap((run): readonly Attempt[] => {
      const attempt = attemptOf(run, host, step.name)
      return attempt ? [attempt] : []
    })
    const decision = decide({
      wanted: hash,
      applied: applied[step.name],
      attempts,
      heldBy: (service.spec.deploy ?? true) ? undefined : 'deploy is false',
      policy: node?.policy ?? 'auto',
      request: node?.request,
      gate,
      busyWith: world.runs.touching(namespace, host),
      retry: world.retry,
      now,
    })
    const held = hash === '' && decision.kind !== 'running' ? waiting(decision, gate) : decision
    if (held.kind !== 'done') gate ??= `${step.name} comes first`
    return { step, hash, decision: held }
  })
}

/** Runs for this host that objects of this service asked for. */
export function runsOf(
  world: World,
  { annotation }: ServiceDefinition,
  namespace: string,
  host: string,
): readonly AnsibleRun[] {
  return world.runs.ofHost(namespace, host).filter((run) => isOfService(run, annotation.kind))
}

/** Undefined while they are not all there. */
function inputsOf(service: ServiceObject, { facts, inventory, node }: Gathered): ServiceInputs | undefined {
  if (!facts || !inventory) return undefined
  return {
    service,
    facts,
    inventory: inventory.text,
    runner: node?.effective.runner,
    mounted: node?.mounted,
    request: node?.request,
  }
}

/** Inputs that are not all there yet: whatever else would be said, they come first. */
function waiting(decision: Decision, gate: string | undefined): Decision {
  return decision.kind === 'held' ? decision : { kind: 'wait', why: gate ?? 'its inputs are not complete' }
}

export function deploymentOf(steps: readonly StepDecision[]): Told {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return isTrue(DEPLOYMENT, 'Deployment completed')
  const { decision, step } = open
  if (decision.kind === 'running' || decision.kind === 'start')
    return waits(DEPLOYMENT, 'Deployment in progress')
  if (decision.kind === 'wait') return waits(DEPLOYMENT, decision.why)
  return decisionTold(DEPLOYMENT, step.name, decision)
}
