import { describe, expect, it } from 'vitest'
import { condition, judge, object } from '../../../test/readiness.ts'

describe('OLM', () => {
  const subscription = (status: object) =>
    object({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      namespace: 'ns',
      name: 'nmstate',
      spec: {},
      status,
    })
  const csv = (phase: string, message = '') =>
    object({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      namespace: 'ns',
      name: 'nmstate.v1',
      status: { phase, message },
    })

  it('has the readiness of the installed version', () => {
    expect(judge(subscription({})).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' })).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Installing')]).kind).toBe('progressing')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Succeeded')]).kind).toBe('ready')
    expect(judge(subscription({ installedCSV: 'nmstate.v1' }), [csv('Failed', 'no RBAC')])).toMatchObject({
      kind: 'failed',
      cause: 'ClusterServiceVersion ns/nmstate.v1 failed: no RBAC',
    })
  })

  it('fails when the catalog does not have the package', () => {
    const status = { conditions: [condition('ResolutionFailed', 'True', { message: 'no operators found' })] }
    expect(judge(subscription(status))).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no operators found'),
    })
  })
})
