/**
 * What was there before us stays, and must not look like ours: a later run would take it for its own, and the `down`
 * after that would delete it.
 */
import { formatGroupKind } from '../../api/snapshot.ts'
import { MANAGED_BY_LABEL, stackloomLabels } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import type { InventoryEntry } from '../inventory.ts'
import { FIELD_MANAGER } from '../object-changes.ts'
import { retry } from '../retry.ts'
import type { DownDeps } from './world.ts'

/** Takes our labels off; everything else in these objects may be somebody's by now. */
export async function releaseAdopted(
  objects: readonly InventoryEntry[],
  { client, lookout, gate, patience }: DownDeps,
  context: StageContext,
): Promise<void> {
  const labels = Object.fromEntries(stackloomLabels.map((label) => [label, null]))
  const refs = objects.filter(({ adopted }) => adopted)
  await lookout.watch(refs, context)
  for (const ref of refs) {
    context.stop.throwIfAborted()
    const live = lookout.index().get(formatGroupKind(ref), ref.name, ref.namespace)
    if (live?.metadata.labels?.[MANAGED_BY_LABEL] !== 'stackloom') continue
    const patch = () => client.patch(ref, { metadata: { labels } }, { type: 'merge', fieldManager: FIELD_MANAGER })
    await retry(() => gate(patch), context, patience)
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  }
}
