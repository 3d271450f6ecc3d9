/**
 * What the rest of Stackloom asks of a cluster: small verbs on plain JSON objects.
 *
 * Only interfaces. `transport.ts` speaks HTTP, `verbs.ts` implements this; a test may pass anything of this shape.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'

export interface ObjectRef extends GroupVersionKind {
  readonly name: string
  readonly namespace?: string
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Objects per page; the client follows `continue` by itself. */
  readonly limit?: number
  /** What of each object is kept, page by page; all of it unless told otherwise. */
  readonly keep?: (object: KubeObject) => KubeObject
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
  /** A connection that sends nothing for so long is taken for dead. */
  readonly idleMs?: number
}

/** What every request can be told. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Waits behind no other request of this program: for what must be in time however much there is to do. */
  readonly ahead?: boolean
}

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string
  readonly dryRun?: boolean
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Takes fields from other managers. Never unless a person asked. */
  readonly force?: boolean
  readonly subresource?: 'status'
}

export interface PatchOptions extends WriteOptions {
  readonly type: 'json' | 'merge'
  readonly subresource?: 'status' | 'scale'
}

export interface DeleteOptions extends Omit<WriteOptions, 'fieldManager'> {
  readonly propagation?: 'Foreground' | 'Background' | 'Orphan'
  /** The delete happens only to the object that the caller has seen. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A served kind: where its objects live. */
export interface Resource extends GroupVersionKind {
  readonly plural: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export interface KubeReader {
  /** The object, or undefined when there is none (or no such kind is served). */
  readonly get: (ref: ObjectRef, options?: RequestOptions) => Promise<KubeObject | undefined>
  readonly list: (kind: GroupVersionKind, options?: ListOptions) => Promise<ObjectList>
  /**
   * Ends when the server ends the watch or the signal is aborted; throws ApiError otherwise (`expired`: list again;
   * `timeout`: nothing came for `idleMs`). Never retries: resuming belongs to the reflector.
   */
  readonly watch: (kind: GroupVersionKind, options: WatchOptions) => AsyncIterable<WatchEvent>
  /** Where a kind is served, or undefined; asks again when the kind was unknown so far. */
  readonly resource: (kind: GroupVersionKind) => Promise<Resource | undefined>
  /** The versions (`metallb.io/v1beta1`) in which a group is served, the preferred one first; none when it is not. */
  readonly versions: (group: string) => Promise<readonly string[]>
}

export interface KubeWriter {
  readonly create: (object: KubeObject, options?: WriteOptions) => Promise<KubeObject>
  readonly update: (
    object: KubeObject,
    options?: WriteOptions & { readonly subresource?: 'status' },
  ) => Promise<KubeObject>
  /** Server-side apply with strict field validation: unknown fields are refused, never dropped. */
  readonly apply: (object: KubeObject, options: ApplyOptions) => Promise<KubeObject>
  readonly patch: (ref: ObjectRef, patch: unknown, options: PatchOptions) => Promise<KubeObject>
  /** True when something was deleted or is being deleted, false when there was nothing. */
  readonly delete: (ref: ObjectRef, options?: DeleteOptions) => Promise<boolean>
}

export type KubeClient = KubeReader & KubeWriter
