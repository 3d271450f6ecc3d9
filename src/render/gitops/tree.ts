/**
 * The GitOps tree: paths and texts. Everything of a site below one root, one folder for what is shared and one per
 * cloud, each layer a folder of its own with its kustomization.
 *
 * Pure: who writes it, and what is removed, is the command's business.
 */

import type { Plan } from '../../plan/plan.ts'
import { writeYaml, writeYamlStream } from '../../yaml/write.ts'
import { neededSecrets } from '../needed-secrets.ts'
import type { RenderedDocument } from '../render.ts'
import { addSyncWave, argocdHealth } from './argocd.ts'
import { fluxKustomizations } from './flux.ts'
import { type LayerFolder, layerFolders } from './layers.ts'

export type GitopsTool = 'argocd' | 'flux'

export function gitopsTree(
  plan: Plan,
  documents: readonly RenderedDocument[],
  tool?: GitopsTool,
): ReadonlyMap<string, string> {
  const folders = layerFolders(annotateForTool(documents, tool))
  const files = new Map<string, string>()
  for (const folder of folders) addFolder(files, folder)
  const owners = [...new Set(folders.map(({ path }) => path.slice(0, path.lastIndexOf('/'))))]
  for (const owner of owners) {
    const layers = folders.filter(({ path }) => path.startsWith(`${owner}/`)).map(({ layer }) => layer)
    files.set(`${owner}/kustomization.yaml`, kustomization(layers))
  }
  files.set('kustomization.yaml', kustomization(owners))
  for (const cloud of plan.clouds) files.set(`clouds/${cloud.name}/needed-secrets.yaml`, secretsText(plan, cloud))
  if (tool === 'flux') files.set('flux/kustomizations.yaml', writeYamlStream(fluxKustomizations(plan.site, folders)))
  if (tool === 'argocd') files.set('argocd/health.yaml', writeYaml(argocdHealth()))
  return files
}

/** Documents as the tool wants them; a stream for the tool has the same ones. */
export function annotateForTool(
  documents: readonly RenderedDocument[],
  tool: GitopsTool | undefined,
): readonly RenderedDocument[] {
  if (tool !== 'argocd') return documents
  return layerFolders(documents).flatMap(({ documents: own, layer, cloud }) =>
    own.map((document) => ({ ...document, object: addSyncWave(document.object, layer, cloud === undefined) })),
  )
}

function addFolder(files: Map<string, string>, { path, documents }: LayerFolder): void {
  const byStage = new Map<string, RenderedDocument[]>()
  for (const document of documents) byStage.set(document.stage, [...(byStage.get(document.stage) ?? []), document])
  for (const [stage, own] of byStage) {
    files.set(`${path}/${stage}.yaml`, writeYamlStream(own.map(({ object }) => object)))
  }
  files.set(`${path}/kustomization.yaml`, kustomization([...byStage.keys()].map((stage) => `${stage}.yaml`)))
}

function kustomization(resources: readonly string[]): string {
  return writeYaml({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    // Ours is an order to apply in; kustomize's own would be by kind.
    sortOptions: { order: 'fifo' },
    resources,
  })
}

/** No values: which Secrets a store must provide, for External Secrets or whatever else brings them. */
function secretsText(plan: Plan, cloud: Plan['clouds'][number]): string {
  const secrets = neededSecrets(plan, cloud).map(({ namespace, name, keys }) => ({
    namespace,
    name,
    keys: keys.map(({ key, rule, service }) => ({ key, rule, service })),
  }))
  return writeYaml({ secrets })
}
