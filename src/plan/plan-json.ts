/** A plan as `plan -o json` prints it: every decision and finding, nothing of what it was planned from. */
import type { Plan, PlannedCloud } from './plan.ts'

export interface PlanJson extends Omit<Plan, 'from' | 'slots' | 'clouds'> {
  readonly clouds: readonly Omit<PlannedCloud, 'from' | 'services' | 'uses'>[]
}

export function planJson({ site, clouds, segments, bgp, findings }: Plan): PlanJson {
  return {
    site,
    clouds: clouds.map(({ name, namespace, networks }) => ({ name, namespace, networks })),
    segments,
    ...(bgp && { bgp }),
    findings,
  }
}
