/** What a selection of stages and clouds means for a site's documents. Pure. */
import { Failure } from '../errors/failure.ts'
import type { RenderedDocument } from '../render/render.ts'
import { type Selection, selectStages } from '../run/selection.ts'
import { documentStageId, stageGraph } from './site-stages.ts'
import type { DeploySite } from './world.ts'

/** The documents that the chosen stages apply; throws what is wrong with the choice. */
export function selectDocuments(site: DeploySite, selection: Selection): readonly RenderedDocument[] {
  const { stages, findings } = selectStages(stageGraph(site.clouds.map(({ name }) => name)), selection)
  if (findings.length > 0) throw new Failure(findings)
  const ids = new Set(stages.map(({ id }) => id))
  return limitToClouds(site, selection.clouds ?? []).documents.filter((document) => ids.has(documentStageId(document)))
}

/** One cloud alone means its own documents and the shared ones: another's node policies are not touched. */
export function limitToClouds(site: DeploySite, clouds: readonly string[]): DeploySite {
  if (clouds.length === 0) return site
  const isWanted = ({ cloud }: RenderedDocument): boolean => cloud === undefined || clouds.includes(cloud)
  return { ...site, documents: site.documents.filter(isWanted) }
}
