/**
 * Builds the status of a node: phases -1 and 0 in upstream's conditions, phase 1 in one condition of its own.
 *
 * Pure. Ready covers phases -1 and 0 only: they need no control plane.
 */
import type { Condition } from '../../api/object.ts'
import {
  conditionForFinding,
  conditionRequested,
  conditionTrue,
  readyCondition,
  worstSeverity,
} from '../../controllers/kit/conditions.ts'
import { finding } from '../../errors/finding.ts'
import { knownHostKeys } from '../execution/host-keys.ts'
import { runsExhausted } from '../findings/data-plane.ts'
import type { DataPlaneNodeStatus } from '../kinds/data-plane.ts'
import type { RunDecision } from '../runs/decide-step.ts'
import { nodeInventoryName } from './inventory.ts'
import type { ProvisionState } from './node-ipset.ts'
import type { NodeView } from './node-view.ts'
import type { StepState } from './phase-zero.ts'

export const DEPLOYMENT_READY = 'DeploymentReady'
export const SETUP_READY = 'SetupReady'
export const MACHINE_READY = 'BaremetalProvisionReady'
const ADDRESSES_READY = 'NodeIPReservationReady'
const DNS_READY = 'NodeDNSDataReady'
/** Ours: upstream has no condition for phase 1. */
export const SERVICES_READY = 'ServicesReady'

export function conditionNotRequested(type: string, message: string): Condition {
  return conditionRequested(type, message, 'NotRequested')
}

/** `removal` is how far a node that is being deleted is cleared. */
export function nodeConditions(view: NodeView, services: Condition, removal?: Condition): readonly Condition[] {
  const { problems, machine, phaseZero } = view
  const conditions = [
    setupCondition(problems[0]),
    ...provisionConditions(ADDRESSES_READY, 'Addresses granted', view.addressState),
    ...provisionConditions(DNS_READY, 'Names registered', view.dnsState),
    ...provisionConditions(MACHINE_READY, 'Machine provisioned', machine),
    deploymentCondition(phaseZero.steps, view.waitsForRun),
    ...phaseZero.steps.map(stepReadyCondition),
    ...(removal ? [removal] : []),
  ]
  return [readyCondition(conditions, worstSeverity, 'DataPlaneNode ready'), ...conditions, services]
}

export function setupCondition(problem: NodeView['problems'][number] | undefined): Condition {
  return problem ? conditionForFinding(SETUP_READY, problem) : conditionTrue(SETUP_READY, 'Setup complete')
}

function provisionConditions(
  type: string,
  doneMessage: string,
  state: ProvisionState | NodeView['machine'],
): readonly Condition[] {
  if (state.kind === 'not-needed') return []
  return [state.kind === 'awaited' ? conditionRequested(type, state.why) : conditionTrue(type, doneMessage)]
}

function stepReadyCondition({ step, decision }: StepState): Condition {
  // Upstream's type, spaces included.
  const type = `${step.name} service ready`
  return step.kind === 'unknown'
    ? conditionForFinding(type, step.finding)
    : decisionCondition(type, step.name, decision)
}

/** What was decided about a step, as its own condition or as that of the deployment. */
export function decisionCondition(type: string, step: string, decision: RunDecision): Condition {
  switch (decision.kind) {
    case 'done':
      return conditionTrue(type, `${step} service ready`)
    case 'held':
      return conditionNotRequested(type, `Deployment not started: ${decision.why}`)
    case 'out-of-date':
      return conditionRequested(type, `${step} was deployed with other inputs: ${decision.why}`, 'OutOfDate')
    case 'running':
      return decision.why === undefined
        ? conditionRequested(type, `${step} service not yet ready`)
        : conditionStalled(type, decision.run, decision.why)
    case 'start':
      return conditionRequested(type, `${step} service not yet ready`)
    case 'wait':
      return conditionRequested(type, `${step} service not yet ready: ${decision.why}`)
    case 'pause': {
      const { attempt, tried } = decision
      const cause = `${attempt.why ?? 'it failed'} (${attempt.run})`
      const message = `Service error occurred ${cause}; ${tried} attempts failed, the next one follows`
      return { type, status: 'False', severity: 'Warning', reason: 'Error', message }
    }
    case 'backed-off': {
      const { attempt, tried } = decision
      const facts = { step, attempts: tried, run: attempt.run, why: attempt.why ?? 'it failed' }
      return conditionForFinding(type, finding(runsExhausted, facts), 'BackoffLimitExceeded')
    }
  }
}

function conditionStalled(type: string, run: string, why: string): Condition {
  return {
    type,
    status: 'False',
    severity: 'Warning',
    reason: 'Requested',
    message: `${run} makes no progress: ${why}`,
  }
}

/** The first step that is not done decides. `waitsForRun` is the run of the role that has to end first. */
export function deploymentCondition(steps: readonly StepState[], waitsForRun?: string): Condition {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  const { step, decision } = open
  if (step.kind === 'unknown') return conditionForFinding(DEPLOYMENT_READY, step.finding)
  if (decision.kind === 'start' && waitsForRun !== undefined)
    return conditionRequested(
      DEPLOYMENT_READY,
      `Waiting for run ${waitsForRun} of its role, which does not include this node`,
    )
  return isProgressing(decision)
    ? conditionRequested(DEPLOYMENT_READY, 'Deployment in progress')
    : decisionCondition(DEPLOYMENT_READY, step.name, decision)
}

/** A run that makes no progress has a reason of its own. */
export function isProgressing(decision: RunDecision): boolean {
  return decision.kind === 'start' || (decision.kind === 'running' && decision.why === undefined)
}

export function nodeStatus({ node, machine, phaseZero }: NodeView): Omit<DataPlaneNodeStatus, 'conditions'> {
  const { generation, name } = node.metadata
  const hostKeys = knownHostKeys(node)
  const host = 'host' in machine ? machine.host : undefined
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    inventorySecretName: nodeInventoryName(name),
    deployed: (node.status?.deployed ?? false) || phaseZero.isDone,
    ...(host && { bareMetalHost: `${host.metadata.namespace}/${host.metadata.name}` }),
    ...(hostKeys && { sshHostKeys: hostKeys }),
    ...(Object.keys(phaseZero.applied).length > 0 && { applied: phaseZero.applied }),
  }
}
