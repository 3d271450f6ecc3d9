import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { REMOVAL_LABEL, readService, type Service } from '../../../hosts/data-plane.ts'
import {
  copyDeployments,
  type DeploymentInput,
  hashSpec,
  recordDeployment,
  summarizeExecutions,
} from './deployment-record.ts'
import { runningComputes } from './nodeset.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSet: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'compute', namespace: 'openstack' },
  spec: { nodes: { 'compute-0': {}, 'compute-1': {} }, services: ['bootstrap', 'nova'] },
}
const deployment = (name: string, spec = {}, status = {}): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace: 'openstack', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { nodeSets: ['compute'], ...spec },
  status,
})
const input = (object: KubeObject, more: Partial<DeploymentInput> = {}): DeploymentInput => ({
  deployment: object,
  nodeSets: [nodeSet],
  services: [
    {
      apiVersion: API,
      kind: 'OpenStackDataPlaneService',
      metadata: { name: 'nova', namespace: 'openstack' },
      spec: {
        dataSources: [{ secretRef: { name: 'nova-config' } }, { configMapRef: { name: 'missing', optional: true } }],
        containerImageFields: ['NovaComputeImage'],
      },
    },
  ],
  version: {
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackVersion',
    metadata: { name: 'controlplane' },
    status: { containerImages: { novaComputeImage: 'nova:1' } },
  },
  failed: false,
  hashOf: ({ name }) => (name === 'nova-config' ? 's1' : undefined),
  ...more,
})
const service = (name: string, edpmServiceType?: string, ...secrets: readonly string[]): Service =>
  readService({
    apiVersion: API,
    kind: 'OpenStackDataPlaneService',
    metadata: { name },
    spec: { edpmServiceType, dataSources: secrets.map((secret) => ({ secretRef: { name: secret } })) },
  })
const shipped = [service('bootstrap'), service('nova', 'nova')]
const counts = { totalHosts: 2, failedHosts: 0, unreachableHosts: 0, failurePercent: 0 }

describe('summarizeExecutions', () => {
  it('counts the hosts of every Job of a finished deployment', () => {
    expect(summarizeExecutions(input(deployment('all')))).toEqual({
      'bootstrap-all-compute': counts,
      'nova-all-compute': counts,
    })
    const limited = deployment('some', { servicesOverride: ['nova'], ansibleLimit: 'compute-1' })
    expect(summarizeExecutions(input(limited))).toEqual({ 'nova-some-compute': { ...counts, totalHosts: 1 } })
  })

  it('names the hosts on which a deployment failed, and no service after that', () => {
    const failed = { ...counts, failedHosts: 1, failurePercent: 50, failedHostList: ['compute-1'] }
    expect(summarizeExecutions(input(deployment('bad'), { failed: true, failsOn: ['compute-1'] }))).toEqual({
      'bootstrap-bad-compute': failed,
    })
    expect(summarizeExecutions(input(deployment('bad'), { failed: true }))['bootstrap-bad-compute']).toMatchObject({
      failedHostList: ['compute-0', 'compute-1'],
    })
  })
})

it('recordDeployment records the hashes and images that the deployment brought', () => {
  expect(recordDeployment(input(deployment('all')), 0)).toMatchObject({
    nodeSetHashes: { compute: hashSpec(nodeSet) },
    secretHashes: { 'nova-config': 's1' },
    configMapHashes: {},
    containerImages: { NovaComputeImage: 'nova:1' },
    nodeSetConditions: {
      compute: [
        { type: 'NodeSetDeploymentReady', status: 'True' },
        { type: 'ServiceBootstrapDeploymentReady', status: 'True' },
        { type: 'ServiceNovaDeploymentReady', status: 'True' },
      ],
    },
  })
  expect(Object.keys(recordDeployment(input(deployment('bad'), { failed: true }), 0))).toEqual(['nodeSetConditions'])
})

it('copyDeployments keeps the hashes of Secrets when a limited deployment ends', () => {
  const record = { deployed: true, nodeSetHashes: { compute: hashSpec(nodeSet) } }
  const full = deployment('full', {}, { ...record, secretHashes: { a: '1' } })
  const limited = deployment('limited', { ansibleLimit: 'compute-0' }, { ...record, secretHashes: { a: '2' } })
  expect(copyDeployments(nodeSet, [full])).toMatchObject({
    configHash: hashSpec(nodeSet),
    deployedConfigHash: hashSpec(nodeSet),
    secretHashes: { a: '1' },
  })
  expect(copyDeployments(nodeSet, [limited])).toMatchObject({ secretHashes: {} })
})

it('nova-compute does not run on a host that a removal has stopped', () => {
  const stop = (deployed: boolean): KubeObject => {
    const object = deployment('stop-compute-1', {}, { deployed })
    return { ...object, metadata: { ...object.metadata, labels: { [REMOVAL_LABEL]: 'compute-1' } } }
  }
  const names = (object: KubeObject) =>
    runningComputes(nodeSet, [deployment('all'), object], shipped).map(({ name }) => name)
  expect(names(stop(false))).toEqual(['compute-0', 'compute-1'])
  expect(names(stop(true))).toEqual(['compute-0'])
})

it('nova-compute runs on no host whose name would be a path or a line of a file', () => {
  const spec = {
    nodes: {
      'compute-0': { networks: [{ name: 'ctlplane', fixedIP: '192.168.122.100\n[DEFAULT]' }] },
      '../../../../etc': {},
      compute: { hostName: '../../../../etc' },
      lines: { hostName: 'a\nb' },
      'compute-1.example.com': { networks: [{ name: 'ctlplane', fixedIP: '192.168.122.101' }] },
    },
    services: ['nova'],
  }
  expect(runningComputes({ ...nodeSet, spec }, [deployment('all')], shipped)).toEqual([
    { name: 'compute-0', cell: 'cell1', addresses: {} },
    { name: 'compute-1.example.com', cell: 'cell1', addresses: { ctlplane: '192.168.122.101' } },
  ])
  const services = ['nova-up']
  const up = service('nova-up', 'nova', 'nova-../../etc-compute-config')
  expect(runningComputes({ ...nodeSet, spec: { ...spec, services } }, [deployment('all')], [up])).toEqual([])
})

describe('the cell of nova-compute', () => {
  const cellOf = (services: readonly string[], known: readonly Service[]): string | undefined =>
    runningComputes({ ...nodeSet, spec: { nodes: { a: {} }, services } }, [deployment('all')], known)[0]?.cell

  it('is that of the configuration that its service reads, whatever the service is called', () => {
    const custom = service('nova-custom', 'nova', 'nova-migration-ssh-key', 'nova-cell2-compute-config')
    expect(cellOf(['bootstrap', 'nova-custom'], [...shipped, custom])).toBe('cell2')
    expect(cellOf(['cell3'], [service('cell3', 'nova', 'nova-cell1-compute-config')])).toBe('cell1')
  })

  it('is cell1 for the shipped service, unless its author gave it another configuration', () => {
    expect(cellOf(['nova'], shipped)).toBe('cell1')
    expect(cellOf(['nova'], [service('nova', 'nova', 'nova-cell2-compute-config')])).toBe('cell2')
  })

  it('is that of the first of several services of nova, which alone runs', () => {
    const custom = service('nova-custom', 'nova', 'nova-cell2-compute-config')
    expect(cellOf(['nova', 'nova-custom'], [...shipped, custom])).toBe('cell1')
    expect(cellOf(['nova-custom', 'nova'], [...shipped, custom])).toBe('cell2')
  })

  it('is none where a service has the name of a cell and is no service of nova, or does not exist', () => {
    expect(cellOf(['nova-cell1'], [service('nova-cell1', 'logging')])).toBeUndefined()
    expect(cellOf(['nova-custom'], [service('nova-custom', 'nova')])).toBeUndefined()
    expect(cellOf(['nova-cell1'], shipped)).toBeUndefined()
  })
})
