/** Sites with two clouds that are small enough for virtual machines without KVM: two or three networks per cloud and the bridge. */
import { readFileSync } from 'node:fs'
import { hasErrors } from '../../../src/errors/finding.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { planExample, planTextForRelease } from '../../examples.ts'
import { sandboxPlan } from '../../plan.ts'
import { TODAY } from '../../sandbox-context.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

export function smallPlan(): Plan {
  return keepNetworks(sandboxPlan({ nodes: 2, clouds, families: [4] }), ['ctlplane', 'internalapi', 'datacentre'])
}

/** Two NICs, both families, and jumbo frames on one of the NICs. Without more networks its VIPs are on bridges. */
export function widePlan(more: readonly string[] = []): Plan {
  const file = 'test/samples/rehearse/wide.yaml'
  const plan = planTextForRelease(readFileSync(file), file, TODAY)
  if (hasErrors(plan.findings)) throw new Error(JSON.stringify(plan.findings))
  return keepNetworks(plan, ['ctlplane', 'storage', 'datacentre', ...more])
}

/** Bonds with LACP, both families, and VIPs announced by BGP. */
export function bgpPlan(): Plan {
  return keepNetworks(planExample('five-clouds-bgp'), ['ctlplane', 'internalapi', 'datacentre'])
}

function keepNetworks(plan: Plan, names: readonly string[]): Plan {
  const isKept = (network: string): boolean => names.includes(network.split('/')[1] ?? '')
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.filter(({ name }) => names.includes(name)),
      uses: cloud.uses.filter(({ network }) => names.includes(network)),
    })),
    segments: plan.segments.filter(({ networks }) => networks.some(isKept)),
  }
}
