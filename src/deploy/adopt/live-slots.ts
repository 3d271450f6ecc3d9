/**
 * Where a control plane that runs takes Service settings, and what it says there: every place of its slots, found by
 * the slot table, whatever the plan knows of it. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import { formatServiceName } from '../../plan/slots/service-names.ts'
import type { Slot, SlotTable } from '../../plan/slots/slots.ts'
import { asFields } from '../../render/merge.ts'

export type Annotations = Readonly<Record<string, string>>

export interface LiveSlot {
  /** Below `spec`; ends in an endpoint or a number where the slot has several. */
  readonly path: readonly string[]
  readonly shape: Slot['shape']
  /** The Service that comes of it, where the name is known. */
  readonly service: string | undefined
  readonly annotations: Annotations
}

/** Places that exist in this control plane; a slot that it does not mention has no Service with an address. */
export function findLiveSlots(controlPlane: KubeObject, { slots }: SlotTable): readonly LiveSlot[] {
  return slots.flatMap((slot) => expandSlot(slot, controlPlane['spec']))
}

function expandSlot(slot: Slot, spec: unknown): readonly LiveSlot[] {
  return expandPath(slot.path, spec).flatMap(({ path, each, value }) => {
    const place = (last: string | undefined, annotations: unknown): LiveSlot => ({
      path: last === undefined ? path : [...path, last],
      shape: slot.shape,
      service: formatServiceName(slot.path, each, last),
      annotations: stringValues(annotations),
    })
    switch (slot.shape) {
      case 'endpoints':
        return Object.entries(asFields(value)).map(([face, one]) => place(face, annotationsOf(one)))
      case 'single':
        return [place(undefined, annotationsOf(value))]
      case 'list':
        return (Array.isArray(value) ? value : []).map((one, at) => place(String(at), annotationsOf(one)))
      case 'annotations':
        return [place(undefined, value)]
      default:
        return []
    }
  })
}

interface ExpandedPath {
  readonly path: readonly string[]
  readonly each?: string
  readonly value: unknown
}

/** The slot's path with the names that the control plane has where the slot has `*`. */
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

function annotationsOf(override: unknown): unknown {
  return asFields(asFields(override)['metadata'])['annotations']
}

function stringValues(value: unknown): Annotations {
  return Object.fromEntries(
    Object.entries(asFields(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
