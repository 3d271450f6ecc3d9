import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { condition, judge, object } from '../../../test/readiness.ts'
import { readinessRules } from './readiness.ts'

describe('any kind', () => {
  const reading = [
    'IPAddressPool',
    'L2Advertisement',
    'BGPPeer',
    'BGPAdvertisement',
    'NetworkAttachmentDefinition',
    'NetConfig',
    'Tuned',
  ]
  const silentKinds = Object.keys(readinessRules).filter(
    (key) => !reading.some((kind) => key.endsWith(`/${kind}`)) && !key.includes('Webhook') && key !== 'Service',
  )

  it.each(silentKinds)('%s is not ready before its controller sets a status', (groupKind) => {
    const [group, kind = group ?? ''] = groupKind.split('/')
    const silent = object({
      apiVersion: kind === group ? 'v1' : `${group}/v1`,
      kind,
      metadata: { generation: 1 },
      spec: {},
    })
    expect(judge(silent).kind).not.toBe('ready')
  })

  it('ignores a status of an older generation', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5 }), fc.nat({ max: 5 }), (generation, observedGeneration) => {
        const verdict = judge(
          object({
            apiVersion: 'core.openstack.org/v1beta1',
            kind: 'OpenStackControlPlane',
            metadata: { generation },
            status: { observedGeneration, conditions: [condition('Ready', 'True')] },
          }),
        )
        expect(verdict.kind).toBe(observedGeneration < generation ? 'progressing' : 'ready')
      }),
    )
  })

  it('reads conditions by type in any order', () => {
    const conditions = [condition('Ready', 'True'), condition('InputReady', 'True'), condition('ExposeReady', 'True')]
    fc.assert(
      fc.property(fc.shuffledSubarray(conditions, { minLength: 3 }), (order) => {
        const status = { observedGeneration: 1, conditions: order }
        const apiVersion = 'operator.openstack.org/v1beta1'
        expect(judge(object({ apiVersion, kind: 'OpenStack', status })).kind).toBe('ready')
      }),
    )
  })

  it('is not ready when the status is Unknown', () => {
    const status = { conditions: [condition('Ready', 'Unknown', { message: 'who knows' })] }
    expect(judge(object({ apiVersion: 'x.dev/v1', kind: 'Thing', status }))).toEqual({
      kind: 'progressing',
      waits: 'Thing it: who knows (Ready)',
    })
  })
})
