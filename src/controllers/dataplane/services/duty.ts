/** What the control plane is told when a service has reached its host. */
import type { Applied } from '../../../api/dataplane.ts'
import type { NovaCell } from '../../../api/nova-cell.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { reasonOf } from '../../../errors/failure.ts'
import type { ServiceDefinition } from '../../../node-services/definition.ts'
import { type Told, waits } from '../conditions.ts'
import { DEPLOYMENT } from '../nodes/status.ts'
import type { World } from '../world.ts'
import { deploymentOf, type Situation, type StepDecision } from './steps.ts'

export interface Duty {
  readonly told: Told
  readonly applied: Readonly<Record<string, Applied>>
  readonly failed: boolean
}

/** After the last step, once per inputs: a new compute is unknown to its cell until somebody says so. */
export async function tellControlPlane(
  world: World,
  definition: ServiceDefinition,
  {
    service,
    gathered,
    steps,
    applied,
    host,
  }: Pick<Situation, 'gathered' | 'applied' | 'host'> & {
    readonly service: ServiceObject
    readonly steps: readonly StepDecision[]
  },
  signal: AbortSignal,
): Promise<Duty> {
  const deployed = deploymentOf(steps)
  const last = steps.at(-1)
  if (definition.controlPlane === undefined || deployed.status !== 'True' || !last) {
    return { told: deployed, applied, failed: false }
  }
  const done = applied[DISCOVERY]
  const proof = applied[last.step.name]
  if (done && done.hash === proof?.hash) return { told: deployed, applied, failed: false }
  const { namespace = '' } = service.metadata
  try {
    await world.controlPlane.discoverHosts({ namespace, host, cell: gathered.dependency as NovaCell }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return {
      told: waits(DEPLOYMENT, `host discovery failed, and is tried again: ${reasonOf(error)}`),
      applied,
      failed: true,
    }
  }
  const record: Applied = { hash: proof?.hash ?? '', run: proof?.run ?? '' }
  return { told: deployed, applied: { ...applied, [DISCOVERY]: record }, failed: false }
}

const DISCOVERY = 'host-discovery'
