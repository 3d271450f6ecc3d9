/** What a Service asks MetalLB for, in both spellings of its annotations. Pure. */
import type { Annotations } from './live-slots.ts'

const NEW = 'metallb.io'
const OLD = 'metallb.universe.tf'

export type MetalLbAnnotation = 'address-pool' | 'allow-shared-ip' | 'loadBalancerIPs'

/** The newer spelling wins where it is there, even when it is empty: so MetalLB reads them. */
export function readAnnotation(annotations: Annotations | undefined, wish: MetalLbAnnotation): string {
  return annotations?.[`${NEW}/${wish}`] ?? annotations?.[`${OLD}/${wish}`] ?? ''
}

/** The new spelling wins over what an operator once wrote and never removes; the old one is for those who read no other. */
export function writeAnnotations(wishes: Readonly<Partial<Record<MetalLbAnnotation, string>>>): Annotations {
  const entries = Object.entries(wishes)
  return Object.fromEntries([OLD, NEW].flatMap((prefix) => entries.map(([name, text]) => [`${prefix}/${name}`, text])))
}

/** What of the wanted annotations is not there yet. */
export function missingAnnotations(wanted: Annotations, live: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => live?.[key] !== value))
}

export function isEmpty(annotations: Annotations): boolean {
  return Object.keys(annotations).length === 0
}
