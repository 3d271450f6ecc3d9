/** Defines readiness: ready, progressing (what it waits for), or failed (the cause and the next command). Unknown is progressing. */
import type { KubeObject } from '../../api/object.ts'
import { ageMs, formatObjectName } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'

export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progressing'; readonly waits: string }
  | { readonly kind: 'failed'; readonly cause: string; readonly next: string }

/** What a rule may use besides the object itself. */
export interface ReadinessContext {
  /** Other objects of the cluster. */
  readonly around: SnapshotIndex
  /** When the cluster was read, in milliseconds since the epoch. */
  readonly now: number
  /** How long a temporary error is not a failure. */
  readonly grace: Grace
  /** When this run had applied its objects, in milliseconds since the epoch. */
  readonly since?: number
  /** Nodes of the site, on which node agents must run. */
  readonly nodes: readonly string[]
  /** The applied object, for kinds without a status. */
  readonly desired?: KubeObject
  /** Planned addresses of a namespace. */
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

/** How long an error lasts. An error from before the apply counts from the apply, which may have repaired its cause. */
export function errorAgeMs(time: string | undefined, { now, since }: Pick<ReadinessContext, 'now' | 'since'>): number {
  const age = ageMs(time, now)
  return since === undefined ? age : Math.min(age, Math.max(0, now - since))
}

export type ReadinessRule = (object: KubeObject, context: ReadinessContext) => Readiness

export const ready: Readiness = { kind: 'ready' }

export function progressing(waits: string): Readiness {
  return { kind: 'progressing', waits }
}

export function failed(cause: string, next: string): Readiness {
  return { kind: 'failed', cause, next }
}

/** The first failure, otherwise the first progressing verdict. */
export function worst(verdicts: readonly Readiness[]): Readiness {
  return (
    verdicts.find((verdict) => verdict.kind === 'failed') ??
    verdicts.find((verdict) => verdict.kind !== 'ready') ??
    ready
  )
}

/** An object that is being deleted is neither ready nor failed, regardless of its status. */
export function applyRule(rule: ReadinessRule, object: KubeObject, context: ReadinessContext): Readiness {
  return isBeingDeleted(object)
    ? progressing(`${formatObjectName(object)} is being deleted${formatFinalizers(object)}`)
    : rule(object, context)
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** ` (kept by openstack.org/cell)`: an object stays until all finalizers are removed. */
export function formatFinalizers({ metadata: { finalizers = [] } }: KubeObject): string {
  return finalizers.length > 0 ? ` (kept by ${finalizers.join(', ')})` : ''
}
