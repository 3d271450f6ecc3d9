/** The simulated nmstate accepts what is rendered: every policy of a node of every example, in the order of `up`. */
import { describe, expect, it } from 'vitest'
import { renderBasePolicies, renderCloudPolicies } from '../../../src/render/nmstate.ts'
import { applyDesiredState, type NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'
import { findRefusal } from '../../../src/sandbox/actors/nmstate/find-refusal.ts'
import { exampleSites, planExample } from '../../examples.ts'

describe('the simulated nmstate', () => {
  it.each(exampleSites)('accepts every state that is rendered for %s', (name) => {
    const plan = planExample(name)
    const policies = [...renderBasePolicies(plan), ...plan.clouds.flatMap((cloud) => renderCloudPolicies(plan, cloud))]
    const [node] = plan.from.cluster.nodes
    const cards = plan.from.cluster.bonds.flatMap(({ ports }) => ports)
    const inventory = { nics: [...Object.values(node?.nics ?? {}), ...cards] }
    let state: NetworkState = {}
    for (const { metadata, spec } of policies) {
      if (!metadata.name.endsWith(node?.name ?? '')) continue
      const { desiredState } = spec as { readonly desiredState: NetworkState }
      expect(findRefusal(state, desiredState, inventory)).toBeUndefined()
      state = applyDesiredState(state, desiredState)
    }
    expect(state.interfaces?.length).toBeGreaterThan(1)
  })
})
