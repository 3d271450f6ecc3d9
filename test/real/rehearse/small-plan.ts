/** A site with two clouds that is small enough for virtual machines without KVM: two networks per cloud and the bridge. */
import type { Plan } from '../../../src/plan/plan.ts'
import { sandboxPlan } from '../../plan.ts'

const kept = new Set(['ctlplane', 'internalapi', 'datacentre'])

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

export function smallPlan(): Plan {
  const plan = sandboxPlan({ nodes: 2, clouds, families: [4] })
  const isKept = (network: string): boolean => kept.has(network.split('/')[1] ?? '')
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.filter(({ name }) => kept.has(name)),
      uses: cloud.uses.filter(({ network }) => kept.has(network)),
    })),
    segments: plan.segments.filter(({ networks }) => networks.some(isKept)),
  }
}
