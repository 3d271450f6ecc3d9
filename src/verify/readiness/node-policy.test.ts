import { describe, expect, it } from 'vitest'
import { condition, judge, object } from '../../../test/readiness.ts'

describe('a node policy', () => {
  const policy = object({
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    name: 'rhoso1-worker-0',
    metadata: { generation: 3 },
    spec: { nodeSelector: { 'kubernetes.io/hostname': 'worker-0' } },
    // The policy's own word is of some earlier generation, and it says so nowhere.
    status: { conditions: [condition('Available', 'True', { reason: 'SuccessfullyConfigured' })] },
  })
  const node = object({
    kind: 'Node',
    name: 'worker-0',
    metadata: { labels: { 'kubernetes.io/hostname': 'worker-0' } },
  })
  const enactment = (policyGeneration: number, type: string, message = '') =>
    object({
      apiVersion: 'nmstate.io/v1beta1',
      kind: 'NodeNetworkConfigurationEnactment',
      name: 'worker-0.rhoso1-worker-0',
      status: { policyGeneration, conditions: [condition(type, 'True', { message })] },
    })

  it('waits for enactments of the current generation', () => {
    expect(judge(policy, [node]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Available')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Failing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Progressing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Available')]).kind).toBe('ready')
  })

  it('fails immediately with the message of the node', () => {
    expect(judge(policy, [node, enactment(3, 'Failing', 'interface enp6s0 not found')])).toEqual({
      kind: 'failed',
      cause: 'node worker-0 failed to apply rhoso1-worker-0: interface enp6s0 not found',
      next: 'kubectl get nnce worker-0.rhoso1-worker-0 -o yaml',
    })
  })

  it('is progressing while a node retries', () => {
    const both = enactment(3, 'Failing', 'Retrying 2/5')
    const conditions = [condition('Failing', 'True', { message: 'Retrying 2/5' }), condition('Progressing', 'True')]
    const retrying = { ...both, status: { policyGeneration: 3, conditions } }
    expect(judge(policy, [node, retrying])).toEqual({
      kind: 'progressing',
      waits: 'node worker-0, which retries: Retrying 2/5',
    })
  })

  it('fails when the selector matches no node', () => {
    expect(judge(policy, [])).toMatchObject({ kind: 'failed', cause: expect.stringContaining('no node matches') })
  })
})
