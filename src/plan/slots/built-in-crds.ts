/** The slot tables of the releases that are built in. */
import { defaultReleaseName, findRelease, loadReleases } from '../release/releases.ts'
import { slotTable } from './slot-table.ts'
import type { SlotTable } from './slots.ts'

/** The slots of a known release, of the default one unless named; `today` is the default one, too. */
export function builtInTable(name: string = defaultReleaseName()): SlotTable {
  const release = findRelease(name)
  const table = release && slotTable(release)
  if (!table) throw new TypeError(`there is no release ${name}`)
  return table
}

/** The table of the release with this control plane CRD. */
export function findBuiltInTable(crd: string | undefined): SlotTable | undefined {
  const release = loadReleases().find(({ kinds }) => kinds['OpenStackControlPlane']?.crd === crd)
  return release && slotTable(release)
}
