import { describe, expect, it } from 'vitest'
import { neverAborted } from '../../../test/never-aborted.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { createHostObserver } from './host-events.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSet: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace: 'openstack' },
  spec: { nodes: { 'compute-0': {}, 'compute-1': {} }, services: ['nova'] },
  status: { configHash: 'a', deployedConfigHash: 'a' },
}
const nova: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: { name: 'nova', namespace: 'openstack' },
}
const deployment = (name: string, limit?: string): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace: 'openstack' },
  spec: { nodeSets: ['computes'], ...(limit !== undefined && { ansibleLimit: limit }) },
  status: { deployed: true, nodeSetHashes: { computes: 'a' } },
})

describe('the observer of hosts', () => {
  it('records what changed, once, and that all hosts are current again', async () => {
    let deployments: readonly KubeObject[] = [deployment('first', 'compute-0')]
    const recorded: EventRecord[] = []
    const observer = createHostObserver(
      () => ({
        nodeSets: [nodeSet],
        deployments,
        services: [nova],
        versions: [],
        content: () => ({ kind: 'ignored' }),
        certificates: [],
      }),
      (key) => (key === objectKey(nodeSet.metadata) ? nodeSet : undefined),
      (event) => void recorded.push(event),
    )
    const reconcile = () =>
      observer.reconcile({ name: 'computes', namespace: 'openstack' }, { signal: neverAborted() } as never)
    await reconcile()
    await reconcile()
    expect(recorded).toMatchObject([{ type: 'Warning', reason: 'HostsNotDeployed', regarding: nodeSet }])
    expect(recorded[0]?.note).toContain('1 of 2 hosts: compute-1')
    deployments = [...deployments, deployment('second')]
    await reconcile()
    await reconcile()
    expect(recorded.slice(1)).toMatchObject([{ type: 'Normal', reason: 'HostsCurrent' }])
  })

  it('records nothing for hosts that are current from the start', async () => {
    const recorded: EventRecord[] = []
    const observer = createHostObserver(
      () => ({
        nodeSets: [nodeSet],
        deployments: [deployment('first')],
        services: [nova],
        versions: [],
        content: () => ({ kind: 'ignored' }),
        certificates: [],
      }),
      () => nodeSet,
      (event) => void recorded.push(event),
    )
    await observer.reconcile({ name: 'computes', namespace: 'openstack' }, { signal: neverAborted() } as never)
    expect(recorded).toEqual([])
  })

  it('reconciles the node sets that a deployment names', () => {
    const observer = createHostObserver(
      () => ({ nodeSets: [] }) as never,
      () => undefined,
      () => undefined,
    )
    const [, watch] = observer.watches
    expect(watch?.map?.(deployment('first'))).toEqual(['openstack/computes'])
  })
})
