/** The CustomResourceDefinitions of the kinds that the operator works with, over all of its parts. */
import type { KubeObject } from '../api/object.ts'
import { partsByName } from './part-selection.ts'
import type { OperatorPart } from './parts/part.ts'
import { parts } from './parts.ts'

export interface CrdSets {
  /** Stackloom's own, or such as replace others of the same name. */
  readonly own: readonly KubeObject[]
  /** The same names and fields as upstream's, which are used where they are installed. */
  readonly upstream: readonly KubeObject[]
}

export function collectCrds(chosen: readonly OperatorPart[]): CrdSets {
  return {
    own: chosen.flatMap((part) => part.crds.own),
    upstream: chosen.flatMap((part) => part.crds.upstream),
  }
}

export function crdsForParts(named: readonly string[] | undefined): CrdSets {
  return named ? collectCrds(partsByName(parts, named)) : defaultCrds
}

/** Of the parts that fit in every cluster: the others must be asked for by name. */
const defaultCrds = collectCrds(parts.filter(({ conflict }) => !conflict))

export const ownCrds = defaultCrds.own
