/** Plans clouds as install_yamls deploys them, one for each case of a test. */
import type { Plan } from '../../../src/plan/plan.ts'
import { sandboxPlan } from '../../plan.ts'

export function adoptPlan(clouds: number): Plan {
  return sandboxPlan({
    clouds: Array.from({ length: clouds }, (_, index) => ({
      name: `rhoso${index}`,
      namespace: `openstack${index}`,
      // The patch of the fork does not cover designate, so the second cloud would wait for an address forever.
      services: { cinder: true, barbican: true, swift: true, designate: index !== 1 },
    })),
  })
}
