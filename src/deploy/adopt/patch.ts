/**
 * The patch that makes a control plane ask for what its Services have: maps are merged, and a list, which a patch can
 * only replace, is sent as it was found with our annotations in it. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import { asFields, setValue } from '../../render/merge.ts'
import type { Annotations, LiveSlot } from './live-slots.ts'

export interface SlotPatch {
  readonly place: LiveSlot
  readonly annotations: Annotations
}

export function controlPlanePatch(
  controlPlane: KubeObject,
  patches: readonly SlotPatch[],
): Readonly<Record<string, unknown>> {
  let spec: unknown = {}
  const lists = new Map<string, { readonly path: readonly string[]; items: readonly unknown[] }>()
  for (const { place, annotations } of patches) {
    const { path, shape } = place
    if (shape === 'annotations') spec = setValue(spec, path, annotations)
    else if (shape !== 'list') spec = setValue(spec, [...path, 'metadata', 'annotations'], annotations)
    else {
      const at = path.slice(0, -1)
      const list = lists.get(at.join('.')) ?? { path: at, items: itemsAt(controlPlane['spec'], at) }
      lists.set(at.join('.'), {
        ...list,
        items: list.items.map((item, index) =>
          index === Number(path.at(-1)) ? withAnnotations(item, annotations) : item,
        ),
      })
    }
  }
  for (const { path, items } of lists.values()) spec = setValue(spec, path, items)
  const { resourceVersion } = controlPlane.metadata
  // Only a list can overwrite what somebody else has just written.
  return { ...(lists.size > 0 && { metadata: { resourceVersion } }), spec }
}

function itemsAt(spec: unknown, path: readonly string[]): readonly unknown[] {
  const found = path.reduce<unknown>((value, key) => asFields(value)[key], spec)
  return Array.isArray(found) ? (found as readonly unknown[]) : []
}

function withAnnotations(item: unknown, annotations: Annotations): unknown {
  const metadata = asFields(asFields(item)['metadata'])
  return setValue(item, ['metadata', 'annotations'], {
    ...asFields(metadata['annotations']),
    ...annotations,
  })
}
