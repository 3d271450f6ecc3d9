/**
 * The status of a node and of a role: phases -1 and 0 in conditions, in upstream's words; phase 1 in one of its own.
 *
 * Pure. Ready means phases -1 and 0 only: they need no control plane.
 */

import { finding } from '../../errors/finding.ts'
import {
  type ConditionState,
  conditionError,
  conditionNotRequested,
  conditionTrue,
  conditionWaiting,
  summarizeReady,
} from '../conditions.ts'
import { runsExhausted } from '../findings/data-plane.ts'
import type { DataPlaneNodeStatus } from '../kinds/node.ts'
import type { RunDecision } from '../runs/decide-step.ts'
import { nodeInventoryName } from './inventory.ts'
import type { ProvisionState } from './node-ipset.ts'
import type { NodeView } from './node-view.ts'
import type { StepState } from './phase-zero.ts'

export const DEPLOYMENT_READY = 'DeploymentReady'
export const SETUP_READY = 'SetupReady'
export const MACHINE_READY = 'BaremetalProvisionReady'
/** Upstream's names for them, as far as it had any for a single node. */
const ADDRESSES_READY = 'NodeIPReservationReady'
const DNS_READY = 'NodeDNSDataReady'
export const SERVICES_READY = 'ServicesReady'

/** Upstream's name for it, spaces included. */
function stepCondition(step: string): string {
  return `${step} service ready`
}

export function nodeConditions(view: NodeView, services: ConditionState): readonly ConditionState[] {
  const { problems, machine, phaseZero } = view
  const [problem] = problems
  const setup = problem ? conditionError(SETUP_READY, problem) : conditionTrue(SETUP_READY, 'Setup complete')
  const provisioned =
    machine.kind === 'not-needed'
      ? []
      : [
          machine.kind === 'provisioned'
            ? conditionTrue(MACHINE_READY, 'Machine provisioned')
            : conditionWaiting(MACHINE_READY, machine.why),
        ]
  const steps = phaseZero.steps.map(stepReadyCondition)
  const deployment = deploymentCondition(phaseZero.steps, view.waitsForRun)
  const network = [
    ...provisionConditions(ADDRESSES_READY, 'Addresses granted', view.addressState),
    ...provisionConditions(DNS_READY, 'Names registered', view.dnsState),
  ]
  const all = [setup, ...network, ...provisioned, deployment, ...steps]
  return [summarizeReady(all, 'DataPlaneNode ready'), ...all, services]
}

function provisionConditions(type: string, done: string, provision: ProvisionState): readonly ConditionState[] {
  if (provision.kind === 'not-needed') return []
  return [provision.kind === 'there' ? conditionTrue(type, done) : conditionWaiting(type, provision.why)]
}

function stepReadyCondition({ step, decision }: StepState): ConditionState {
  const type = stepCondition(step.name)
  return step.kind === 'unknown' ? conditionError(type, step.finding) : decisionCondition(type, step.name, decision)
}

/** What is decided about a step, as a condition of its own or of the whole. */
export function decisionCondition(type: string, step: string, decision: RunDecision): ConditionState {
  switch (decision.kind) {
    case 'done':
      return conditionTrue(type, `${step} service ready`)
    case 'held':
      return conditionNotRequested(type, `Deployment not started: ${decision.why}`)
    case 'out-of-date':
      return conditionWaiting(type, `${step} was deployed with other inputs: ${decision.why}`, 'OutOfDate')
    case 'running':
    case 'start':
      return conditionWaiting(type, `${step} service not yet ready`)
    case 'wait':
      return conditionWaiting(type, `${step} service not yet ready: ${decision.why}`)
    case 'pause': {
      const { attempt, tried } = decision
      const message = `Service error occurred ${attempt.why ?? 'it failed'} (${attempt.run}); ${tried} of its attempts failed, the next one follows`
      return { type, status: 'False', severity: 'Warning', reason: 'Error', message }
    }
    case 'backed-off': {
      const { attempt, tried } = decision
      const facts = { step, attempts: tried, run: attempt.run, why: attempt.why ?? 'it failed' }
      return conditionError(type, finding(runsExhausted, facts), 'BackoffLimitExceeded')
    }
  }
}

/** All steps as one: the first that is not done speaks. `behind`: the run that comes before its own. */
export function deploymentCondition(steps: readonly StepState[], behind?: string): ConditionState {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  if (open.step.kind === 'unknown') return conditionError(DEPLOYMENT_READY, open.step.finding)
  if (open.decision.kind === 'start' && behind !== undefined)
    return conditionWaiting(DEPLOYMENT_READY, `Waiting for run ${behind} of its role, which this node is not in`)
  const told = decisionCondition(DEPLOYMENT_READY, open.step.name, open.decision)
  return open.decision.kind === 'running' || open.decision.kind === 'start'
    ? conditionWaiting(DEPLOYMENT_READY, 'Deployment in progress')
    : told
}

export function nodeStatus(view: NodeView): Omit<DataPlaneNodeStatus, 'conditions'> {
  const { node, machine, phaseZero } = view
  const { generation, name } = node.metadata
  const host = 'host' in machine ? machine.host : undefined
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    inventorySecretName: nodeInventoryName(name),
    deployed: (node.status?.deployed ?? false) || phaseZero.isDone,
    ...(host && { bareMetalHost: `${host.metadata.namespace}/${host.metadata.name}` }),
    ...(Object.keys(phaseZero.applied).length > 0 && { applied: phaseZero.applied }),
  }
}
