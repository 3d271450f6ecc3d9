/** Flux: a Kustomization for each layer, each after those that it depends on, healthy when its objects are. */
import type { KubeObject } from '../../api/object.ts'
import { addOwnershipLabels } from '../labels.ts'
import { findHealthRule, formatCel } from './health.ts'
import { type LayerFolder, layers } from './layers.ts'

const NAMESPACE = 'flux-system'

export function fluxKustomizations(site: string, folders: readonly LayerFolder[]): readonly KubeObject[] {
  return folders.map((folder) => {
    const rules = new Set(folder.documents.flatMap(({ object }) => findHealthRule(object) ?? []))
    const before = dependency(folder, folders)
    const object = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: nameOf(site, folder), namespace: NAMESPACE },
      spec: {
        interval: '10m',
        retryInterval: '1m',
        timeout: '60m',
        path: `./${folder.path}`,
        prune: true,
        wait: true,
        sourceRef: { kind: 'GitRepository', name: NAMESPACE },
        ...(before.length > 0 && { dependsOn: before.map((layerFolder) => ({ name: nameOf(site, layerFolder) })) }),
        ...(rules.size > 0 && { healthCheckExprs: [...rules].map(formatCel) }),
      },
    }
    return addOwnershipLabels(object, { site, ...(folder.cloud !== undefined && { cloud: folder.cloud }) })
  })
}

function nameOf(site: string, { path }: LayerFolder): string {
  return `${site}-${path.replace(/^clouds\//, '').replaceAll('/', '-')}`
}

/** The layer before it in its own cloud; for a cloud's first one, the last of what is shared. */
function dependency(folder: LayerFolder, folders: readonly LayerFolder[]): readonly LayerFolder[] {
  const earlier = folders.filter(
    (layerFolder) =>
      layerFolder.cloud === folder.cloud && layers.indexOf(layerFolder.layer) < layers.indexOf(folder.layer),
  )
  const own = earlier.at(-1)
  if (own) return [own]
  return folder.cloud === undefined ? [] : folders.filter((folder) => folder.cloud === undefined).slice(-1)
}
