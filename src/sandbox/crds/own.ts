/** The CRDs that Stackloom writes itself: in the set `own` each replaces the upstream one of the same name. */
import type { KubeObject } from '../../api/object.ts'

export const ownCrds: readonly KubeObject[] = []
