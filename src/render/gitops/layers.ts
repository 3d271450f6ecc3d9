/**
 * Layers: which documents can be applied together, and which must be healthy before the next ones make sense.
 *
 * Coarser than the stages of a deployment, because a GitOps tool knows no more than "after".
 */
import type { RenderedDocument } from '../render.ts'

export const layers = ['operators', 'operands', 'nodes', 'networks', 'control-plane', 'data-plane'] as const

export type Layer = (typeof layers)[number]

const operands = new Set(['NMState', 'MetalLB', 'OpenStack', 'BGPPeer'])

function layerOf({ stage, object }: RenderedDocument): Layer {
  switch (stage) {
    case 'nmstate':
    case 'metallb':
    case 'cert-manager':
    case 'openstack':
    case 'openstack-init':
      return operands.has(object.kind) ? 'operands' : 'operators'
    case 'nncp':
      return 'nodes'
    case 'namespace':
    case 'netattach':
    case 'metallb-config':
    case 'netconfig':
      return 'networks'
    case 'control-plane':
    case 'data-plane':
      return stage
  }
}

/** The documents of one folder: of a layer of a cloud, or of what the clouds share. */
export interface LayerFolder {
  /** `shared/operators`, `clouds/rhoso1/nodes`. */
  readonly path: string
  readonly layer: Layer
  readonly cloud?: string
  readonly documents: readonly RenderedDocument[]
}

/** Folders in the order in which they are applied; empty ones are not there. */
export function layerFolders(documents: readonly RenderedDocument[]): readonly LayerFolder[] {
  const folders = new Map<
    string,
    { readonly layer: Layer; readonly cloud?: string; readonly documents: RenderedDocument[] }
  >()
  for (const document of documents) {
    const layer = layerOf(document)
    const { cloud } = document
    const path = `${cloud === undefined ? 'shared' : `clouds/${cloud}`}/${layer}`
    const folder = folders.get(path) ?? { layer, ...(cloud !== undefined && { cloud }), documents: [] }
    folder.documents.push(document)
    folders.set(path, folder)
  }
  // Clouds keep their order, and within each the layers theirs.
  const rank = new Map([...new Set(documents.map(({ cloud }) => cloud))].map((cloud, index) => [cloud, index]))
  return [...folders]
    .map(([path, folder]) => ({ path, ...folder }))
    .sort(
      (a, b) =>
        (rank.get(a.cloud) ?? 0) - (rank.get(b.cloud) ?? 0) || layers.indexOf(a.layer) - layers.indexOf(b.layer),
    )
}

/** The documents as a stream that can be applied from top to bottom. */
export function sortByLayer(documents: readonly RenderedDocument[]): readonly RenderedDocument[] {
  return layerFolders(documents).flatMap((folder) => folder.documents)
}
