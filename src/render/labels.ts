/**
 * Builds the labels that every rendered object carries: manager, site, cloud and network.
 *
 * Does not set `app.kubernetes.io/instance`: Argo CD uses that label for its own tracking.
 */
import type { KubeObject } from '../api/object.ts'
import { MANAGED_BY_LABEL, PART_OF_LABEL, SITE_LABEL } from '../api/ownership.ts'

export interface Ownership {
  readonly site: string
  readonly cloud?: string
  readonly network?: string
}

export const CLOUD_LABEL = 'stackloom.dev/cloud'
const NETWORK = 'stackloom.dev/network'

/** The webhook of openstack-operator overwrites `part-of` of these up to 18.0-fr4: the two would rewrite it in turn. */
const kindsWithoutPartOf: readonly string[] = ['OpenStackDataPlaneService']

export const stackloomLabels: readonly string[] = [MANAGED_BY_LABEL, PART_OF_LABEL, SITE_LABEL, CLOUD_LABEL, NETWORK]

export function ownershipLabels({ site, cloud, network }: Ownership): Readonly<Record<string, string>> {
  const labels: Record<string, string> = { [MANAGED_BY_LABEL]: 'stackloom', [PART_OF_LABEL]: site }
  if (cloud !== undefined) labels[CLOUD_LABEL] = cloud
  if (network !== undefined) labels[NETWORK] = network
  return labels
}

export function addOwnershipLabels(object: KubeObject, owner: Ownership): KubeObject {
  const { metadata } = object
  const ownership = kindsWithoutPartOf.includes(object.kind) ? replacePartOf(owner) : ownershipLabels(owner)
  const labels = metadata.labels ? { ...metadata.labels, ...ownership } : ownership
  return { ...object, metadata: { ...metadata, labels } }
}

function replacePartOf(owner: Ownership): Readonly<Record<string, string>> {
  const { [PART_OF_LABEL]: _, ...labels } = ownershipLabels(owner)
  return { ...labels, [SITE_LABEL]: owner.site }
}
