/** Builds the URL paths of kinds and objects on an API server. Pure. */
import type { GroupVersionKind } from '../api/object.ts'
import type { Resource } from './client.ts'

/** `/api/v1`, `/apis/apps/v1`. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const inside = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${groupPath(resource.apiVersion)}${inside}/${resource.plural}`
}

export function objectPath(
  resource: Resource,
  object: { readonly namespace?: string | undefined; readonly name: string },
  subresource?: string,
): string {
  const tail = subresource ? `/${subresource}` : ''
  return `${collectionPath(resource, object.namespace)}/${encodeURIComponent(object.name)}${tail}`
}

/** `metallb.io/IPAddressPool metallb-system/a`, as `objectIdentity` formats it. */
export function formatSubject(
  kind: GroupVersionKind,
  object?: { readonly namespace?: string | undefined; readonly name: string },
): string {
  if (!object) return `${kind.apiVersion} ${kind.kind}`
  const group = kind.apiVersion.includes('/') ? `${kind.apiVersion.split('/')[0]}/` : ''
  return `${group}${kind.kind} ${object.namespace ? `${object.namespace}/` : ''}${object.name}`
}

/** `metallb.io` of `metallb.io/v1beta1`; empty for the core group. */
export function apiGroup(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
