/**
 * Builds the labels that every rendered object carries: manager, site, cloud and network.
 *
 * Does not set `app.kubernetes.io/instance`: Argo CD uses that label for its own tracking.
 */
import type { KubeObject } from '../api/object.ts'
import { MANAGED_BY_LABEL } from '../api/ownership.ts'

export interface Ownership {
  readonly site: string
  readonly cloud?: string
  readonly network?: string
}

const PART_OF = 'app.kubernetes.io/part-of'
export const CLOUD_LABEL = 'stackloom.dev/cloud'
const NETWORK = 'stackloom.dev/network'

export const stackloomLabels: readonly string[] = [MANAGED_BY_LABEL, PART_OF, CLOUD_LABEL, NETWORK]

export function ownershipLabels({ site, cloud, network }: Ownership): Readonly<Record<string, string>> {
  const labels: Record<string, string> = { [MANAGED_BY_LABEL]: 'stackloom', [PART_OF]: site }
  if (cloud !== undefined) labels[CLOUD_LABEL] = cloud
  if (network !== undefined) labels[NETWORK] = network
  return labels
}

export function addOwnershipLabels(object: KubeObject, owner: Ownership): KubeObject {
  const { metadata } = object
  const ownership = ownershipLabels(owner)
  const labels = metadata.labels ? { ...metadata.labels, ...ownership } : ownership
  return { ...object, metadata: { ...metadata, labels } }
}
