import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { runActors } from '../../../src/sandbox/actors/registry.ts'
import { useCluster } from '../../cluster.ts'

const cluster = useCluster({ crds: 'today', controllerManager: true })
const stop = new AbortController()
let playing: Promise<void> | undefined

beforeAll(async () => {
  for (const name of ['worker-0', 'worker-1', 'worker-2']) {
    await apply({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/worker': '' } },
    })
  }
  playing = runActors({
    connection: cluster.connection,
    names: ['nmstate', 'olm'],
    signal: stop.signal,
    stepMs: 20,
  })
})
afterAll(async () => {
  stop.abort()
  await playing
})

const apply = (object: KubeObject) => cluster.client.apply(object, { fieldManager: 'test' })
const get = (apiVersion: string, kind: string, name: string, namespace?: string) =>
  cluster.client.get({ apiVersion, kind, name, ...(namespace && { namespace }) })
const poll = { timeout: 25_000, interval: 100 }

interface Conditions {
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
}
const conditionsOf = (object: KubeObject | undefined) =>
  (object?.['status'] as Conditions | undefined)?.conditions ?? []

const policy = (name: string, interfaces: readonly object[], annotations = {}): KubeObject => ({
  apiVersion: 'nmstate.io/v1',
  kind: 'NodeNetworkConfigurationPolicy',
  metadata: { name, annotations },
  spec: { nodeSelector: { 'node-role.kubernetes.io/worker': '' }, desiredState: { interfaces } },
})
const bridge = { name: 'ospbr', type: 'linux-bridge', state: 'up' }

describe('the simulated nmstate', () => {
  it('enacts a policy on every node with its generation, and reports it on the policy', async () => {
    await apply(policy('cloud1', [bridge]))
    const found = () => get('nmstate.io/v1', 'NodeNetworkConfigurationPolicy', 'cloud1')
    await expect.poll(async () => conditionsOf(await found())[0]?.reason, poll).toBe('SuccessfullyConfigured')
    expect(conditionsOf(await found())[0]).toMatchObject({
      type: 'Available',
      status: 'True',
      message: '3/3 nodes successfully configured',
    })
    await apply(
      policy('cloud1', [
        bridge,
        { name: 'enp6s0.20', type: 'vlan', state: 'up', vlan: { 'base-iface': 'enp6s0', id: 20 } },
      ]),
    )
    const enactment = () => get('nmstate.io/v1beta1', 'NodeNetworkConfigurationEnactment', 'worker-2.cloud1')
    await expect
      .poll(async () => {
        const object = await enactment()
        const { policyGeneration } = (object?.['status'] ?? {}) as { readonly policyGeneration?: number }
        return [policyGeneration, conditionsOf(object).find((condition) => condition.status === 'True')?.type]
      }, poll)
      .toEqual([2, 'Available'])
    const state = await get('nmstate.io/v1beta1', 'NodeNetworkState', 'worker-0')
    expect(JSON.stringify(state?.['status'])).toContain('enp6s0.20')
  })

  it('fails on the configured node first, and on no other', async () => {
    await apply(policy('bad', [bridge], { 'sandbox.stackloom.dev/nmstate-fails-on': 'worker-0' }))
    const found = () => get('nmstate.io/v1', 'NodeNetworkConfigurationPolicy', 'bad')
    await expect
      .poll(async () => conditionsOf(await found()).find((condition) => condition.status === 'True'), poll)
      .toMatchObject({ type: 'Degraded', reason: 'FailedToConfigure' })
    const enactment = await get('nmstate.io/v1beta1', 'NodeNetworkConfigurationEnactment', 'worker-0.bad')
    expect(conditionsOf(enactment).find((condition) => condition.type === 'Failing')?.message).toContain(
      'simulated failure',
    )
  })

  it('leaves no enactment of a deleted policy', async () => {
    const { client } = cluster
    await client.delete({ apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy', name: 'bad' })
    await expect
      .poll(() => get('nmstate.io/v1beta1', 'NodeNetworkConfigurationEnactment', 'worker-0.bad'), poll)
      .toBeUndefined()
  })
})

const OLM = 'operators.coreos.com/v1alpha1'
const subscription = (namespace: string, name: string, spec: object = {}): KubeObject => ({
  apiVersion: OLM,
  kind: 'Subscription',
  metadata: { namespace, name },
  spec: {
    channel: 'stable',
    name,
    source: 'redhat-operators',
    sourceNamespace: 'openshift-marketplace',
    ...spec,
  },
})
const group = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'operators.coreos.com/v1',
  kind: 'OperatorGroup',
  metadata: { namespace, name },
  spec: { targetNamespaces: [namespace] },
})
const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})

describe('the simulated OLM', () => {
  it('installs an operator from its Subscription to Succeeded, and its operand to running pods', async () => {
    const at = 'openshift-nmstate'
    await apply(namespaceOf(at))
    await apply(group(at, 'only'))
    await apply(subscription(at, 'kubernetes-nmstate-operator'))
    const csv = async () => {
      const found = await get(OLM, 'Subscription', 'kubernetes-nmstate-operator', at)
      const { installedCSV } = (found?.['status'] ?? {}) as { readonly installedCSV?: string }
      return installedCSV ? get(OLM, 'ClusterServiceVersion', installedCSV, at) : undefined
    }
    await expect
      .poll(async () => ((await csv())?.['status'] as { phase?: string } | undefined)?.phase, poll)
      .toBe('Succeeded')
    await apply({ apiVersion: 'nmstate.io/v1', kind: 'NMState', metadata: { name: 'nmstate' }, spec: {} })
    await expect
      .poll(async () => {
        const handler = await get('apps/v1', 'DaemonSet', 'nmstate-handler', at)
        return (handler?.['status'] as { numberAvailable?: number } | undefined)?.numberAvailable
      }, poll)
      .toBe(3)
  })

  it('reports why it cannot resolve, and fails a version in a namespace with two groups', async () => {
    await apply(namespaceOf('twice'))
    await apply(group('twice', 'a'))
    await apply(subscription('twice', 'metallb-operator'))
    await apply(subscription('twice', 'no-such-package'))
    const version = () => get(OLM, 'ClusterServiceVersion', 'metallb-operator.v0.14.2', 'twice')
    await expect.poll(async () => (await version())?.['status'], poll).toMatchObject({ phase: 'Succeeded' })
    const unknown = () => get(OLM, 'Subscription', 'no-such-package', 'twice')
    await expect
      .poll(
        async () => conditionsOf(await unknown()).find((condition) => condition.type === 'ResolutionFailed')?.message,
        poll,
      )
      .toContain('no operators found in package no-such-package')
    await apply(group('twice', 'b'))
    await expect
      .poll(async () => (await version())?.['status'], poll)
      .toMatchObject({ phase: 'Failed', reason: 'TooManyOperatorGroups' })
  })

  it('waits for a manual approval', async () => {
    const at = 'by-hand'
    await apply(namespaceOf(at))
    await apply(group(at, 'only'))
    await apply(subscription(at, 'metallb-operator', { installPlanApproval: 'Manual' }))
    const plans = async () =>
      (await cluster.client.list({ apiVersion: OLM, kind: 'InstallPlan' }, { namespace: at })).items
    await expect
      .poll(async () => (await plans()).map((plan) => (plan['status'] as { phase?: string } | undefined)?.phase), poll)
      .toEqual(['RequiresApproval'])
    const [plan] = await plans()
    const ref = { apiVersion: OLM, kind: 'InstallPlan', namespace: at, name: plan?.metadata.name ?? '' }
    await cluster.client.patch(ref, { spec: { approved: true } }, { type: 'merge' })
    const version = () => get(OLM, 'ClusterServiceVersion', 'metallb-operator.v0.14.2', at)
    await expect.poll(async () => (await version())?.['status'], poll).toMatchObject({ phase: 'Succeeded' })
  })
})
