/**
 * Deleting with patience: asks for the delete, waits until the object is gone, and says who keeps it.
 *
 * A finalizer is somebody's promise to clean up. One that stays is reported with its owner; it is never ripped out.
 */
import type { KubeObject } from '../../api/object.ts'
import { ageMs, formatObjectName, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { failure } from '../../errors/failure.ts'
import { MANAGED_BY_LABEL } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { failed, formatFinalizers, progressing, type Readiness, ready, worst } from '../../verify/readiness/verdict.ts'
import { runParallel } from '../apply.ts'
import { stuckFinalizer } from '../findings/down.ts'
import type { InventoryEntry } from '../inventory.ts'
import { retry } from '../retry.ts'
import { waitUntilReady } from '../wait.ts'
import type { DownDeps } from './world.ts'

/** Deletes those that are there and ours, and waits until they are gone. */
export async function deleteAll(
  refs: readonly InventoryEntry[],
  world: DownDeps,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const wanted = refs.filter((ref) => isDeletable(ref, world))
  await world.lookout.watch(refs, context)
  await runParallel(wanted, 8, async (ref) => {
    context.stop.throwIfAborted()
    const live = findLive(ref, world)
    const uid = live?.metadata.uid
    const remove = () =>
      world.gate(() => world.client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) }))
    if (live && (await retry(remove, context, world.patience)))
      context.emit({ kind: 'applied', change: 'deleted', object: ref })
  })
  await waitUntilGone(wanted, world, context, namespace)
}

export async function waitUntilGone(
  refs: readonly InventoryEntry[],
  world: DownDeps,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const look = (): Readiness => worst(refs.map((ref) => deletionReadiness(findLive(ref, world), world, context)))
  try {
    await waitUntilReady(look, world.lookout, context, { ...(namespace !== undefined && { namespace }) })
  } catch (thrown) {
    const stuck = refs.map((ref) => findLive(ref, world)).find((live) => live && isStuck(live, world, context))
    if (!stuck) throw thrown
    const { finalizers = [] } = stuck.metadata
    throw failure(
      stuckFinalizer,
      { object: formatObjectName(stuck), finalizers, owner: finalizerOwner(stuck) },
      { exitCode: 1, cause: thrown },
    )
  }
}

export function findLive(ref: InventoryEntry, { lookout }: Pick<DownDeps, 'lookout'>): KubeObject | undefined {
  return lookout.index().get(formatGroupKind(ref), ref.name, ref.namespace)
}

/** What was there before us stays, and so does what is not ours any more. */
function isDeletable(ref: InventoryEntry, world: DownDeps): boolean {
  if (ref.adopted) return false
  const live = findLive(ref, world)
  return live === undefined || live.metadata.labels?.[MANAGED_BY_LABEL] === 'stackloom'
}

function deletionReadiness(live: KubeObject | undefined, world: DownDeps, context: StageContext): Readiness {
  if (!live) return ready
  const waits = `${formatObjectName(live)} to be gone${formatFinalizers(live)}`
  return isStuck(live, world, context) ? failed(waits, '') : progressing(waits)
}

function isStuck(live: KubeObject, { stuckMs }: DownDeps, { clock }: StageContext): boolean {
  const { deletionTimestamp, finalizers = [] } = live.metadata
  const namespaced = live.kind === 'Namespace' ? getString(live, 'status', 'phase') === 'Terminating' : true
  return finalizers.length > 0 && namespaced && ageMs(deletionTimestamp, clock.now()) >= stuckMs
}

/** Whoever wrote the list of finalizers. */
function finalizerOwner({ metadata }: KubeObject): string {
  const writer = (metadata.managedFields ?? []).findLast(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('f:finalizers'),
  )
  return writer?.manager ?? 'nobody who is known'
}
