/**
 * Everything that an adoption writes, each with patience and told as an event. What is the operators' own is patched,
 * never replaced; what is the site's is applied as `up` would apply it.
 */
import type { KubeObject } from '../../api/object.ts'
import type { ObjectRef } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { runParallel } from '../apply.ts'
import { objectRef } from '../inventory.ts'
import { FIELD_MANAGER } from '../object-changes.ts'
import { defaultRetryPolicy, type RetryPolicy, retry } from '../retry.ts'
import type { NetworkMove } from './adoption.ts'
import { overlappingPools } from './old-pools.ts'
import { controlPlanePatch } from './patch.ts'
import type { Scene } from './scene.ts'
import type { ServiceMove } from './service-moves.ts'
import { isEmpty } from './wishes.ts'

/** Of what we change in objects of others: the operators' Services, the control plane, the old pools. */
export const ADOPT_MANAGER = 'stackloom-adopt'

export async function patchServices(
  { client, patience }: Scene,
  services: readonly ServiceMove[],
  context: StageContext,
): Promise<void> {
  const open = services.filter(({ lacks }) => !isEmpty(lacks))
  await runParallel(open, 16, async ({ name, namespace, lacks }) => {
    const ref = { apiVersion: 'v1', kind: 'Service', namespace, name }
    const patch = { metadata: { annotations: lacks } }
    await retry(() => client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER }), context, patience)
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  })
}

export async function patchControlPlane(
  { client, look, patience }: Scene,
  patches: Parameters<typeof controlPlanePatch>[1],
  context: StageContext,
): Promise<void> {
  const { controlPlane } = look()
  if (!controlPlane || patches.length === 0) return
  const ref = objectRef(controlPlane)
  await retry(
    async () => {
      // Read anew each time: a list is only sent over the version that it was read from.
      const fresh = (await client.get(ref)) ?? controlPlane
      const patch = controlPlanePatch(fresh, patches)
      return client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER })
    },
    context,
    patience,
  )
  context.emit({ kind: 'applied', change: 'changed', object: ref })
}

/**
 * Objects of the site, by the site's own manager, so that `up` finds them as its own. The person has agreed to the
 * move, so what another tool has set in a pool of the right name gives way.
 */
export async function applySiteObjects(
  scene: Scene,
  objects: readonly KubeObject[],
  context: StageContext,
): Promise<void> {
  const { client, patience = defaultRetryPolicy } = scene
  // MetalLB's webhook refuses the new pool until its own view has lost the old one.
  const eager: RetryPolicy = { limits: { ...patience.limits, denied: 15_000 }, pauseMs: 50 }
  for (const object of objects) {
    const write = (): Promise<KubeObject> => client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
    await retry(write, context, eager)
    context.emit({ kind: 'applied', change: 'changed', object: objectRef(object) })
  }
}

/** The old pool ends here, or lets go of our range. */
export async function releaseOldPools(
  { client, patience }: Scene,
  { pool }: NetworkMove,
  context: StageContext,
): Promise<void> {
  const { namespace = '' } = pool.metadata
  const kind = { apiVersion: pool.apiVersion, kind: pool.kind }
  const { items } = await retry(() => client.list(kind, { namespace }), context, patience)
  const old = overlappingPools(pool, items)
  for (const { pool: one, keeps } of old) {
    const ref: ObjectRef = { ...kind, namespace, name: one.metadata.name }
    const act =
      keeps.length > 0
        ? () => client.patch(ref, { spec: { addresses: keeps } }, { type: 'merge', fieldManager: ADOPT_MANAGER })
        : () => client.delete(ref)
    await retry<unknown>(act, context, patience)
    context.emit({ kind: 'applied', change: keeps.length > 0 ? 'changed' : 'deleted', object: ref })
  }
}

/** They announce nothing any more. */
export async function removeOldAdvertisements({ client, look, patience }: Scene, context: StageContext): Promise<void> {
  for (const oldAdvertisement of look().oldAdvertisements) {
    await retry(() => client.delete(objectRef(oldAdvertisement)), context, patience)
    context.emit({ kind: 'applied', change: 'deleted', object: objectRef(oldAdvertisement) })
  }
}
