/** The slot tables of the releases that are built in. */
import { defaultReleaseName, findRelease, type KnownRelease, loadReleases } from '../release/releases.ts'
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
  const [release] = releasesWith(crd)
  return release && slotTable(release)
}

/** The names of the releases that have this control plane CRD, or the beginning of its hash. */
export function describeCrd(crd: string): string {
  const names = releasesWith(crd).map(({ name }) => name)
  return names.length > 0 ? names.join(' or ') : crd.slice(0, 19)
}

function releasesWith(crd: string | undefined): readonly KnownRelease[] {
  return loadReleases().filter(({ kinds }) => kinds['OpenStackControlPlane']?.crd === crd)
}
