/** Clouds that install_yamls has deployed, as their site file has them: one per case of a test. */
import type { Plan } from '../../../src/plan/plan.ts'
import { testPlan } from '../../plan.ts'

export function adoptPlan(clouds: number): Plan {
  return testPlan({
    clouds: Array.from({ length: clouds }, (_, at) => ({
      name: `rhoso${at}`,
      namespace: `openstack${at}`,
      // The fork's patch does not know designate: with it the second cloud would wait for an address for ever.
      services: { cinder: true, barbican: true, swift: true, designate: at !== 1 },
    })),
  })
}
