/** What the operator runs, as data. A further part is one more entry; `run`, `install` and `crds` need nothing else. */
import { dataPlanePart } from '../dataplane/operator-part.ts'
import { dnsPart } from './parts/dns-part.ts'
import { ipamPart } from './parts/ipam-part.ts'
import type { OperatorPart } from './parts/part.ts'

export const parts: readonly OperatorPart[] = [ipamPart, dnsPart, dataPlanePart]
