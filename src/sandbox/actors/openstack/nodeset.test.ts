import { expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { summarizeExecutions } from './nodeset.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSet: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'compute', namespace: 'openstack' },
  spec: { nodes: { 'compute-0': {}, 'compute-1': {} }, services: ['bootstrap', 'nova'] },
}
const deployment = (name: string, deployed: boolean, spec = {}, annotations = {}): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace: 'openstack', annotations },
  spec: { nodeSets: ['compute'], ...spec },
  status: { deployed },
})
const success = { totalHosts: 2, failedHosts: 0, failurePercent: 0 }

it('summarizeExecutions counts the hosts of every service that a finished deployment ran', () => {
  const deployments = [
    deployment('all', true),
    deployment('some', true, { servicesOverride: ['nova'] }),
    deployment('running', false),
  ]
  expect(summarizeExecutions(nodeSet, deployments)).toEqual({
    all: { bootstrap: success, nova: success },
    some: { nova: success },
  })
})

it('summarizeExecutions names the hosts on which a deployment failed, and no service after that', () => {
  const failed = deployment('failed', false, {}, { 'sandbox.stackloom.dev/fails': 'unreachable' })
  expect(summarizeExecutions(nodeSet, [failed])).toEqual({
    failed: {
      bootstrap: {
        totalHosts: 2,
        failedHosts: 2,
        failurePercent: 100,
        failedHostList: ['compute-0', 'compute-1'],
      },
    },
  })
})
