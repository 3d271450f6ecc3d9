/**
 * A source: which objects one cache holds. Whoever names the same source shares the same cache.
 */
import type { GroupVersionKind } from '../api/object.ts'

export interface Source {
  readonly kind: GroupVersionKind
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** Equal for equal sources, whatever else the value carries. */
export function sourceKey({ kind, namespace, labelSelector, fieldSelector }: Source): string {
  return JSON.stringify([kind.apiVersion, kind.kind, namespace, labelSelector, fieldSelector])
}
