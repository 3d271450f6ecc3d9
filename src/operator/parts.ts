/** Lists the parts of the operator and their CRDs. A new part is added here and nowhere else. */
import type { KubeObject } from '../api/object.ts'
import { dataPlanePart } from '../dataplane/operator-part.ts'
import { partsByName } from './part-selection.ts'
import { addressesPart } from './parts/addresses-part.ts'
import { backupsPart } from './parts/backups-part.ts'
import { certificatesPart } from './parts/certificates-part.ts'
import { dnsPart } from './parts/dns-part.ts'
import { hostsPart } from './parts/hosts-part.ts'
import { ipamPart } from './parts/ipam-part.ts'
import type { OperatorPart } from './parts/part.ts'

export const parts: readonly OperatorPart[] = [
  ipamPart,
  dnsPart,
  dataPlanePart,
  hostsPart,
  addressesPart,
  certificatesPart,
  backupsPart,
]

export interface CrdSets {
  /** Kinds of Stackloom, and kinds that replace others with the same name. */
  readonly own: readonly KubeObject[]
  /** Upstream's names and fields: where upstream's CRDs are installed, those are used. */
  readonly upstream: readonly KubeObject[]
}

export function collectCrds(selected: readonly OperatorPart[]): CrdSets {
  return {
    own: selected.flatMap(({ crds }) => crds.own),
    upstream: selected.flatMap(({ crds }) => crds.upstream),
  }
}

export function crdsForParts(names: readonly string[] | undefined): CrdSets {
  return names ? collectCrds(partsByName(parts, names)) : defaultCrds
}

/** Of the parts that every cluster supports: the others must be selected by name. */
const defaultCrds = collectCrds(parts.filter(({ conflict }) => !conflict))

export const ownCrds = defaultCrds.own
