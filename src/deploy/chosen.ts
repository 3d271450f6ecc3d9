/** What a selection of stages and clouds means for a site's documents. Pure. */
import { Failure } from '../errors/failure.ts'
import type { RenderedDocument } from '../render/documents.ts'
import { type Selection, select } from '../run/selection.ts'
import { stageGraph, stageIdOf } from './site-stages.ts'
import type { DeploySite } from './world.ts'

/** The documents that the chosen stages apply; throws what is wrong with the choice. */
export function chosenDocuments(site: DeploySite, selection: Selection): readonly RenderedDocument[] {
  const { stages, findings } = select(stageGraph(site.clouds.map(({ name }) => name)), selection)
  if (findings.length > 0) throw new Failure(findings)
  const ids = new Set(stages.map(({ id }) => id))
  return narrowedTo(site, selection.clouds ?? []).documents.filter((one) => ids.has(stageIdOf(one)))
}

/** One cloud alone means its own documents and the shared ones: another's node policies are not touched. */
export function narrowedTo(site: DeploySite, clouds: readonly string[]): DeploySite {
  if (clouds.length === 0) return site
  const isWanted = ({ cloud }: RenderedDocument): boolean => cloud === undefined || clouds.includes(cloud)
  return { ...site, documents: site.documents.filter(isWanted) }
}
