/**
 * Enacts the policies of sites with the real nmstate on a virtual machine: of every example, and of upstream's architecture
 * (STACKLOOM_ARCHITECTURE is a checkout). The second time nothing changes, and when they are removed nothing is left.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { absentState } from '../../../src/deploy/node-policies.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { applyPolicies, reapplyPolicies } from '../../../src/rehearse/apply-policies.ts'
import { kernelSettings } from '../../../src/rehearse/kernel-settings.ts'
import { applyScript } from '../../../src/rehearse/node-scripts.ts'
import { narrowPlan, planPolicies } from '../../../src/rehearse/rehearsal-plan.ts'
import { planTopology } from '../../../src/rehearse/topology.ts'
import { planArchitecture, requireArchitecture } from '../../architecture.ts'
import { requireSoak } from '../../counts.ts'
import { exampleSites, planExample } from '../../examples.ts'
import { requireRehearsal } from './prepared.ts'
import { startTopology } from './running-topology.ts'

/** What policies create: interfaces, addresses, rules, and routes of tables other than those of the kernel. */
const CREATED = [
  'ls /sys/class/net',
  'ip -o address show scope global | cut -d" " -f2-7',
  ...['-4', '-6'].flatMap((family) => [`ip ${family} rule`, `ip ${family} route show table 18000 2>/dev/null`]),
].join('\n')

async function enact(whole: Plan): Promise<void> {
  const plan = narrowPlan(whole, { nodes: 1, clouds: [] })
  const topology = planTopology(whole, plan.from.cluster.nodes)
  const { nodes, close } = await startTopology(topology, kernelSettings(whole))
  try {
    const [node] = nodes
    const [policies] = planPolicies(whole, plan)
    if (!node || !policies) throw new Error(`${whole.site} has no node`)
    const before = await node.agent.run(CREATED)
    const outcomes = await applyPolicies(node, policies)
    expect(outcomes.flatMap(({ finding }) => finding ?? [])).toEqual([])
    expect(outcomes).toHaveLength(policies.policies.length)
    expect(await reapplyPolicies(node, policies)).toEqual([])
    const rest = [...policies.policies]
    for (let policy = rest.pop(); policy; policy = rest.pop()) {
      const state = Object.entries(absentState(policy, rest) ?? {}).filter(([, value]) => value !== null)
      const { code, output } = await node.agent.run(applyScript(Object.fromEntries(state)))
      expect(code, `${policy.metadata.name}: ${output}`).toBe(0)
    }
    expect((await node.agent.run(CREATED)).output).toBe(before.output)
  } finally {
    await close()
  }
}

describe('the policies of a site', { timeout: 3_600_000 }, () => {
  beforeEach(requireSoak)
  beforeEach(requireRehearsal)

  it.each(exampleSites)('are enacted by nmstate, stay as they are, and leave nothing: %s', (name) =>
    enact(planExample(name)),
  )

  const folder = process.env['STACKLOOM_ARCHITECTURE']
  const upstream = folder === undefined ? [] : distinctSites(planArchitecture(folder))

  it('are enacted for values files of upstream that the planner accepts', (context) => {
    requireArchitecture(context)
    expect(upstream.length).toBeGreaterThan(10)
  })

  it.each(upstream)('are enacted for the values file of upstream %s', (_, plan) => enact(plan))
})

/** By the policies of the first node: many files differ only in what is not on nodes. */
function distinctSites(plans: ReadonlyMap<string, Plan>): readonly (readonly [string, Plan])[] {
  const byPolicies = new Map<string, readonly [string, Plan]>()
  for (const [name, plan] of plans) {
    const [first] = planPolicies(plan, narrowPlan(plan, { nodes: 1, clouds: [] }))
    byPolicies.set(JSON.stringify(first?.policies.map(({ spec }) => spec)), [name, plan])
  }
  return [...byPolicies.values()]
}
