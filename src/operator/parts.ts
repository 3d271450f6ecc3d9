/** What the operator runs, as data. A further part is one more entry; `run`, `install` and `crds` need nothing else. */
import { dataPlanePart } from './parts/data-plane.ts'
import { dnsPart } from './parts/dns.ts'
import { ipamPart } from './parts/ipam.ts'
import type { OperatorPart } from './parts/part.ts'

export const parts: readonly OperatorPart[] = [ipamPart, dnsPart, dataPlanePart]
