/**
 * Finds the slots of a running control plane with their annotations, and builds the patch that sets new ones. Pure.
 *
 * Slots are found by the slot table alone, so slots that the plan does not use are found as well.
 */
import type { KubeObject } from '../../api/object.ts'
import { formatServiceName } from '../../plan/slots/service-names.ts'
import type { Slot, SlotTable } from '../../plan/slots/slots.ts'
import { asFields, setValue } from '../../render/merge.ts'

export type Annotations = Readonly<Record<string, string>>

export interface LiveSlot {
  /** Below `spec`; ends with an endpoint or an index where the slot has several. */
  readonly path: readonly string[]
  readonly shape: Slot['shape']
  /** The Service that the slot configures, if its name is known. */
  readonly service: string | undefined
  readonly annotations: Annotations
}

/** A slot that the control plane does not mention has no Service with an address. */
export function findLiveSlots(controlPlane: KubeObject, { slots }: SlotTable): readonly LiveSlot[] {
  return slots.flatMap((slot) => expandSlot(slot, controlPlane['spec']))
}

function expandSlot(slot: Slot, spec: unknown): readonly LiveSlot[] {
  return expandPath(slot.path, spec).flatMap(({ path, each, value }) => {
    const liveSlot = (last: string | undefined, annotations: unknown): LiveSlot => ({
      path: last === undefined ? path : [...path, last],
      shape: slot.shape,
      service: formatServiceName(slot.path, each, last),
      annotations: stringValues(annotations),
    })
    switch (slot.shape) {
      case 'endpoints':
        return Object.entries(asFields(value)).map(([endpoint, override]) =>
          liveSlot(endpoint, overrideAnnotations(override)),
        )
      case 'single':
        return [liveSlot(undefined, overrideAnnotations(value))]
      case 'list':
        return (Array.isArray(value) ? value : []).map((override, index) =>
          liveSlot(String(index), overrideAnnotations(override)),
        )
      case 'annotations':
        return [liveSlot(undefined, value)]
      default:
        return []
    }
  })
}

interface ExpandedPath {
  readonly path: readonly string[]
  /** The name that stands for `*`. */
  readonly each?: string
  readonly value: unknown
}

/** Replaces `*` by the names that the control plane has there. */
function expandPath(pattern: readonly string[], spec: unknown): readonly ExpandedPath[] {
  let found: readonly ExpandedPath[] = [{ path: [], value: spec }]
  for (const step of pattern) {
    found = found.flatMap(({ path, each, value }) => {
      const fields = asFields(value)
      const keys = step === '*' ? Object.keys(fields) : step in fields ? [step] : []
      return keys.map((key) => {
        const name = step === '*' ? key : each
        return { path: [...path, key], value: fields[key], ...(name !== undefined && { each: name }) }
      })
    })
  }
  return found
}

function overrideAnnotations(override: unknown): unknown {
  return asFields(asFields(override)['metadata'])['annotations']
}

function stringValues(value: unknown): Annotations {
  const entries = Object.entries(asFields(value))
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

export interface SlotPatch {
  readonly slot: LiveSlot
  readonly annotations: Annotations
}

/** Merges maps; a list, which a merge patch can only replace, is sent as it was read with the new annotations in it. */
export function controlPlanePatch(
  controlPlane: KubeObject,
  patches: readonly SlotPatch[],
): Readonly<Record<string, unknown>> {
  let spec: unknown = {}
  const lists = new Map<string, { readonly path: readonly string[]; items: readonly unknown[] }>()
  for (const { slot, annotations } of patches) {
    const { path, shape } = slot
    if (shape === 'annotations') spec = setValue(spec, path, annotations)
    else if (shape !== 'list') spec = setValue(spec, [...path, 'metadata', 'annotations'], annotations)
    else {
      const listPath = path.slice(0, -1)
      const key = listPath.join('.')
      const list = lists.get(key) ?? { path: listPath, items: readItems(controlPlane['spec'], listPath) }
      const items = list.items.map((item, index) =>
        index === Number(path.at(-1)) ? addAnnotations(item, annotations) : item,
      )
      lists.set(key, { ...list, items })
    }
  }
  for (const { path, items } of lists.values()) spec = setValue(spec, path, items)
  const { resourceVersion } = controlPlane.metadata
  // Only a list can overwrite what another client has just written.
  return { ...(lists.size > 0 && { metadata: { resourceVersion } }), spec }
}

function readItems(spec: unknown, path: readonly string[]): readonly unknown[] {
  const found = path.reduce<unknown>((value, key) => asFields(value)[key], spec)
  return Array.isArray(found) ? (found as readonly unknown[]) : []
}

function addAnnotations(item: unknown, annotations: Annotations): unknown {
  const before = asFields(overrideAnnotations(item))
  return setValue(item, ['metadata', 'annotations'], { ...before, ...annotations })
}
