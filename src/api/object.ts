/** Types of Kubernetes objects as plain JSON: nothing is deserialised and nothing dropped. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFields {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time?: string
  readonly subresource?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFields[]
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** An object with spec and status, for kinds whose shape is known. */
export interface SpecObject<Spec, Status = unknown> extends KubeObject {
  readonly spec: Spec
  readonly status?: Status
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  /** An addition of lib-common: Error, Warning, Info or empty. */
  readonly severity?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}

export interface GroupVersionKind {
  readonly apiVersion: string
  readonly kind: string
}

/** `metallb.io` of `metallb.io/v1beta1`; empty for the core group. */
export function apiGroup(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export function objectKey(meta: { readonly namespace?: string; readonly name: string }): string {
  return meta.namespace ? `${meta.namespace}/${meta.name}` : meta.name
}

/** Identifies an object among all kinds: `metallb.io/IPAddressPool metallb-system/openstack-internalapi`. */
export function objectIdentity({
  apiVersion,
  kind,
  metadata,
}: GroupVersionKind & Pick<KubeObject, 'metadata'>): string {
  const group = apiGroup(apiVersion)
  return `${group && `${group}/`}${kind} ${objectKey(metadata)}`
}

/** Drops managedFields, which are half of most objects. The server keeps them in an update. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata.managedFields) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Formats a Kubernetes Time, which has no fractions of a second. */
export function formatTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}

/** Formats a Kubernetes MicroTime: the API server requires six digits, JavaScript has milliseconds. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}
