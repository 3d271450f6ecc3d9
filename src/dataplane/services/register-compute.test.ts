import { describe, expect, it } from 'vitest'
import type { Applied } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { RunDecision } from '../runs/decide-step.ts'
import { novaService } from '../service-definitions/nova.ts'
import type { World } from '../world.ts'
import { registerComputeHost } from './register-compute.ts'
import type { ServiceStepState } from './service-steps.ts'

const service: ServiceObject = {
  apiVersion: 'nova.openstack.org/v1beta1',
  kind: 'NovaExternalCompute',
  metadata: { name: 'n1', namespace: 'openstack' },
  spec: {},
} as ServiceObject

function situation(applied: Readonly<Record<string, Applied>>, decision: RunDecision = { kind: 'done' }) {
  const steps: readonly ServiceStepState[] = novaService.steps.map((step) => ({ step, hash: 'h2', decision }))
  return { service, state: {} as never, steps, applied, host: 'n1' }
}

const last = novaService.steps.at(-1)?.name ?? ''

/** Tells the control plane, and counts how often it was asked to look for hosts. */
async function tell(given: ReturnType<typeof situation>, discover = () => Promise.resolve()) {
  let asked = 0
  const controlPlane = { discoverHosts: () => ((asked += 1), discover()) }
  const world = { controlPlane } as unknown as World
  const duty = await registerComputeHost(world, novaService, given, new AbortController().signal)
  return { ...duty, asked }
}

describe('a compute that reached its host', () => {
  it('is told to its cell once for the same inputs, and again for others', async () => {
    const first = await tell(situation({ [last]: { hash: 'h1', run: 'r1' } }))
    expect([first.asked, first.condition.status]).toEqual([1, 'True'])
    expect((await tell(situation(first.applied))).asked).toBe(0)
    const changed = { ...first.applied, [last]: { hash: 'h2', run: 'r2' } }
    expect((await tell(situation(changed))).asked).toBe(1)
  })

  it('is not told before its last step is done', async () => {
    const running = await tell(situation({}, { kind: 'running', run: 'r1' }))
    expect([running.asked, running.condition.status]).toEqual([0, 'False'])
  })

  it('waits, with the cause, while the control plane cannot be told, and is not taken for told', async () => {
    const given = situation({ [last]: { hash: 'h1', run: 'r1' } })
    const failed = await tell(given, () => Promise.reject(new Error('nova-api is away')))
    expect([failed.failed, failed.condition.status]).toEqual([true, 'False'])
    expect(failed.condition.message).toContain('nova-api is away')
    expect((await tell(situation(failed.applied))).asked).toBe(1)
  })
})
