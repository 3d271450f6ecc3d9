/**
 * Validates every desired state that we write, up and absent, with `nmstatectl validate`, and the whole state of every node with
 * the checks that nmstate makes before it touches a node (`nmstatectl gc`). Neither needs a node.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { absentInterfaces, selectedNode } from '../../../src/deploy/node-policies.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { renderBasePolicies, renderCloudPolicies } from '../../../src/render/nmstate.ts'
import { applyDesiredState, type NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { hasNmstatectl, nmstatectlPath } from '../../../tools/nmstatectl.ts'
import { planArchitecture, requireArchitecture } from '../../architecture.ts'
import { exampleSites, planExample } from '../../examples.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-nmstate-'))
afterAll(() => rmSync(folder, { recursive: true }))

function judge(name: string, state: unknown): string | undefined {
  const file = path.join(folder, `${name}.yaml`)
  writeFileSync(file, writeYaml(state))
  const { status, stderr } = spawnSync(nmstatectlPath(), ['validate', file], { encoding: 'utf8' })
  return status === 0 ? undefined : `${name}: ${stderr}`
}

interface State {
  readonly name: string
  readonly state: unknown
}

function refusals(states: readonly State[], form: string): readonly string[] {
  return states.flatMap(({ name, state }) => judge(`${name}-${form}`, state) ?? [])
}

function upOf(policies: readonly KubeObject[]): readonly State[] {
  return policies.map(({ metadata, spec }) => ({
    name: metadata.name,
    state: (spec as { readonly desiredState: unknown }).desiredState,
  }))
}

/** What `down` writes to these policies while the others stay; nothing for a policy that created no interface. */
function absentOf(policies: readonly KubeObject[], others: readonly KubeObject[]): readonly State[] {
  return policies
    .map((policy) => ({ name: policy.metadata.name, state: { interfaces: absentInterfaces(policy, others) } }))
    .filter(({ state }) => state.interfaces.length > 0)
}

function translate(state: unknown): string | undefined {
  const input = JSON.stringify(state)
  const { status, stderr } = spawnSync(nmstatectlPath(), ['gc', '-'], { input, encoding: 'utf8' })
  return status === 0 ? undefined : stderr
}

/** Nodes whose state, as all policies together leave it, nmstate refuses. */
function untranslated(plan: Plan): readonly string[] {
  const policies = [...renderBasePolicies(plan), ...plan.clouds.flatMap((cloud) => renderCloudPolicies(plan, cloud))]
  return plan.from.cluster.nodes.flatMap(({ name }) => {
    const states = upOf(policies.filter((policy) => selectedNode(policy) === name))
    const whole = states.reduce<NetworkState>(
      (before, { state }) => applyDesiredState(before, state as NetworkState),
      {},
    )
    const reason = translate(whole)
    return reason === undefined ? [] : [`${plan.site} ${name}: ${reason}`]
  })
}

describe('nmstate', () => {
  beforeEach((context) => {
    if (!hasNmstatectl()) context.skip('nmstatectl is not built; `make setup` builds it with cargo')
  })

  it.each(exampleSites)('accepts every desired state of %s, up and absent', (name) => {
    const plan = planExample(name)
    const base = renderBasePolicies(plan)
    const clouds = plan.clouds.map((cloud) => renderCloudPolicies(plan, cloud))
    const all = [...base, ...clouds.flat()]
    const up = upOf(all)
    const oneGoes = clouds.flatMap((policies) =>
      absentOf(
        policies,
        all.filter((policy) => !policies.includes(policy)),
      ),
    )
    const absent = absentOf(all, [])
    expect([...refusals(up, 'up'), ...refusals(oneGoes, 'one-goes'), ...refusals(absent, 'absent')]).toEqual([])
    expect(up.length).toBeGreaterThan(0)
    expect(absent.length).toBeGreaterThan(0)
  })

  it.each(exampleSites)('translates the whole state of every node of %s', (name) => {
    expect(untranslated(planExample(name))).toEqual([])
  })

  it('translates the whole state of every node of the sites of upstream', (context) => {
    const plans = planArchitecture(requireArchitecture(context))
    expect(plans.size).toBeGreaterThan(20)
    expect([...plans.values()].flatMap(untranslated)).toEqual([])
  })

  it('translates no bridge with the name of its NIC', () => {
    const bridge = { name: 'ospbr', type: 'linux-bridge', state: 'up', bridge: { port: [{ name: 'ospbr' }] } }
    expect(translate({ interfaces: [bridge] })).toContain('nested interface')
  })

  it('refuses an invalid state', () => {
    expect(judge('wrong', { interfaces: [{ name: 'eth0', type: 'vlan', vlan: { id: 20 } }] })).toContain('wrong')
  })
})
