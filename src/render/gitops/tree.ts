/**
 * Builds the GitOps tree as paths and texts: a folder for what is shared and one per cloud, with a folder and a
 * kustomization for each layer. Pure: the command writes the files and removes old ones.
 */

import type { Plan } from '../../plan/plan.ts'
import { writeYaml, writeYamlStream } from '../../yaml/write.ts'
import { providedSecrets } from '../needed-secrets.ts'
import type { RenderedDocument } from '../render.ts'
import { argocdApplications, OPENSHIFT_GITOPS } from './argocd-applications.ts'
import { type LayerFolder, layerFolders } from './layers.ts'
import { addSyncWave, argocdHealth, fluxKustomizations, openshiftGitopsHealth, protectFromPruning } from './tools.ts'

export type GitopsTool = 'argocd' | 'flux'

export function gitopsTree(
  plan: Plan,
  documents: readonly RenderedDocument[],
  tool?: GitopsTool,
  /** The Git repository that Argo CD syncs the tree from; without it, no Applications are written. */
  repository?: string,
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
  if (tool === 'argocd') addArgocdFiles(files, plan, repository)
  return files
}

/** Twice: OpenShift GitOps has another namespace, and takes health checks in another place. */
function addArgocdFiles(files: Map<string, string>, { site }: Plan, repository: string | undefined): void {
  files.set('argocd/health.yaml', writeYaml(argocdHealth()))
  files.set('openshift-gitops/health.yaml', writeYaml(openshiftGitopsHealth()))
  if (repository === undefined) return
  files.set('argocd/applications.yaml', writeYamlStream(argocdApplications(site, repository)))
  const inOpenshift = argocdApplications(site, repository, OPENSHIFT_GITOPS)
  files.set('openshift-gitops/applications.yaml', writeYamlStream(inOpenshift))
}

/** Adds the annotations that the tool needs, for a tree or a stream. */
export function annotateForTool(
  documents: readonly RenderedDocument[],
  tool: GitopsTool | undefined,
): readonly RenderedDocument[] {
  if (tool === 'flux') {
    return documents.map((document) => ({ ...document, object: protectFromPruning(document.object) }))
  }
  if (tool !== 'argocd') return documents
  return layerFolders(documents).flatMap(({ documents: inLayer, layer, cloud }) =>
    inLayer.map((document) => ({ ...document, object: addSyncWave(document.object, layer, cloud === undefined) })),
  )
}

function addFolder(files: Map<string, string>, { path, documents }: LayerFolder): void {
  const byStage = new Map<string, RenderedDocument[]>()
  for (const document of documents) byStage.set(document.stage, [...(byStage.get(document.stage) ?? []), document])
  for (const [stage, stageDocuments] of byStage) {
    files.set(`${path}/${stage}.yaml`, writeYamlStream(stageDocuments.map(({ object }) => object)))
  }
  files.set(`${path}/kustomization.yaml`, kustomization([...byStage.keys()].map((stage) => `${stage}.yaml`)))
}

function kustomization(resources: readonly string[]): string {
  return writeYaml({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    // The order to apply in; by default kustomize would sort by kind.
    sortOptions: { order: 'fifo' },
    resources,
  })
}

/** The Secrets that a secret store must provide, without values. */
function secretsText(plan: Plan, cloud: Plan['clouds'][number]): string {
  const secrets = providedSecrets(plan, cloud).map(({ namespace, name, keys }) => ({
    namespace,
    name,
    keys: keys.map(({ key, rule, service }) => ({ key, rule, service })),
  }))
  return writeYaml({ secrets })
}
