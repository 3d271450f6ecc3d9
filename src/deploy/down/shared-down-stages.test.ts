import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import type { KubeObject } from '../../api/object.ts'
import { MANAGED_BY_LABEL } from '../../api/ownership.ts'
import { SYSTEM_NAMESPACE } from '../../api/reserved-namespace.ts'
import { renderInventory } from '../inventory.ts'
import { down } from './down.ts'

const OLM = 'operators.coreos.com/v1alpha1'
const labels = { [MANAGED_BY_LABEL]: 'stackloom' }
const home = 'cert-manager-operator'
const object = (apiVersion: string, kind: string, metadata: KubeObject['metadata'], more: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata,
  ...more,
})

interface Case {
  readonly versionCreated: string
  readonly namespaceCreated: string
  readonly others?: readonly KubeObject[]
  readonly adopted?: true
}

/** What is left of cert-manager after `down --all`, when our Subscription was created at 10:00. */
async function remaining({ versionCreated, namespaceCreated, others = [], adopted }: Case): Promise<readonly string[]> {
  const { client, objects } = memoryCluster()
  const subscription = object(
    OLM,
    'Subscription',
    { name: 'ours', namespace: home, labels, creationTimestamp: '2026-01-01T10:00:00Z' },
    { status: { installedCSV: 'cert-manager.v1' } },
  )
  const entry = { apiVersion: OLM, kind: 'Subscription', name: 'ours', namespace: home }
  await client.create(object('v1', 'Namespace', { name: SYSTEM_NAMESPACE, labels }))
  await client.create(renderInventory({ site: 's', objects: [{ ...entry, ...(adopted && { adopted }) }] }))
  await client.create(subscription)
  await client.create(
    object(OLM, 'ClusterServiceVersion', {
      name: 'cert-manager.v1',
      namespace: home,
      creationTimestamp: versionCreated,
    }),
  )
  await client.create(object('v1', 'Namespace', { name: 'cert-manager', creationTimestamp: namespaceCreated }))
  for (const other of others) await client.create(other)
  const stop = new AbortController().signal
  const report = await down({ client, clouds: 'all', run: 'test', sink: () => {}, stop })
  // The last stage lists by label, which only a real server does.
  const failed = report.stages.filter(({ id, outcome }) => outcome === 'failed' && id !== 'proof')
  expect(failed).toEqual([])
  return [...objects('ClusterServiceVersion'), ...objects('Namespace')]
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('cert-manager'))
}

const later = '2026-01-01T10:00:05Z'
const before = '2025-12-01T00:00:00Z'

describe('down --all', () => {
  it('deletes the version and the namespace that were created for our Subscription', async () => {
    expect(await remaining({ versionCreated: later, namespaceCreated: later })).toEqual([])
  })

  it('leaves a version and a namespace that are older than our Subscription', async () => {
    const left = await remaining({ versionCreated: before, namespaceCreated: before })
    expect(left).toEqual(['cert-manager.v1', 'cert-manager'])
    expect(await remaining({ versionCreated: later, namespaceCreated: before })).toEqual(['cert-manager'])
  })

  it('leaves a version that another Subscription uses', async () => {
    const metadata = { name: 'theirs', namespace: home, creationTimestamp: before }
    const others = [object(OLM, 'Subscription', metadata, { status: { installedCSV: 'cert-manager.v1' } })]
    const left = await remaining({ versionCreated: later, namespaceCreated: later, others })
    expect(left).toEqual(['cert-manager.v1', 'cert-manager'])
  })

  it('deletes the kernel settings of the nodes that we set, and no other Tuned', async () => {
    const { client, objects } = memoryCluster()
    const apiVersion = 'tuned.openshift.io/v1'
    const namespace = 'openshift-cluster-node-tuning-operator'
    const entry = { apiVersion, kind: 'Tuned', name: 'stackloom', namespace }
    await client.create(object('v1', 'Namespace', { name: SYSTEM_NAMESPACE, labels }))
    await client.create(renderInventory({ site: 's', objects: [entry] }))
    await client.create(object(apiVersion, 'Tuned', { name: 'stackloom', namespace, labels }))
    await client.create(object(apiVersion, 'Tuned', { name: 'default', namespace }))
    await down({ client, clouds: 'all', run: 'test', sink: () => {}, stop: new AbortController().signal })
    expect(objects('Tuned').map(({ metadata }) => metadata.name)).toEqual(['default'])
  })

  it('leaves everything of a Subscription that existed before us', async () => {
    const left = await remaining({ versionCreated: later, namespaceCreated: later, adopted: true })
    expect(left).toEqual(['cert-manager.v1', 'cert-manager'])
  })
})
