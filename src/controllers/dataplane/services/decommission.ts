/**
 * A service that is deleted leaves its host: refused while instances run there, and while nobody can say whether they do.
 * It ends on the host before the control plane forgets it, or it would come back by itself.
 */
import type { AnsibleRun } from '../../../api/ansibleee.ts'
import { type NovaCell, novaCells } from '../../../api/nova-cell.ts'
import { keyOf } from '../../../api/object.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { decommissionUnknown, instancesRunning } from '../../../errors/dataplane.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import type { ReconcileContext, Reconciled } from '../../../kube/controller.ts'
import type { ServiceDefinition } from '../../../node-services/definition.ts'
import { gone } from '../../calmly.ts'
import { isWrong, readyOf, type Told, waits } from '../conditions.ts'
import { type Compute, instancesOn } from '../control-plane.ts'
import { FIELD_MANAGER, FINALIZER, type World } from '../world.ts'
import { writeStatus } from '../writes.ts'
import { clearHost } from './host-clearing.ts'
import { runsOf } from './steps.ts'

/** `"true"` on the service object: let it go, whatever runs there. */
const FORCE = 'stackloom.dev/force-decommission'
const CONDITION = 'DecommissionReady'
const ASK_AGAIN_MS = 30_000

export async function decommission(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<Reconciled | undefined> {
  const { signal } = context
  const { finalizers = [], annotations = {} } = service.metadata
  if (!finalizers.includes(FINALIZER)) return undefined
  const forced = annotations[FORCE] === 'true'
  const compute = definition.controlPlane && computeOf(world, definition, service)
  if (mayBeOnHost(world, definition, service)) {
    const refusal = forced || !compute ? undefined : await refusalOf(world, compute, signal)
    if (refusal) {
      await tell(world, definition, service, isWrong(CONDITION, refusal, 'DeletionFailed'), context)
      return { requeueAfterMs: ASK_AGAIN_MS }
    }
    const clearing = forced ? undefined : await clearHost(world, definition, service, FORCE, context)
    if (clearing) {
      const { finding: wrong, why, again } = clearing
      const told = wrong ? isWrong(CONDITION, wrong, 'DeletionFailed') : waits(CONDITION, why, 'Deleting')
      await tell(world, definition, service, told, context)
      return again === undefined ? undefined : { requeueAfterMs: again }
    }
    if (compute) {
      await world.controlPlane.removeCompute(compute, signal).catch((error: unknown) => {
        if (!forced) throw error
      })
    }
  }
  const left = {
    ...service,
    metadata: { ...service.metadata, finalizers: finalizers.filter((one) => one !== FINALIZER) },
  }
  await gone(world.client.update(left, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}

async function tell(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  told: Told,
  context: ReconcileContext,
): Promise<void> {
  const { conditions: _, ...status } = service.status ?? {}
  const said = { told: [readyOf([told], ''), told], fields: status }
  await writeStatus(world, world.objectsOf(definition), service, said, context)
}

/** What never reached its host has nothing there to lose. A run that failed, or that is at work, may have left something. */
function mayBeOnHost(
  world: World,
  definition: ServiceDefinition,
  { metadata, spec, status }: ServiceObject,
): boolean {
  if (Object.keys(status?.applied ?? {}).length > 0) return true
  const { namespace = '', name, uid } = metadata
  const host = spec.dataplaneNodeName ?? name
  return runsOf(world, definition, namespace, host).some(
    (run) => run.metadata.ownerReferences?.some((one) => one.uid === uid) && !neverArrived(run, host),
  )
}

function neverArrived({ status }: AnsibleRun, host: string): boolean {
  const own = status?.result?.hosts?.[host]
  return own !== undefined && own.unreachable > 0 && own.ok === 0
}

function computeOf(world: World, { dependency }: ServiceDefinition, service: ServiceObject): Compute {
  const { namespace = '', name } = service.metadata
  const cellName = dependency.nameOf(service) ?? ''
  const known = world.cacheOf(dependency.kind).get(keyOf({ namespace, name: cellName }))
  const cell = (known ?? { ...novaCells, metadata: { name: cellName, namespace }, spec: {} }) as NovaCell
  return { namespace, host: service.spec.dataplaneNodeName ?? name, cell }
}

async function refusalOf(world: World, compute: Compute, signal: AbortSignal): Promise<Finding | undefined> {
  const instances = await instancesOn(world.controlPlane, compute, signal)
  const facts = { node: compute.host, override: FORCE }
  if (instances.kind === 'unknown') return finding(decommissionUnknown, { ...facts, why: instances.why })
  return instances.count > 0 ? finding(instancesRunning, { ...facts, instances: instances.count }) : undefined
}
