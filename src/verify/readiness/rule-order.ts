/**
 * Deletion comes before the rule of any kind: what is on its way out is neither ready nor failed, whatever its status
 * still says. Whoever asks one rule directly asks it through `judgeBy`.
 */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { progressing, type Readiness, type ReadinessContext, type ReadinessRule } from './verdict.ts'

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
