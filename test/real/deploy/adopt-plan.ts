/** Plans clouds as install_yamls deploys them, one for each case of a test. */
import type { Plan } from '../../../src/plan/plan.ts'
import { builtInTable } from '../../../src/plan/slots/built-in-crds.ts'
import { testPlan } from '../../plan.ts'

export function adoptPlan(clouds: number): Plan {
  return testPlan({
    // The release of the sample that install_yamls deploys.
    table: builtInTable('0.6.0'),
    clouds: Array.from({ length: clouds }, (_, index) => ({
      name: `rhoso${index}`,
      namespace: `openstack${index}`,
      // The patch of the fork does not cover designate, so the second cloud would wait for an address forever.
      services: { cinder: true, barbican: true, swift: true, designate: index !== 1 },
    })),
  })
}
