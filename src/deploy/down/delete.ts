/**
 * Deleting with patience: asks for the delete, waits until the object is gone, and says who keeps it.
 *
 * A finalizer is somebody's promise to clean up. One that stays is reported with its owner; it is never ripped out.
 */
import type { KubeObject } from '../../api/object.ts'
import { nameOf, sinceMs, textAt } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { stuckFinalizer } from '../../errors/down.ts'
import { failure } from '../../errors/failure.ts'
import { MANAGED_BY } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { keptBy } from '../../verify/readiness/deletion.ts'
import { failed, progressing, type Readiness, ready, worst } from '../../verify/readiness/verdict.ts'
import { inParallel } from '../apply.ts'
import type { ListedObject } from '../inventory.ts'
import { patiently } from '../patience.ts'
import { waitUntilReady } from '../wait.ts'
import type { DownWorld } from './world.ts'

/** Deletes those that are there and ours, and waits until they are gone. */
export async function deleteAll(
  refs: readonly ListedObject[],
  world: DownWorld,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const wanted = refs.filter((ref) => mayDelete(ref, world))
  await world.lookout.follow(refs, context)
  await inParallel(wanted, 8, async (ref) => {
    context.stop.throwIfAborted()
    const live = liveOf(ref, world)
    const uid = live?.metadata.uid
    const remove = () =>
      world.gate(() => world.client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) }))
    if (live && (await patiently(remove, context, world.patience)))
      context.emit({ kind: 'applied', change: 'deleted', object: ref })
  })
  await waitGone(wanted, world, context, namespace)
}

export async function waitGone(
  refs: readonly ListedObject[],
  world: DownWorld,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const look = (): Readiness => worst(refs.map((ref) => goneness(liveOf(ref, world), world, context)))
  try {
    await waitUntilReady(look, world.lookout, context, { ...(namespace !== undefined && { namespace }) })
  } catch (thrown) {
    const stuck = refs.map((ref) => liveOf(ref, world)).find((live) => live && isStuck(live, world, context))
    if (!stuck) throw thrown
    const { finalizers = [] } = stuck.metadata
    throw failure(
      stuckFinalizer,
      { object: nameOf(stuck), finalizers, owner: finalizerOwner(stuck) },
      { exitCode: 1, cause: thrown },
    )
  }
}

export function liveOf(ref: ListedObject, { lookout }: Pick<DownWorld, 'lookout'>): KubeObject | undefined {
  return lookout.index().get(groupKindOf(ref), ref.name, ref.namespace)
}

/** What was there before us stays, and so does what is not ours any more. */
function mayDelete(ref: ListedObject, world: DownWorld): boolean {
  if (ref.adopted) return false
  const live = liveOf(ref, world)
  return live === undefined || live.metadata.labels?.[MANAGED_BY] === 'stackloom'
}

function goneness(live: KubeObject | undefined, world: DownWorld, context: StageContext): Readiness {
  if (!live) return ready
  const waits = `${nameOf(live)} to be gone${keptBy(live)}`
  return isStuck(live, world, context) ? failed(waits, '') : progressing(waits)
}

function isStuck(live: KubeObject, { stuckMs }: DownWorld, { clock }: StageContext): boolean {
  const { deletionTimestamp, finalizers = [] } = live.metadata
  const namespaced = live.kind === 'Namespace' ? textAt(live, 'status', 'phase') === 'Terminating' : true
  return finalizers.length > 0 && namespaced && sinceMs(deletionTimestamp, clock.now()) >= stuckMs
}

/** Whoever wrote the list of finalizers. */
function finalizerOwner({ metadata }: KubeObject): string {
  const writer = (metadata.managedFields ?? []).findLast(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('f:finalizers'),
  )
  return writer?.manager ?? 'nobody who is known'
}
