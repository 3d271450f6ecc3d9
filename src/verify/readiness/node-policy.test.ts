import { describe, expect, it } from 'vitest'
import { condition, judge, object } from '../../../test/readiness.ts'

describe('node networking', () => {
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

  it('waits for the enactment of this generation, whatever the policy itself says', () => {
    expect(judge(policy, [node]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Available')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(2, 'Failing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Progressing')]).kind).toBe('progressing')
    expect(judge(policy, [node, enactment(3, 'Available')]).kind).toBe('ready')
  })

  it("fails at once with the node's own words", () => {
    expect(judge(policy, [node, enactment(3, 'Failing', 'interface enp6s0 not found')])).toEqual({
      kind: 'failed',
      cause: 'node worker-0 refuses rhoso1-worker-0: interface enp6s0 not found',
      next: 'kubectl get nnce worker-0.rhoso1-worker-0 -o yaml',
    })
  })

  it('lets a node try again before it calls that a failure', () => {
    const both = enactment(3, 'Failing', 'Retrying 2/5')
    const conditions = [condition('Failing', 'True', { message: 'Retrying 2/5' }), condition('Progressing', 'True')]
    const retrying = { ...both, status: { policyGeneration: 3, conditions } }
    expect(judge(policy, [node, retrying])).toEqual({
      kind: 'progressing',
      waits: 'node worker-0, which tries again: Retrying 2/5',
    })
  })

  it('says so when the selector matches no node', () => {
    expect(judge(policy, [])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no node matches'),
    })
  })
})
