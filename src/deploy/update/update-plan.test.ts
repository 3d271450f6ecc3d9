import { describe, expect, it } from 'vitest'
import type { Condition, KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { deployedReadiness, isUpdated, planUpdate, stepReadiness } from './update-plan.ts'

interface Facts {
  readonly target?: string
  readonly deployed?: string
  readonly available?: string
  readonly generation?: number
  readonly conditions?: readonly Partial<Condition>[]
}

function version({
  target = '0.6.0',
  deployed = '0.6.0',
  available = '0.7.0',
  generation = 1,
  conditions = [],
}: Facts = {}): KubeObject {
  return {
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackVersion',
    metadata: { name: 'controlplane', namespace: 'openstack', generation },
    spec: { targetVersion: target },
    status: {
      observedGeneration: 1,
      deployedVersion: deployed,
      availableVersion: available,
      conditions,
      containerImageVersionDefaults: { '0.6.0': {}, '0.6.1': {} },
    },
  }
}

const plan = (request: { readonly to?: string; readonly written?: string } = {}, facts?: Facts) =>
  planUpdate(
    { cloud: 'rhoso1', namespace: 'openstack', ...request },
    indexSnapshot({ objects: [version(facts)], unread: [] }),
  )
const codes = (...args: Parameters<typeof plan>) => plan(...args).findings.map(({ code }) => code)

describe('planUpdate', () => {
  it('goes to the newest version of the operator unless another one is requested', () => {
    expect(plan().wanted).toBe('0.7.0')
    expect(plan({ written: '0.6.1' }).wanted).toBe('0.6.1')
    expect(plan({ written: '0.6.0', to: '0.6.1' }).wanted).toBe('0.6.1')
  })

  it('is finished when wanted, target and deployed version agree', () => {
    expect(isUpdated(plan({ to: '0.6.0' }))).toBe(true)
    expect(isUpdated(plan())).toBe(false)
    expect(isUpdated(plan({ to: '0.7.0' }, { target: '0.7.0' }))).toBe(false)
  })

  it('reports a version without images, and a second update during the first', () => {
    expect(codes({ to: '9.9.9' })).toEqual(['SL4071'])
    expect(codes({ to: '0.7.0' }, { target: '0.6.1' })).toEqual(['SL4074'])
    expect(codes({ to: '0.6.1' }, { target: '0.6.1' })).toEqual([])
  })

  it('warns when the site file has another version', () => {
    expect(codes({ to: '0.7.0', written: '0.6.0' })).toEqual(['SL4072'])
  })

  it('reports a namespace without a version', () => {
    const { findings } = planUpdate(
      { cloud: 'rhoso1', namespace: 'elsewhere' },
      indexSnapshot({ objects: [version()], unread: [] }),
    )
    expect(findings.map(({ code }) => code)).toEqual(['SL4070'])
  })
})

describe('stepReadiness', () => {
  const step = (facts: Facts) => stepReadiness(version(facts), 'control-plane', '0.7.0').kind
  const done = [{ type: 'MinorUpdateControlplane', status: 'True' as const }]

  it('is ready by the condition of the step, or when the version is deployed', () => {
    expect(step({ target: '0.7.0', conditions: done })).toBe('ready')
    expect(step({ target: '0.7.0', deployed: '0.7.0' })).toBe('ready')
    expect(step({ target: '0.7.0' })).toBe('progressing')
  })

  it('ignores a condition from before the target was set', () => {
    expect(step({ target: '0.7.0', generation: 2, conditions: done })).toBe('progressing')
    expect(step({ target: '0.6.0', conditions: done })).toBe('progressing')
    expect(stepReadiness(undefined, 'control-plane', '0.7.0').kind).toBe('progressing')
  })

  it('fails with the message of the operator', () => {
    const conditions = [
      {
        type: 'MinorUpdateControlplane',
        status: 'False' as const,
        severity: 'Error',
        message: 'keystone broke',
      },
    ]
    expect(stepReadiness(version({ target: '0.7.0', conditions }), 'control-plane', '0.7.0')).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('keystone broke'),
    })
  })

  it('deployedReadiness is ready when the version is deployed', () => {
    expect(deployedReadiness(version({ target: '0.7.0' }), '0.7.0').kind).toBe('progressing')
    expect(deployedReadiness(version({ target: '0.7.0', deployed: '0.7.0' }), '0.7.0').kind).toBe('ready')
  })
})
