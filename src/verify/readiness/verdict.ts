/**
 * What can be said of an object's readiness, and how several verdicts become one.
 *
 * Three answers only: ready, progressing with what it waits for, failed with the cause and the next command.
 * Unknown is progressing: it never counts as success, and slow is not failed.
 */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'

export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progressing'; readonly waits: string }
  | { readonly kind: 'failed'; readonly cause: string; readonly next: string }

/** What a rule may look at besides the object itself. */
export interface ReadinessContext {
  /** Everything that was gathered around the object. */
  readonly around: SnapshotIndex
  /** Milliseconds since the epoch, as the cluster was looked at. */
  readonly now: number
  /** How long a state that may heal by itself is only slow. */
  readonly grace: Grace
  /** Nodes on which node agents must run: the site's. */
  readonly nodes: readonly string[]
  /** The object as it was applied, for kinds without a status: they are ready when they read back as written. */
  readonly desired?: KubeObject
  /** Addresses that the plan gives this namespace; a LoadBalancer Service must have one of them, and its own. */
  readonly planned?: (namespace: string) => ReadonlySet<string> | undefined
}

export interface Grace {
  /** A condition of severity Error. */
  readonly errorMs: number
  /** An image that cannot be pulled, a container that crashes. */
  readonly podMs: number
  /** An address that cannot be allocated, a volume that cannot be provisioned. */
  readonly allocationMs: number
}

export const defaultGrace: Grace = { errorMs: 300_000, podMs: 180_000, allocationMs: 60_000 }

export type ReadinessRule = (object: KubeObject, context: ReadinessContext) => Readiness

export const ready: Readiness = { kind: 'ready' }

export function progressing(waits: string): Readiness {
  return { kind: 'progressing', waits }
}

export function failed(cause: string, next: string): Readiness {
  return { kind: 'failed', cause, next }
}

/** The worst of several: a failure first, then the first wait. */
export function worst(verdicts: readonly Readiness[]): Readiness {
  return (
    verdicts.find((verdict) => verdict.kind === 'failed') ??
    verdicts.find((verdict) => verdict.kind !== 'ready') ??
    ready
  )
}

export function applyRule(rule: ReadinessRule, object: KubeObject, context: ReadinessContext): Readiness {
  return isBeingDeleted(object)
    ? progressing(`${formatObjectName(object)} is being deleted${formatFinalizers(object)}`)
    : rule(object, context)
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** ` (kept by openstack.org/cell)`: an object with finalizers stays until each is removed. */
export function formatFinalizers({ metadata: { finalizers = [] } }: KubeObject): string {
  return finalizers.length > 0 ? ` (kept by ${finalizers.join(', ')})` : ''
}
