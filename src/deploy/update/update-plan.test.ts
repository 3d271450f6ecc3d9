import { describe, expect, it } from 'vitest'
import type { Condition, KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { isUpdated, planUpdate } from './update-plan.ts'
import { deployedReadiness, stepReadiness } from './update-readiness.ts'

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

const plan = (wish: { readonly to?: string; readonly written?: string } = {}, facts?: Facts) =>
  planUpdate(
    { cloud: 'rhoso1', namespace: 'openstack', ...wish },
    indexSnapshot({ objects: [version(facts)], unread: [] }),
  )
const codes = (...args: Parameters<typeof plan>) => plan(...args).findings.map(({ code }) => code)

describe('an update', () => {
  it('goes to the newest version that the operator has, unless somebody says otherwise', () => {
    expect(plan().wanted).toBe('0.7.0')
    expect(plan({ written: '0.6.1' }).wanted).toBe('0.6.1')
    expect(plan({ written: '0.6.0', to: '0.6.1' }).wanted).toBe('0.6.1')
  })

  it('is over when wanted, target and deployed agree', () => {
    expect(isUpdated(plan({ to: '0.6.0' }))).toBe(true)
    expect(isUpdated(plan())).toBe(false)
    expect(isUpdated(plan({ to: '0.7.0' }, { target: '0.7.0' }))).toBe(false)
  })

  it('refuses a version without images, and another one while one is under way', () => {
    expect(codes({ to: '9.9.9' })).toEqual(['SL4071'])
    expect(codes({ to: '0.7.0' }, { target: '0.6.1' })).toEqual(['SL4074'])
    expect(codes({ to: '0.6.1' }, { target: '0.6.1' })).toEqual([])
  })

  it('warns when the site file would take it back', () => {
    expect(codes({ to: '0.7.0', written: '0.6.0' })).toEqual(['SL4072'])
  })

  it('says so where there is no version at all', () => {
    const { findings } = planUpdate(
      { cloud: 'rhoso1', namespace: 'elsewhere' },
      indexSnapshot({ objects: [version()], unread: [] }),
    )
    expect(findings.map(({ code }) => code)).toEqual(['SL4070'])
  })
})

describe('a step of an update', () => {
  const step = (facts: Facts) => stepReadiness(version(facts), 'control-plane', '0.7.0').kind
  const done = [{ type: 'MinorUpdateControlplane', status: 'True' as const }]

  it('is done by its own condition, or when the version is deployed', () => {
    expect(step({ target: '0.7.0', conditions: done })).toBe('ready')
    expect(step({ target: '0.7.0', deployed: '0.7.0' })).toBe('ready')
    expect(step({ target: '0.7.0' })).toBe('progressing')
  })

  it('is not done by a condition from before the target was set', () => {
    expect(step({ target: '0.7.0', generation: 2, conditions: done })).toBe('progressing')
    expect(step({ target: '0.6.0', conditions: done })).toBe('progressing')
    expect(stepReadiness(undefined, 'control-plane', '0.7.0').kind).toBe('progressing')
  })

  it('has failed with what the operator says', () => {
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

  it('is the last one when the version is deployed', () => {
    expect(deployedReadiness(version({ target: '0.7.0' }), '0.7.0').kind).toBe('progressing')
    expect(deployedReadiness(version({ target: '0.7.0', deployed: '0.7.0' }), '0.7.0').kind).toBe('ready')
  })
})
