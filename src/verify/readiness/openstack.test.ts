import { describe, expect, it } from 'vitest'
import { ago, condition, context, judge, object } from '../../../test/readiness.ts'
import type { Condition } from '../../api/object.ts'
import { nodeSetSetupReadiness } from './openstack.ts'
import { defaultGrace } from './verdict.ts'

describe('OpenStack kinds', () => {
  const controlPlane = (conditions: readonly Condition[]) =>
    object({
      apiVersion: 'core.openstack.org/v1beta1',
      kind: 'OpenStackControlPlane',
      namespace: 'openstack',
      metadata: { generation: 2 },
      status: { observedGeneration: 2, conditions },
    })
  const error = (ms: number) =>
    condition('OpenStackControlPlaneRabbitMQReady', 'False', {
      severity: 'Error',
      message: 'RabbitMQ error occurred: no address',
      lastTransitionTime: ago(ms),
    })

  it('fail with the error message after the grace period', () => {
    const summary = condition('Ready', 'False', { message: 'RabbitMQ error' })
    expect(judge(controlPlane([summary, error(1_000)])).kind).toBe('progressing')
    expect(judge(controlPlane([summary, error(defaultGrace.errorMs)]))).toEqual({
      kind: 'failed',
      cause:
        'OpenStackControlPlane openstack/it: RabbitMQ error occurred: no address (OpenStackControlPlaneRabbitMQReady)',
      next: 'kubectl -n openstack describe openstackcontrolplane.core.openstack.org it',
    })
  })

  it('count an error from before the apply from the apply', () => {
    const old = controlPlane([condition('Ready', 'False'), error(86_400_000)])
    expect(judge(old, [], { since: Date.parse(ago(1_000)) }).kind).toBe('progressing')
    expect(judge(old, [], { since: Date.parse(ago(defaultGrace.errorMs)) }).kind).toBe('failed')
  })

  it('do not fail for being slow', () => {
    const slow = condition('Ready', 'False', { severity: 'Info', lastTransitionTime: ago(86_400_000), message: 'x' })
    expect(judge(controlPlane([slow])).kind).toBe('progressing')
  })

  it('report the failed job of a waiting control plane', () => {
    const job = object({
      apiVersion: 'batch/v1',
      kind: 'Job',
      namespace: 'openstack',
      name: 'keystone-db-sync',
      status: {
        conditions: [
          condition('Failed', 'True', {
            reason: 'BackoffLimitExceeded',
            message: 'Job has reached the specified backoff limit',
          }),
        ],
      },
    })
    const waiting = controlPlane([condition('Ready', 'False', { message: 'in progress' })])
    expect(judge(waiting, [job])).toMatchObject({
      kind: 'failed',
      next: 'kubectl -n openstack logs job/keystone-db-sync',
    })
    const elsewhere = { ...job, metadata: { ...job.metadata, namespace: 'openstack2' } }
    expect(judge(waiting, [elsewhere]).kind).toBe('progressing')
  })

  it('distinguish the setup of a node set from its deployment', () => {
    const nodeSet = object({
      apiVersion: 'dataplane.openstack.org/v1beta1',
      kind: 'OpenStackDataPlaneNodeSet',
      metadata: { generation: 1 },
      status: { observedGeneration: 1, conditions: [condition('SetupReady', 'True'), condition('Ready', 'False')] },
    })
    expect(nodeSetSetupReadiness(nodeSet, context([])).kind).toBe('ready')
    expect(judge(nodeSet).kind).toBe('progressing')
  })

  it('are ready for a version only when the target is deployed', () => {
    const version = (deployedVersion: string) =>
      object({
        apiVersion: 'core.openstack.org/v1beta1',
        kind: 'OpenStackVersion',
        metadata: { generation: 1 },
        spec: { targetVersion: '0.6.0' },
        status: {
          observedGeneration: 1,
          deployedVersion,
          availableVersion: '0.6.0',
          conditions: [condition('Ready', 'True')],
        },
      })
    expect(judge(version('0.5.0'))).toEqual({
      kind: 'progressing',
      waits: 'OpenStackVersion it to go from 0.5.0 to 0.6.0',
    })
    expect(judge(version('0.6.0')).kind).toBe('ready')
  })
})
