/** Registers a compute host in its cell after the last step of its service: Nova does not discover new hosts by itself. */
import type { Condition } from '../../api/object.ts'
import { conditionRequested } from '../../controllers/kit/conditions.ts'
import { formatError } from '../../errors/failure.ts'
import type { Applied } from '../kinds/data-plane.ts'
import type { NovaCell } from '../kinds/nova.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { DEPLOYMENT_READY } from '../nodes/node-status.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import type { ControlPlane } from './nova-control-plane.ts'
import { type ServiceStepInputs, type ServiceStepState, serviceDeploymentCondition } from './service-steps.ts'

/** Recorded in `status.applied` beside the steps. */
const DISCOVERY_STEP = 'host-discovery'

export interface RegistrationResult {
  readonly condition: Condition
  readonly applied: Readonly<Record<string, Applied>>
  readonly failed: boolean
}

interface RegistrationInputs extends Pick<ServiceStepInputs, 'state' | 'applied' | 'host'> {
  readonly service: ServiceObject
  readonly steps: readonly ServiceStepState[]
}

/** Registers once per inputs of the last step. */
export async function registerComputeHost(
  controlPlane: Pick<ControlPlane, 'discoverHosts'>,
  { registration }: ServiceDefinition,
  { service, state, steps, applied, host }: RegistrationInputs,
  signal: AbortSignal,
): Promise<RegistrationResult> {
  const condition = serviceDeploymentCondition(steps)
  const last = steps.at(-1)
  const unchanged = { condition, applied, failed: false }
  if (registration === undefined || condition.status !== 'True' || !last) return unchanged
  const deployed = applied[last.step.name]
  const discovered = applied[DISCOVERY_STEP]
  if (discovered && discovered.hash === deployed?.hash) return unchanged
  const { namespace = '' } = service.metadata
  try {
    await controlPlane.discoverHosts({ namespace, host, cell: state.dependency as NovaCell }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    const message = `host discovery failed and will be retried: ${formatError(error)}`
    return { condition: conditionRequested(DEPLOYMENT_READY, message), applied, failed: true }
  }
  const record: Applied = { hash: deployed?.hash ?? '', run: deployed?.run ?? '' }
  return { ...unchanged, applied: { ...applied, [DISCOVERY_STEP]: record } }
}
