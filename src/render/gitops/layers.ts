/**
 * Groups documents into layers: those that can be applied together, and that must be healthy before the next layer.
 *
 * Layers are coarser than the stages of a deployment, because a GitOps tool only has an order.
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

export interface LayerFolder {
  /** `shared/operators`, `clouds/rhoso1/nodes`. */
  readonly path: string
  readonly layer: Layer
  readonly cloud?: string
  readonly documents: readonly RenderedDocument[]
}

/** Folders in the order in which they are applied, without empty ones. */
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
  // Clouds keep their order, and layers keep theirs within each cloud.
  const rank = new Map([...new Set(documents.map(({ cloud }) => cloud))].map((cloud, index) => [cloud, index]))
  return [...folders]
    .map(([path, folder]) => ({ path, ...folder }))
    .sort(
      (a, b) =>
        (rank.get(a.cloud) ?? 0) - (rank.get(b.cloud) ?? 0) || layers.indexOf(a.layer) - layers.indexOf(b.layer),
    )
}

/** Sorts documents so that the stream can be applied from top to bottom. */
export function sortByLayer(documents: readonly RenderedDocument[]): readonly RenderedDocument[] {
  return layerFolders(documents).flatMap((folder) => folder.documents)
}
