import { describe, expect, it } from 'vitest'
import { ago, condition, judge, object } from '../../../test/readiness.ts'

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

  it('waits for a catalog that does not answer yet, and fails when it does not answer for long', () => {
    const unanswered = (lastTransitionTime: string) => {
      const more = { reason: 'ErrorPreventedResolution', message: 'no registry client established', lastTransitionTime }
      return judge(subscription({ conditions: [condition('ResolutionFailed', 'True', more)] }))
    }
    expect(unanswered(ago(0))).toMatchObject({
      kind: 'progressing',
      waits: expect.stringContaining('no registry client established'),
    })
    expect(unanswered(ago(3_600_000)).kind).toBe('failed')
  })

  it('waits for a catalog that has nothing yet, and fails at once for one that does not exist', () => {
    const message =
      'constraints not satisfiable: no operators found from catalog c in namespace ns referenced by subscription s'
    const empty = condition('ResolutionFailed', 'True', { message, lastTransitionTime: ago(0) })
    expect(judge(subscription({ conditions: [empty] })).kind).toBe('progressing')
    const missing = condition('CatalogSourcesUnhealthy', 'True')
    expect(judge(subscription({ conditions: [empty, missing] })).kind).toBe('failed')
  })

  it('fails when the catalog does not have the package', () => {
    const status = { conditions: [condition('ResolutionFailed', 'True', { message: 'no operators found' })] }
    expect(judge(subscription(status))).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no operators found'),
    })
  })
})
