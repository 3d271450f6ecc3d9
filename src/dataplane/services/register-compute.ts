/** What the control plane is told when a service has reached its host. */

import { formatError } from '../../errors/failure.ts'
import { type ConditionState, conditionWaiting } from '../conditions.ts'
import type { Applied } from '../kinds/data-plane.ts'
import type { NovaCell } from '../kinds/nova-cell.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { DEPLOYMENT_READY } from '../nodes/node-status.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import type { World } from '../world.ts'
import { type ServiceStepInputs, type ServiceStepState, serviceDeploymentCondition } from './service-steps.ts'

export interface RegistrationResult {
  readonly condition: ConditionState
  readonly applied: Readonly<Record<string, Applied>>
  readonly failed: boolean
}

/** After the last step, once per inputs: a new compute is unknown to its cell until somebody says so. */
export async function registerComputeHost(
  world: World,
  definition: ServiceDefinition,
  {
    service,
    state,
    steps,
    applied,
    host,
  }: Pick<ServiceStepInputs, 'state' | 'applied' | 'host'> & {
    readonly service: ServiceObject
    readonly steps: readonly ServiceStepState[]
  },
  signal: AbortSignal,
): Promise<RegistrationResult> {
  const deployed = serviceDeploymentCondition(steps)
  const last = steps.at(-1)
  if (definition.registration === undefined || deployed.status !== 'True' || !last) {
    return { condition: deployed, applied, failed: false }
  }
  const done = applied[DISCOVERY_STEP]
  const proof = applied[last.step.name]
  if (done && done.hash === proof?.hash) return { condition: deployed, applied, failed: false }
  const { namespace = '' } = service.metadata
  try {
    await world.controlPlane.discoverHosts({ namespace, host, cell: state.dependency as NovaCell }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return {
      condition: conditionWaiting(DEPLOYMENT_READY, `host discovery failed, and is tried again: ${formatError(error)}`),
      applied,
      failed: true,
    }
  }
  const record: Applied = { hash: proof?.hash ?? '', run: proof?.run ?? '' }
  return { condition: deployed, applied: { ...applied, [DISCOVERY_STEP]: record }, failed: false }
}

const DISCOVERY_STEP = 'host-discovery'
