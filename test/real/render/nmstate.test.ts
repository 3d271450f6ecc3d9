/** nmstate itself judges every desired state that we render, up and absent: `nmstatectl validate`, no node needed. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import {
  renderAbsentBasePolicies,
  renderAbsentCloudPolicies,
  renderBasePolicies,
  renderCloudPolicies,
} from '../../../src/render/nmstate.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { hasNmstatectl, nmstatectl } from '../../../tools/nmstatectl.ts'
import { exampleSites, planExample } from '../../examples.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-nmstate-'))
afterAll(() => rmSync(folder, { recursive: true }))

function judge(name: string, state: unknown): string | undefined {
  const file = path.join(folder, `${name}.yaml`)
  writeFileSync(file, writeYaml(state))
  const { status, stderr } = spawnSync(nmstatectl(), ['validate', file], { encoding: 'utf8' })
  return status === 0 ? undefined : `${name}: ${stderr}`
}

function refusals(policies: readonly KubeObject[], form: string): readonly string[] {
  return policies.flatMap((policy) => {
    const { desiredState } = policy['spec'] as { readonly desiredState: unknown }
    return judge(`${policy.metadata.name}-${form}`, desiredState) ?? []
  })
}

describe('nmstate', () => {
  beforeEach((context) => {
    if (!hasNmstatectl()) context.skip('nmstatectl is not built; `make setup` builds it with cargo')
  })

  it.each(exampleSites)('takes every desired state of %s, up and absent', (name) => {
    const plan = planExample(name)
    const up = [
      ...renderBasePolicies(plan),
      ...plan.clouds.flatMap((cloud) => renderCloudPolicies(plan, cloud)),
    ]
    const absent = [
      ...plan.clouds.flatMap((cloud) => renderAbsentCloudPolicies(plan, cloud)),
      ...renderAbsentBasePolicies(plan),
    ]
    expect([...refusals(up, 'up'), ...refusals(absent, 'absent')]).toEqual([])
    expect(up.length).toBeGreaterThan(0)
    expect(absent.length).toBeGreaterThan(0)
  })

  it('would refuse a state that is none', () => {
    expect(judge('wrong', { interfaces: [{ name: 'eth0', type: 'vlan', vlan: { id: 20 } }] })).toContain(
      'wrong',
    )
  })
})
