/**
 * The status of a node and of a role: phases -1 and 0 in conditions, in upstream's words; phase 1 in one of its own.
 *
 * Pure. Ready means phases -1 and 0 only: they need no control plane.
 */
import type { DataPlaneNodeStatus } from '../../../api/dataplane-node.ts'
import { runsExhausted } from '../../../errors/dataplane.ts'
import { finding } from '../../../errors/finding.ts'
import { isTrue, isWrong, notRequested, readyOf, type Told, waits } from '../conditions.ts'
import type { Decision } from '../decide.ts'
import { nodeInventoryName } from '../inventory.ts'
import type { Provision } from './host-network.ts'
import type { StepStanding } from './phase-zero.ts'
import type { NodeView } from './view.ts'

export const DEPLOYMENT = 'DeploymentReady'
export const SETUP = 'SetupReady'
export const MACHINE = 'BaremetalProvisionReady'
/** Upstream's names for them, as far as it had any for a single node. */
const ADDRESSES = 'NodeIPReservationReady'
const NAMES = 'NodeDNSDataReady'
export const SERVICES = 'ServicesReady'

/** Upstream's name for it, spaces included. */
function stepCondition(step: string): string {
  return `${step} service ready`
}

export function nodeConditions(view: NodeView, services: Told): readonly Told[] {
  const { problems, machine, phaseZero } = view
  const [problem] = problems
  const setup = problem ? isWrong(SETUP, problem) : isTrue(SETUP, 'Setup complete')
  const provisioned =
    machine.kind === 'not-needed'
      ? []
      : [
          machine.kind === 'provisioned'
            ? isTrue(MACHINE, 'Machine provisioned')
            : waits(MACHINE, machine.why),
        ]
  const steps = phaseZero.steps.map(stepTold)
  const deployment = deploymentTold(phaseZero.steps, view.behind)
  const network = [
    ...provisionTold(ADDRESSES, 'Addresses granted', view.network),
    ...provisionTold(NAMES, 'Names registered', view.names),
  ]
  const all = [setup, ...network, ...provisioned, deployment, ...steps]
  return [readyOf(all, 'DataPlaneNode ready'), ...all, services]
}

function provisionTold(type: string, done: string, provision: Provision): readonly Told[] {
  if (provision.kind === 'not-needed') return []
  return [provision.kind === 'there' ? isTrue(type, done) : waits(type, provision.why)]
}

function stepTold({ step, decision }: StepStanding): Told {
  const type = stepCondition(step.name)
  return step.kind === 'unknown' ? isWrong(type, step.finding) : decisionTold(type, step.name, decision)
}

/** What is decided about a step, as a condition of its own or of the whole. */
export function decisionTold(type: string, step: string, decision: Decision): Told {
  switch (decision.kind) {
    case 'done':
      return isTrue(type, `${step} service ready`)
    case 'held':
      return notRequested(type, `Deployment not started: ${decision.why}`)
    case 'out-of-date':
      return waits(type, `${step} was deployed with other inputs: ${decision.why}`, 'OutOfDate')
    case 'running':
    case 'start':
      return waits(type, `${step} service not yet ready`)
    case 'wait':
      return waits(type, `${step} service not yet ready: ${decision.why}`)
    case 'pause': {
      const { attempt, tried } = decision
      const message = `Service error occurred ${attempt.why ?? 'it failed'} (${attempt.run}); ${tried} of its attempts failed, the next one follows`
      return { type, status: 'False', severity: 'Warning', reason: 'Error', message }
    }
    case 'backed-off': {
      const { attempt, tried } = decision
      const facts = { step, attempts: tried, run: attempt.run, why: attempt.why ?? 'it failed' }
      return isWrong(type, finding(runsExhausted, facts), 'BackoffLimitExceeded')
    }
  }
}

/** All steps as one: the first that is not done speaks. `behind`: the run that comes before its own. */
export function deploymentTold(steps: readonly StepStanding[], behind?: string): Told {
  const open = steps.find(({ decision }) => decision.kind !== 'done')
  if (!open) return isTrue(DEPLOYMENT, 'Deployment completed')
  if (open.step.kind === 'unknown') return isWrong(DEPLOYMENT, open.step.finding)
  if (open.decision.kind === 'start' && behind !== undefined)
    return waits(DEPLOYMENT, `Waiting for run ${behind} of its role, which this node is not in`)
  const told = decisionTold(DEPLOYMENT, open.step.name, open.decision)
  return open.decision.kind === 'running' || open.decision.kind === 'start'
    ? waits(DEPLOYMENT, 'Deployment in progress')
    : told
}

export function nodeStatus(view: NodeView): Omit<DataPlaneNodeStatus, 'conditions'> {
  const { node, machine, phaseZero } = view
  const { generation, name } = node.metadata
  const host = 'host' in machine ? machine.host : undefined
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    inventorySecretName: nodeInventoryName(name),
    deployed: (node.status?.deployed ?? false) || phaseZero.holds,
    ...(host && { bareMetalHost: `${host.metadata.namespace}/${host.metadata.name}` }),
    ...(Object.keys(phaseZero.applied).length > 0 && { applied: phaseZero.applied }),
  }
}
