/** Enacts the policies of every example with the real nmstate on a virtual machine, the second time without a change. */
import { beforeEach, describe, expect, it } from 'vitest'
import { applyPolicies, reapplyPolicies } from '../../../src/rehearse/apply-policies.ts'
import { kernelSettings } from '../../../src/rehearse/kernel-settings.ts'
import { narrowPlan, planPolicies } from '../../../src/rehearse/rehearsal-plan.ts'
import { planTopology } from '../../../src/rehearse/topology.ts'
import { requireSoak } from '../../counts.ts'
import { exampleSites, planExample } from '../../examples.ts'
import { requireRehearsal } from './prepared.ts'
import { startTopology } from './running-topology.ts'

describe('the policies of an example', { timeout: 3_600_000 }, () => {
  beforeEach(requireSoak)
  beforeEach(requireRehearsal)

  it.each(exampleSites)('are enacted by nmstate and stay as they are: %s', async (name) => {
    const whole = planExample(name)
    const plan = narrowPlan(whole, { nodes: 1, clouds: [] })
    const topology = planTopology(whole, plan.from.cluster.nodes)
    const { nodes, close } = await startTopology(topology, kernelSettings(whole))
    try {
      const [node] = nodes
      const [policies] = planPolicies(whole, plan)
      if (!node || !policies) throw new Error(`${name} has no node`)
      const outcomes = await applyPolicies(node, policies)
      expect(outcomes.flatMap(({ finding }) => finding ?? [])).toEqual([])
      expect(outcomes).toHaveLength(policies.policies.length)
      expect(await reapplyPolicies(node, policies)).toEqual([])
    } finally {
      await close()
    }
  })
})
