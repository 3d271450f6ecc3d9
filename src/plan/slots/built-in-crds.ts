/**
 * The control plane CRDs that are built in: their slots and their field names, from `data/crds/`.
 *
 * `tools/generate-crds.ts` writes the files from the pinned CRDs.
 */
import { readData } from '../../data/data.ts'
import type { CrdFields } from './slot-table.ts'
import type { Era, SlotTable } from './slots.ts'

export function builtInTable(era: Era = 'today'): SlotTable {
  return JSON.parse(readData(`crds/${era}/slots.json`)) as SlotTable
}

export function builtInFields(era: Era = 'today'): CrdFields {
  return JSON.parse(readData(`crds/${era}/fields.json`)) as CrdFields
}

/** The field names of the CRD that a table was read from; undefined for one that is not built in. */
export function findCrdFields({ crd }: SlotTable): CrdFields | undefined {
  const era = (['today', '2023'] as const).find((known) => builtInTable(known).crd === crd)
  return era && builtInFields(era)
}
