/** The CustomResourceDefinitions of the kinds that the operator works with, over all of its parts. */
import type { KubeObject } from '../api/object.ts'
import { partsNamed } from './fit.ts'
import type { OperatorPart } from './parts/part.ts'
import { parts } from './parts.ts'

export interface Definitions {
  /** Stackloom's own, or such as replace others of the same name. */
  readonly own: readonly KubeObject[]
  /** The same names and fields as upstream's, which are used where they are installed. */
  readonly upstream: readonly KubeObject[]
}

export function definitionsOf(chosen: readonly OperatorPart[]): Definitions {
  return {
    own: chosen.flatMap((part) => part.crds.own),
    upstream: chosen.flatMap((part) => part.crds.upstream),
  }
}

export function definitionsNamed(named: readonly string[] | undefined): Definitions {
  return named ? definitionsOf(partsNamed(parts, named)) : fitting
}

/** Of the parts that fit in every cluster: the others must be asked for by name. */
const fitting = definitionsOf(parts.filter(({ clash }) => !clash))

export const ownCrds = fitting.own
