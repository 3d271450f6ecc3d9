import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { AVAILABLE, advanceVersion, type DataPlaneState, type VersionStatus } from './openstack-version.ts'

const none: DataPlaneState = { nodeSets: [], deployments: [] }

function version(target: string, status: Partial<VersionStatus> = {}, available = '0.7.0'): KubeObject {
  return {
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackVersion',
    metadata: { name: 'controlplane', namespace: 'openstack', generation: 2, annotations: { [AVAILABLE]: available } },
    spec: { targetVersion: target },
    status: { observedGeneration: 2, ...status },
  }
}

const passed = ({ conditions }: VersionStatus): readonly string[] =>
  conditions.filter(({ type, status }) => type.startsWith('Minor') && status === 'True').map(({ type }) => type)

describe('the simulated OpenStackVersion', () => {
  it('deploys its target immediately on a new cloud', () => {
    expect(advanceVersion(version('0.7.0'), none).deployedVersion).toBe('0.7.0')
  })

  it('performs the four update steps in order and then sets the deployed version', () => {
    let status: VersionStatus = advanceVersion(version('0.6.0', {}, '0.6.0'), none)
    const seen: number[] = []
    status = advanceVersion(version('0.7.0', { ...status, observedGeneration: 1 } as never), none)
    while (status.deployedVersion !== '0.7.0') {
      seen.push(passed(status).length)
      status = advanceVersion(version('0.7.0', status), none)
    }
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('waits for a deployment before the steps on hosts', () => {
    const hosts: DataPlaneState = { nodeSets: ['computes'], deployments: [] }
    const before = {
      ...advanceVersion(version('0.6.0', {}, '0.6.0'), none),
      conditions: [{ type: 'MinorUpdateOVNControlplane', status: 'True' as const }],
    }
    const held = advanceVersion(version('0.7.0', before), hosts)
    expect([passed(held), held.inProgress]).toEqual([['MinorUpdateOVNControlplane'], false])
    const deployment = {
      apiVersion: 'dataplane.openstack.org/v1beta1',
      kind: 'OpenStackDataPlaneDeployment',
      metadata: { name: 'update-ovn', namespace: 'openstack' },
      spec: { nodeSets: ['computes'], servicesOverride: ['ovn'] },
      status: { deployed: true, deployedVersion: '0.7.0' },
    }
    expect(passed(advanceVersion(version('0.7.0', before), { ...hosts, deployments: [deployment] }))).toHaveLength(2)
  })

  it('does not start an update to an unknown version', () => {
    const status = advanceVersion(version('9.9.9', { deployedVersion: '0.6.0' }), none)
    expect(status.deployedVersion).toBe('0.6.0')
    expect(status.conditions[0]?.message).toContain('9.9.9')
  })
})
