/** The CustomResourceDefinitions of the kinds that the operator works with, over all of its parts. */
import type { KubeObject } from '../../api/object.ts'
import { parts } from './parts.ts'

/** Stackloom's own: upstream has nothing like them. */
export const ownCrds: readonly KubeObject[] = parts.flatMap((part) => part.crds.own)

/** The same names and fields as upstream's, which are used where they are installed. */
export const upstreamCrds: readonly KubeObject[] = parts.flatMap((part) => part.crds.upstream)
