/**
 * A service that is deleted leaves its host: refused while instances run there, and while nobody can say whether they do.
 * It ends on the host before the control plane forgets it, or it would come back by itself.
 */

import { objectKey } from '../../api/object.ts'
import { ignoreNotFound } from '../../controllers/kit/writes.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts'
import { type ConditionState, conditionError, conditionWaiting, summarizeReady } from '../conditions.ts'
import { decommissionUnknown, instancesRunning } from '../findings/data-plane.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import { type NovaCell, novaCells } from '../kinds/nova-cell.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { FIELD_MANAGER, FINALIZER, type World } from '../world.ts'
import { writeStatus } from '../writes.ts'
import { type ComputeHost, tryCountInstances } from './control-plane.ts'
import { clearHost } from './host-clearing.ts'
import { serviceRuns } from './service-steps.ts'

/** `"true"` on the service object: let it go, whatever runs there. */
const FORCE_ANNOTATION = 'stackloom.dev/force-decommission'
const CONDITION = 'DecommissionReady'
const RECHECK_MS = 30_000

export async function decommission(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { signal } = context
  const { finalizers = [], annotations = {} } = service.metadata
  if (!finalizers.includes(FINALIZER)) return undefined
  const forced = annotations[FORCE_ANNOTATION] === 'true'
  const compute = definition.registration && resolveComputeHost(world, definition, service)
  if (mayBeOnHost(world, definition, service)) {
    const refusal = forced || !compute ? undefined : await checkInstances(world, compute, signal)
    if (refusal) {
      await writeCondition(world, definition, service, conditionError(CONDITION, refusal, 'DeletionFailed'), context)
      return { requeueAfterMs: RECHECK_MS }
    }
    const clearing = forced ? undefined : await clearHost(world, definition, service, FORCE_ANNOTATION, context)
    if (clearing) {
      const { finding: wrong, why, retryAfterMs } = clearing
      const told = wrong
        ? conditionError(CONDITION, wrong, 'DeletionFailed')
        : conditionWaiting(CONDITION, why, 'Deleting')
      await writeCondition(world, definition, service, told, context)
      return retryAfterMs === undefined ? undefined : { requeueAfterMs: retryAfterMs }
    }
    if (compute) {
      await world.controlPlane.removeCompute(compute, signal).catch((error: unknown) => {
        if (!forced) throw error
      })
    }
  }
  const left = {
    ...service,
    metadata: { ...service.metadata, finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) },
  }
  await ignoreNotFound(world.client.update(left, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}

async function writeCondition(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  told: ConditionState,
  context: ReconcileContext,
): Promise<void> {
  const { conditions: _, ...status } = service.status ?? {}
  const said = { told: [summarizeReady([told], ''), told], fields: status }
  await writeStatus(world, world.objectsOf(definition), service, said, context)
}

/** What never reached its host has nothing there to lose. A run that failed, or that is at work, may have left something. */
function mayBeOnHost(world: World, definition: ServiceDefinition, { metadata, spec, status }: ServiceObject): boolean {
  if (Object.keys(status?.applied ?? {}).length > 0) return true
  const { namespace = '', name, uid } = metadata
  const host = spec.dataplaneNodeName ?? name
  return serviceRuns(world, definition, namespace, host).some(
    (run) =>
      run.metadata.ownerReferences?.some((ownerReference) => ownerReference.uid === uid) &&
      !neverReachedHost(run, host),
  )
}

function neverReachedHost({ status }: AnsibleRun, host: string): boolean {
  const own = status?.result?.hosts?.[host]
  return own !== undefined && own.unreachable > 0 && own.ok === 0
}

function resolveComputeHost(world: World, { dependency }: ServiceDefinition, service: ServiceObject): ComputeHost {
  const { namespace = '', name } = service.metadata
  const cellName = dependency.objectName(service) ?? ''
  const known = world.cacheOf(dependency.kind).get(objectKey({ namespace, name: cellName }))
  const cell = (known ?? { ...novaCells, metadata: { name: cellName, namespace }, spec: {} }) as NovaCell
  return { namespace, host: service.spec.dataplaneNodeName ?? name, cell }
}

async function checkInstances(world: World, compute: ComputeHost, signal: AbortSignal): Promise<Finding | undefined> {
  const instances = await tryCountInstances(world.controlPlane, compute, signal)
  const facts = { node: compute.host, override: FORCE_ANNOTATION }
  if (instances.kind === 'unknown') return finding(decommissionUnknown, { ...facts, why: instances.why })
  return instances.count > 0 ? finding(instancesRunning, { ...facts, instances: instances.count }) : undefined
}
