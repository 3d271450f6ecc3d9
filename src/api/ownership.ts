/**
 * Determines the owner of an object. There are three meanings: an owner reference, the label of what Stackloom rendered, and the
 * field manager that applied it.
 *
 * Pure. Knows no cluster.
 */
import type { KubeObject, OwnerReference } from './object.ts'

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
/** The site. */
export const PART_OF_LABEL = 'app.kubernetes.io/part-of'
/** The site, on kinds whose operator sets `part-of` itself. */
export const SITE_LABEL = 'stackloom.dev/site'

/** Rendered by Stackloom, for a site or for its operator. */
export function isManagedByStackloom({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === 'stackloom'
}

/** The site that an object was rendered for, also where an operator has overwritten `part-of` since. */
export function findSite({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[SITE_LABEL] ?? metadata.labels?.[PART_OF_LABEL]
}

/** Applied by this field manager: for kinds where an installation of others may have the same name. */
export function isAppliedBy({ metadata }: KubeObject, fieldManager: string): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
  )
}

/** Created for this very object, by UID: a later owner with the same name does not count. */
export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)
}

export function findController({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)
}

export function controllerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** For watches: maps an object to the key of the controller of this kind that owns it. */
export function mapToOwner(kind: string): (object: KubeObject) => readonly string[] {
  return (object) => {
    const owner = findController(object)
    return owner?.kind === kind ? [`${object.metadata.namespace}/${owner.name}`] : []
  }
}
