import { describe, expect, it } from 'vitest'
import { type DataPlaneService, dataPlaneServices } from '../kinds/data-plane.ts'
import { resolveStep } from './phase-zero.ts'

describe('a step of phase 0', () => {
  const service = (label: string): DataPlaneService => ({
    ...dataPlaneServices,
    metadata: { name: 'step', namespace: 'openstack' },
    spec: { play: '- hosts: all\n', label },
  })

  it('begins the names of its runs with the label of its service', () => {
    expect(resolveStep('step', 'openstack', service('mine'))).toMatchObject({ kind: 'runnable', label: 'mine' })
  })

  it.each(["{{ lookup('pipe', 'id') }}", '-a', 'A', 'a/b', 'x'.repeat(254)])(
    'cannot be run with a label that is no name: %s',
    (label) => {
      expect(resolveStep('step', 'openstack', service(label))).toMatchObject({
        kind: 'unknown',
        finding: { code: 'SL7126' },
      })
    },
  )
})
