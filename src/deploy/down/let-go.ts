/**
 * What was there before us stays, and must not look like ours: a later run would take it for its own, and the `down`
 * after that would delete it.
 */
import { groupKindOf } from '../../api/snapshot.ts'
import { MANAGED_BY, ourLabels } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { FIELD_MANAGER } from '../changes.ts'
import type { ListedObject } from '../inventory.ts'
import { patiently } from '../patience.ts'
import type { DownWorld } from './world.ts'

/** Takes our labels off; everything else in these objects may be somebody's by now. */
export async function letGo(
  objects: readonly ListedObject[],
  { client, lookout, gate, patience }: DownWorld,
  context: StageContext,
): Promise<void> {
  const labels = Object.fromEntries(ourLabels.map((label) => [label, null]))
  const refs = objects.filter(({ adopted }) => adopted)
  await lookout.follow(refs, context)
  for (const ref of refs) {
    context.stop.throwIfAborted()
    const live = lookout.index().get(groupKindOf(ref), ref.name, ref.namespace)
    if (live?.metadata.labels?.[MANAGED_BY] !== 'stackloom') continue
    const patch = () =>
      client.patch(ref, { metadata: { labels } }, { type: 'merge', fieldManager: FIELD_MANAGER })
    await patiently(() => gate(patch), context, patience)
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  }
}
