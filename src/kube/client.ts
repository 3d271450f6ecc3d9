/**
 * Defines what the rest of Stackloom needs from a cluster: verbs on plain JSON objects.
 *
 * Only interfaces. `http-client.ts` implements them; a test may pass any value of this shape.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { WriteGuard } from './write-guard.ts'

export interface ObjectRef extends GroupVersionKind {
  readonly name: string
  readonly namespace?: string
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Objects per page; the client follows `continue`. */
  readonly limit?: number
  /** The part of each object to keep, applied page by page; everything by default. */
  readonly transform?: (object: KubeObject) => KubeObject
  /** The server leaves out everything but `metadata`. */
  readonly metadataOnly?: boolean
  readonly signal?: AbortSignal
}

export interface ObjectList {
  readonly items: readonly KubeObject[]
  /** Opaque: compare for equality only. */
  readonly resourceVersion: string
}

export type WatchEvent =
  | { readonly kind: 'added' | 'modified' | 'deleted'; readonly object: KubeObject }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string }

export interface WatchOptions extends Omit<ListOptions, 'limit'> {
  readonly resourceVersion: string
  /** The server ends the watch after this time; the client resumes. */
  readonly timeoutSeconds?: number
  /** A connection that is silent for this long is treated as dead. */
  readonly idleMs?: number
}

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Does not wait behind other requests of this program: for requests with a deadline, such as a lease renewal. */
  readonly priority?: boolean
}

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string
  readonly dryRun?: boolean
  /** Called each time the request is about to be sent; nothing is sent when it throws. */
  readonly guard?: WriteGuard
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Takes fields from other managers. Only when the user requested it. */
  readonly force?: boolean
  readonly subresource?: 'status'
}

export interface PatchOptions extends WriteOptions {
  readonly type: 'json' | 'merge'
  readonly subresource?: 'status' | 'scale'
}

export interface DeleteOptions extends Omit<WriteOptions, 'fieldManager'> {
  readonly propagation?: 'Foreground' | 'Background' | 'Orphan'
  /** Deletes only this exact object. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A served kind and where its objects are. */
export interface Resource extends GroupVersionKind {
  readonly plural: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export interface KubeReader {
  /** The object, or undefined when it does not exist or its kind is not served. */
  readonly get: (ref: ObjectRef, options?: RequestOptions) => Promise<KubeObject | undefined>
  readonly list: (kind: GroupVersionKind, options?: ListOptions) => Promise<ObjectList>
  /**
   * Ends when the server ends the watch or the signal is aborted; throws ApiError otherwise (`expired`: list again;
   * `timeout`: nothing came for `idleMs`). Never retries: resuming belongs to the reflector.
   */
  readonly watch: (kind: GroupVersionKind, options: WatchOptions) => AsyncIterable<WatchEvent>
  /** Where a kind is served, or undefined; an unknown kind is looked up again each time. */
  readonly resource: (kind: GroupVersionKind) => Promise<Resource | undefined>
  /** The served versions of a group (`metallb.io/v1beta1`), the preferred one first; empty when it is not served. */
  readonly versions: (group: string) => Promise<readonly string[]>
}

export interface KubeWriter {
  readonly create: (object: KubeObject, options?: WriteOptions) => Promise<KubeObject>
  readonly update: (
    object: KubeObject,
    options?: WriteOptions & { readonly subresource?: 'status' },
  ) => Promise<KubeObject>
  /** Server-side apply with strict field validation: unknown fields are rejected, never dropped. */
  readonly apply: (object: KubeObject, options: ApplyOptions) => Promise<KubeObject>
  readonly patch: (ref: ObjectRef, patch: unknown, options: PatchOptions) => Promise<KubeObject>
  /** True when the object was deleted or is being deleted, false when it did not exist. */
  readonly delete: (ref: ObjectRef, options?: DeleteOptions) => Promise<boolean>
}

export type KubeClient = KubeReader & KubeWriter
