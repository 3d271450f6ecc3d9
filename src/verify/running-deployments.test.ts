import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { isDeletionConfirmed, isRunningDeployment } from './running-deployments.ts'

const deployment = (reason: string | undefined, annotations = {}): KubeObject => ({
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name: 'edpm', namespace: 'openstack', annotations },
  status: reason === undefined ? {} : { conditions: [{ type: 'DeploymentReady', status: 'False', reason }] },
})

describe('a data plane deployment', () => {
  it('runs while its condition DeploymentReady is requested', () => {
    expect(isRunningDeployment(deployment('Requested'))).toBe(true)
    for (const reason of ['Init', 'Error', 'Ready', undefined])
      expect([reason, isRunningDeployment(deployment(reason))]).toEqual([reason, false])
    expect(isRunningDeployment({ ...deployment('Requested'), kind: 'OpenStackDataPlaneNodeSet' })).toBe(false)
  })

  it('may be deleted while it runs only with the annotation', () => {
    expect(isDeletionConfirmed(deployment('Requested'))).toBe(false)
    expect(isDeletionConfirmed(deployment('Requested', { 'dataplane.openstack.org/confirm-delete': 'true' }))).toBe(
      true,
    )
  })
})
