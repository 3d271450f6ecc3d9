/** Node sets, deployments and services of a data plane, as the tests of hosts need them, and the verdict on them. */
import type { KubeObject } from '../src/api/object.ts'
import type { Content } from '../src/hosts/compare-service.ts'
import { type HostState, type HostsInput, judgeHosts } from '../src/hosts/judge-hosts.ts'

const API = 'dataplane.openstack.org/v1beta1'
export type Fields = Readonly<Record<string, unknown>>

export const nodeSet = (status: Fields = {}, spec: Fields = {}, namespace = 'openstack'): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace, generation: 1 },
  spec: {
    preProvisioned: true,
    nodes: { 'edpm-0': { hostName: 'compute-0.example.com' }, 'edpm-1': { hostName: 'compute-1.example.com' } },
    services: ['bootstrap', 'nova'],
    ...spec,
  },
  status: { observedGeneration: 1, configHash: 'a', deployedConfigHash: 'a', ...status },
})

/** Of the last deployment. */
export let hour = 0
export const time = (hours: number): string => `2026-01-01T${String(hours).padStart(2, '0')}:00:00Z`

/** A deployment that finished; each is later than the one before. */
export const deployment = (name: string, spec: Fields = {}, status: Fields = {}): KubeObject => {
  hour += 1
  return {
    apiVersion: API,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name, namespace: 'openstack', creationTimestamp: time(hour) },
    spec: { nodeSets: ['computes'], ...spec },
    status: {
      deployed: true,
      nodeSetHashes: { computes: 'a' },
      secretHashes: { 'nova-config': 's1' },
      containerImages: { NovaComputeImage: 'nova:1' },
      conditions: [{ type: 'DeploymentReady', status: 'True', lastTransitionTime: time(hour) }],
      ...status,
    },
  }
}

export const failed = (name: string, status: Fields = {}, spec: Fields = {}): KubeObject =>
  deployment(name, spec, {
    deployed: false,
    conditions: [{ type: 'DeploymentReady', status: 'False', severity: 'Error', message: 'backoff limit reached' }],
    ...status,
  })

export const service = (name: string, spec: Fields = {}, changed = time(0)): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: {
    name,
    namespace: 'openstack',
    managedFields: [
      { manager: 'manager', operation: 'Update', apiVersion: API, time: changed, fieldsV1: { 'f:spec': {} } },
      { manager: 'manager', operation: 'Update', apiVersion: API, time: time(23), subresource: 'status' },
    ],
  },
  spec,
})

export const services = [
  service('bootstrap'),
  service('nova', {
    dataSources: [{ secretRef: { name: 'nova-config' } }],
    containerImageFields: ['NovaComputeImage'],
  }),
]

export const version = (image: string): KubeObject => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  metadata: { name: 'controlplane', namespace: 'openstack' },
  status: { containerImages: { novaComputeImage: image } },
})

export const hash = (text: string): Content => ({ kind: 'hash', hash: text })

export function judge(deployments: readonly KubeObject[], more: Partial<HostsInput> = {}): readonly HostState[] {
  return judgeHosts({
    nodeSets: [nodeSet()],
    deployments,
    services,
    versions: [version('nova:1')],
    content: () => hash('s1'),
    certificates: [],
    ...more,
  })
}

export const verdictsOf = (states: readonly HostState[]): readonly string[] =>
  states.map(({ host, verdict }) => `${host} ${verdict}`)
export const both = (verdict: string): readonly string[] => [`compute-0 ${verdict}`, `compute-1 ${verdict}`]
