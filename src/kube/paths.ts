/** Builds the URL paths of kinds and objects on an API server. Pure. */
import { type GroupVersionKind, type KubeObject, objectIdentity } from '../api/object.ts'
import { finding } from '../errors/finding.ts'
import { ApiError } from './api-error.ts'
import type { Resource } from './client.ts'
import { objectMissing, objectRefused } from './findings/api-server.ts'

/** `/api/v1`, `/apis/apps/v1`. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const inside = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${groupPath(resource.apiVersion)}${inside}/${resource.plural}`
}

interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/**
 * Names that no object can have. A tenant chooses names of what it refers to: a path with `..` would mean another object,
 * such as the namespace, and one with a slash a subresource.
 */
const IMPOSSIBLE = /^\.{1,2}$|[/%]/

export function objectPath(resource: Resource, object: ObjectName, subresource?: string): string {
  const { namespace = '', name } = object
  if ([namespace, name].some((step) => IMPOSSIBLE.test(step))) {
    const { apiVersion, plural } = resource
    const missing = finding(objectMissing, { object: `${apiVersion} ${plural} ${namespace}/${name}` })
    throw new ApiError({ kind: 'not-found', finding: missing })
  }
  const tail = subresource ? `/${subresource}` : ''
  return `${collectionPath(resource, object.namespace)}/${encodeURIComponent(object.name)}${tail}`
}

/** The path of an object to write: an impossible name is refused, as the API server does where the name is not in the path. */
export function writtenPath(resource: Resource, { kind, metadata }: KubeObject, subresource?: string): string {
  if (!IMPOSSIBLE.test(metadata.name)) return objectPath(resource, metadata, subresource)
  const object = formatSubject({ apiVersion: resource.apiVersion, kind }, metadata)
  const reasons = [`metadata.name: ${JSON.stringify(metadata.name)} is not a name`]
  throw new ApiError({ kind: 'invalid', finding: finding(objectRefused, { object, reasons }) })
}

/** `metallb.io/IPAddressPool metallb-system/a` for an object, `v1 Pod` for a kind. */
export function formatSubject(kind: GroupVersionKind, object?: ObjectName): string {
  if (!object) return `${kind.apiVersion} ${kind.kind}`
  return objectIdentity({ ...kind, metadata: object })
}
