import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { hostsPart, registerHostMetrics } from './hosts-part.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSet = (services: readonly string[]): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace: 'openstack' },
  spec: { nodes: { 'compute-0': {}, 'compute-1': {} }, services },
  status: { configHash: 'a', deployedConfigHash: 'a' },
})
const nova: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: { name: 'nova', namespace: 'openstack' },
}
const deployment: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name: 'first', namespace: 'openstack' },
  spec: { nodeSets: ['computes'], ansibleLimit: 'compute-0' },
  status: { deployed: true, nodeSetHashes: { computes: 'a' } },
}

it('stackloom_hosts counts the hosts of a node set by verdict, and drops a node set that was deleted', async () => {
  const registry = new Registry()
  let nodeSets = [nodeSet(['nova'])]
  registerHostMetrics(registry, () => ({
    nodeSets,
    deployments: [deployment],
    services: [nova],
    versions: [],
    content: () => ({ kind: 'ignored' }),
    certificates: [],
  }))
  const text = await registry.metrics()
  expect(text).toContain('stackloom_hosts{namespace="openstack",node_set="computes",verdict="current"} 1')
  expect(text).toContain('stackloom_hosts{namespace="openstack",node_set="computes",verdict="never"} 1')
  expect(text).toContain('stackloom_hosts{namespace="openstack",node_set="computes",verdict="failed"} 0')
  nodeSets = []
  expect(await registry.metrics()).not.toContain('stackloom_hosts{')
})

it('stackloom_hosts counts hosts as unknown that would take too long to judge, and limits the node sets of a namespace', async () => {
  const registry = new Registry()
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `h${index}`)
  const large = {
    ...nodeSet(names(2_000)),
    spec: { services: names(2_000), nodes: Object.fromEntries(names(2_000).map((name) => [name, {}])) },
  }
  const summaries = { job: { failedHostList: names(2_000) } }
  const others = names(200).map((name) => ({ ...nodeSet(['nova']), metadata: { name, namespace: 'many' } }))
  registerHostMetrics(registry, () => ({
    nodeSets: [large, ...others],
    deployments: [{ ...deployment, status: { ansibleExecutionSummaries: summaries } }],
    services: [nova],
    versions: [],
    content: () => ({ kind: 'ignored' }),
    certificates: [],
  }))
  const text = await registry.metrics()
  expect(text).toContain('stackloom_hosts{namespace="openstack",node_set="computes",verdict="unknown"} 2000')
  expect(text.match(/namespace="many",node_set="h\d+",verdict="current"/g)).toHaveLength(100)
})

it('the part may only read, and no Secrets', () => {
  const { rules } = hostsPart
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']))
  expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets')
})
