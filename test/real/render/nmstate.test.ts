/** Validates every desired state that we write, up and absent, with `nmstatectl validate`, which needs no node. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { absentInterfaces } from '../../../src/deploy/node-policies.ts'
import { renderBasePolicies, renderCloudPolicies } from '../../../src/render/nmstate.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { hasNmstatectl, nmstatectlPath } from '../../../tools/nmstatectl.ts'
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

  it('refuses an invalid state', () => {
    expect(judge('wrong', { interfaces: [{ name: 'eth0', type: 'vlan', vlan: { id: 20 } }] })).toContain('wrong')
  })
})
