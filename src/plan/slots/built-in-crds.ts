/** The CRDs that are built in, and what is known of one by its hash. */
import type { CrdFields } from './crd-fields.ts'
import * as of2023 from './crds/of-2023.ts'
import * as today from './crds/today.ts'
import type { Era, SlotTable } from './slots.ts'

export function builtInTable(era: Era): SlotTable {
  return era === '2023' ? of2023.slotTable() : today.slotTable()
}

/** The field names of the CRD that a table was read from; undefined for one that is not built in. */
export function findCrdFields({ crd }: SlotTable): CrdFields | undefined {
  return [today, of2023].find((known) => known.slotTable().crd === crd)?.crdFields()
}
