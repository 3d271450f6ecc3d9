/** Clouds that install_yamls has deployed, as their site file has them: one per case of a test. */
import type { Plan } from '../../../src/plan/plan.ts'
import { testPlan } from '../../plan.ts'

export function adoptPlan(clouds: number): Plan {
  return testPlan({
    clouds: Array.from({ length: clouds }, (_, at) => ({
      name: `rhoso${at}`,
      namespace: `openstack${at}`,
      services: { cinder: true, barbican: true, swift: true, designate: true },
    })),
  })
}
