/**
 * Writes what an adoption changes, with retries and an event for each write.
 *
 * Objects of the operators are patched and never replaced; objects of the site are applied as `up` applies them.
 */
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions, KubeClient } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { runParallel } from '../apply.ts'
import type { LiveView } from '../live-view.ts'
import { FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { defaultRetryPolicy, type RetryPolicy, retry } from '../retry.ts'
import type { Adoption, NetworkMove } from './adoption.ts'
import { controlPlanePatch, type SlotPatch } from './live-slots.ts'
import { overlappingPools } from './old-pools.ts'
import { isEmpty, type ServiceMove } from './service-moves.ts'

export interface AdoptDeps {
  readonly client: KubeClient
  readonly view: LiveView
  /** The cloud's namespace. */
  readonly namespace: string
  /** Plans the adoption again from the live state. */
  readonly inspect: () => Adoption
}

export const SERVICE = { apiVersion: 'v1', kind: 'Service' }

/** MetalLB's webhook refuses the new pool until its own cache has dropped the old one. */
const fastPolicy: RetryPolicy = { limits: { ...defaultRetryPolicy.limits, denied: 15_000 }, pauseMs: 50 }

/** Manages what we change in objects of others: the operators' Services, the control plane, the old pools. */
export const ADOPT_MANAGER = 'stackloom-adopt'

export async function patchServices(
  { client }: AdoptDeps,
  services: readonly ServiceMove[],
  context: StageContext,
): Promise<void> {
  const incomplete = services.filter(({ missing }) => !isEmpty(missing))
  await runParallel(incomplete, 16, async ({ name, namespace, missing }) => {
    const ref = { ...SERVICE, namespace, name }
    const patch = { metadata: { annotations: missing } }
    const write = () => client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER })
    await retry(write, context)
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  })
}

export async function patchControlPlane(
  { client, inspect }: AdoptDeps,
  slotPatches: readonly SlotPatch[],
  context: StageContext,
): Promise<void> {
  const { controlPlane } = inspect()
  const patches = slotPatches.filter(({ annotations }) => !isEmpty(annotations))
  if (!controlPlane || patches.length === 0) return
  const ref = objectRef(controlPlane)
  const write = async (): Promise<KubeObject> => {
    // Read again each time: a list may only replace the version that it was read from.
    const current = (await client.get(ref)) ?? controlPlane
    return client.patch(ref, controlPlanePatch(current, patches), { type: 'merge', fieldManager: ADOPT_MANAGER })
  }
  await retry(write, context)
  context.emit({ kind: 'applied', change: 'changed', object: ref })
}

/**
 * Applies objects with the manager of `up`, so that `up` owns them later. Forced, because the user agreed to the move:
 * fields that another tool has set in a pool of the same name are overwritten.
 */
export async function applySiteObjects(
  { client }: AdoptDeps,
  objects: readonly KubeObject[],
  context: StageContext,
): Promise<void> {
  for (const object of objects) {
    const write = (): Promise<KubeObject> => client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
    await retry(write, context, fastPolicy)
    context.emit({ kind: 'applied', change: 'changed', object: objectRef(object) })
  }
}

/** Deletes the old pool, or removes our range from it. */
export async function releaseOldPools(
  { client }: AdoptDeps,
  { pool }: NetworkMove,
  context: StageContext,
): Promise<void> {
  const { namespace = '' } = pool.metadata
  const kind = { apiVersion: pool.apiVersion, kind: pool.kind }
  const { items } = await retry(() => client.list(kind, { namespace }), context)
  for (const { pool: old, remaining } of overlappingPools(pool, items)) {
    const ref = { ...kind, namespace, name: old.metadata.name }
    const isKept = remaining.length > 0
    const patch = { spec: { addresses: remaining } }
    const write = (): Promise<unknown> =>
      isKept
        ? client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER })
        : client.delete(ref, sameObject(old))
    await retry(write, context)
    context.emit({ kind: 'applied', change: isKept ? 'changed' : 'deleted', object: ref })
  }
}

export async function removeOldAdvertisements({ client, inspect }: AdoptDeps, context: StageContext): Promise<void> {
  for (const advertisement of inspect().oldAdvertisements) {
    const ref = objectRef(advertisement)
    await retry(() => client.delete(ref, sameObject(advertisement)), context)
    context.emit({ kind: 'applied', change: 'deleted', object: ref })
  }
}

/** A later object with the same name was not part of the plan that the user agreed to. */
function sameObject({ metadata }: KubeObject): DeleteOptions {
  return metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } }
}
