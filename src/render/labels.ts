/**
 * The labels that every object of ours carries: who made it, for which site, cloud and network.
 *
 * No `app.kubernetes.io/instance`: Argo CD takes that one for its own.
 */
import type { KubeObject } from '../api/object.ts'

export interface Ownership {
  readonly site: string
  readonly cloud?: string
  readonly network?: string
}

export const MANAGED_BY = 'app.kubernetes.io/managed-by'
export const PART_OF = 'app.kubernetes.io/part-of'
export const CLOUD = 'stackloom.dev/cloud'
export const NETWORK = 'stackloom.dev/network'

export function labelsOf({ site, cloud, network }: Ownership): Readonly<Record<string, string>> {
  return {
    [MANAGED_BY]: 'stackloom',
    [PART_OF]: site,
    ...(cloud !== undefined && { [CLOUD]: cloud }),
    ...(network !== undefined && { [NETWORK]: network }),
  }
}

/** The object with our labels beside its own. */
export function labelled(object: KubeObject, owner: Ownership): KubeObject {
  const { metadata, ...rest } = object
  const labels = { ...metadata.labels, ...labelsOf(owner) }
  const { apiVersion, kind, ...body } = rest
  return { apiVersion, kind, metadata: { ...metadata, labels }, ...body }
}
