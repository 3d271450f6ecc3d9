import { describe, expect, it } from 'vitest'
import type { Applied } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { RunDecision } from '../runs/decide-step.ts'
import { novaService } from '../service-definitions/nova.ts'
import { registerComputeHost } from './register-compute.ts'
import type { ServiceStepState } from './service-steps.ts'

const service: ServiceObject = {
  apiVersion: 'nova.openstack.org/v1beta1',
  kind: 'NovaExternalCompute',
  metadata: { name: 'n1', namespace: 'openstack' },
  spec: {},
} as ServiceObject

function inputsWith(applied: Readonly<Record<string, Applied>>, decision: RunDecision = { kind: 'done' }) {
  const steps: readonly ServiceStepState[] = novaService.steps.map((step) => ({ step, hash: 'h2', decision }))
  return { service, state: {} as never, steps, applied, host: 'n1' }
}

const last = novaService.steps.at(-1)?.name ?? ''

/** Registers the host, and counts the discoveries. */
async function register(inputs: ReturnType<typeof inputsWith>, discover = () => Promise.resolve()) {
  let discoveries = 0
  const controlPlane = { discoverHosts: () => ((discoveries += 1), discover()) }
  const result = await registerComputeHost(controlPlane, novaService, inputs, new AbortController().signal)
  return { ...result, discoveries }
}

describe('registerComputeHost', () => {
  it('discovers a host once for the same inputs, and again after they change', async () => {
    const first = await register(inputsWith({ [last]: { hash: 'h1', run: 'r1' } }))
    expect([first.discoveries, first.condition.status]).toEqual([1, 'True'])
    expect((await register(inputsWith(first.applied))).discoveries).toBe(0)
    const changed = { ...first.applied, [last]: { hash: 'h2', run: 'r2' } }
    expect((await register(inputsWith(changed))).discoveries).toBe(1)
  })

  it('does not discover a host before its last step is done', async () => {
    const running = await register(inputsWith({}, { kind: 'running', run: 'r1' }))
    expect([running.discoveries, running.condition.status]).toEqual([0, 'False'])
  })

  it('reports the cause of a failed discovery and tries again', async () => {
    const inputs = inputsWith({ [last]: { hash: 'h1', run: 'r1' } })
    const failed = await register(inputs, () => Promise.reject(new Error('nova-api is down')))
    expect([failed.failed, failed.condition.status]).toEqual([true, 'False'])
    expect(failed.condition.message).toContain('nova-api is down')
    expect((await register(inputsWith(failed.applied))).discoveries).toBe(1)
  })
})
