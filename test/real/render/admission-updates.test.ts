import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getField } from '../../../src/api/raw-object.ts'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import { departures } from '../../../src/deploy/moved-hosts.ts'
import { compareObject, objectRef } from '../../../src/deploy/object-changes.ts'
import { findRefusedUpdates } from '../../../src/deploy/refused-updates.ts'
import { PINNED_RELEASE } from '../../../src/sandbox/crds/release-folders.ts'
import { type Cluster, useCluster } from '../../cluster.ts'
import { eraOfExample, exampleSites } from '../../examples.ts'
import { neverAborted } from '../../never-aborted.ts'
import { judgeObjects } from './accepted.ts'
import { isHarmless } from './harmless.ts'
import { useAdmission } from './openstack-admission.ts'
import {
  allowedEdits,
  editCloud,
  editNetwork,
  editService,
  type Rendered,
  renderEdited,
  type SiteFile,
} from './site-edits.ts'

const examples = exampleSites.filter((name) => eraOfExample(name) === 'today')
const isOfOperators = ({ apiVersion }: KubeObject): boolean => apiVersion.includes('.openstack.org/')

type RefusedEdit = readonly [string, (site: SiteFile) => void, RegExp]

/** Edits that a running cloud does not allow: the planner knows them, or the operators answer a dry run. */
const refusedEdits: readonly (readonly [string, readonly RefusedEdit[]])[] = [
  [
    'every-service',
    [
      [
        'swift loses storage pods',
        editService('swift', { template: { swiftStorage: { replicas: 0 } } }),
        /^SL4030 .*swiftStorage.replicas.*does not support scale-in/,
      ],
      [
        'a glance API gets another type',
        editService('glance', { template: { glanceAPIs: { default: { type: 'edge' } } } }),
        /^SL4030 .*glanceAPIs.*layout/,
      ],
      [
        'heat gets another database',
        editService('heat', { template: { databaseInstance: 'openstack-cell1' } }),
        /^SL4030 .*Changing the DatabaseInstance/,
      ],
      [
        'galera gets more replicas than its schema allows',
        editService('galera', { replicas: 5 }),
        /^SL4030 .*replicas in body should be less than or equal to 3/,
      ],
      ['nova loses placement', editService('placement', false), /^SL3007/],
      ['autoscaling loses heat', editService('heat', false), /^SL3007/],
    ],
  ],
  [
    'two-clouds',
    [
      [
        'a network gets another gateway',
        editNetwork('internalapi', { vlan: 20, subnets: [{ cidr: '172.17.0.0/24', gateway: '172.17.0.1' }] }),
        /^SL4030 .*of a subnet must not change/,
      ],
      [
        'a network gets another VLAN',
        editNetwork('internalapi', { vlan: 2900, subnets: [{ cidr: '172.17.0.0/24' }] }),
        /^SL24/,
      ],
      [
        'a network gets another subnet',
        editNetwork('internalapi', { vlan: 20, subnets: [{ cidr: '172.27.9.0/24' }] }),
        /^SL24/,
      ],
    ],
  ],
  [
    'sriov-dpdk',
    [
      [
        'bare metal hosts are selected by other labels',
        editCloud(({ nodeSets }) => {
          for (const set of nodeSets ?? [])
            if (set.baremetalSetTemplate) set.baremetalSetTemplate = { bmhLabelSelector: { app: 'other' } }
        }),
        /^SL4030 .*cannot change "bmhLabelSelector"/,
      ],
    ],
  ],
]

// An update of the release is in admission-releases.test.ts.
describe(`updates of deployed clouds and the operators' own admission (modules ${PINNED_RELEASE})`, () => {
  const cluster = useCluster({ crds: PINNED_RELEASE })
  const admission = useAdmission(cluster)

  const { deploy, remove, judge } = siteOn(cluster)

  /** The example, deployed before the tests of the block and removed after them. */
  const useDeployed = (example: string): Rendered => {
    const first = renderEdited(example, PINNED_RELEASE)
    let deployed: readonly KubeObject[] = []
    beforeAll(async () => {
      if (admission.running) deployed = await deploy(first.objects)
    }, 300_000)
    afterAll(() => remove(deployed), 300_000)
    return first
  }

  describe.each(examples)('%s', (example) => {
    const first = useDeployed(example)

    it.each(Object.keys(allowedEdits))(
      'is accepted when %s',
      async (name) => {
        const after = renderEdited(example, PINNED_RELEASE, allowedEdits[name], first.lock)
        expect(await judge(first, after)).toEqual([])
        const known = new Set(first.objects.map((object) => JSON.stringify(object)))
        const changed = after.objects.filter((object) => isOfOperators(object) && !known.has(JSON.stringify(object)))
        expect(changed.length).toBeGreaterThan(0)
        const { problems } = await judgeObjects(changed, cluster)
        expect(problems.filter((problem) => !isHarmless(problem))).toEqual([])
      },
      300_000,
    )
  })

  it('is accepted when two node sets exchange hosts, in the order in which they are written', async () => {
    const isNodeSet = ({ kind }: KubeObject): boolean => kind === 'OpenStackDataPlaneNodeSet'
    const first = renderEdited('networkers', PINNED_RELEASE)
    const deployed = await deploy(first.objects)
    const exchange = editCloud(({ hosts = [] }) => {
      for (const host of hosts)
        if (host.name.endsWith('-0')) host.nodeSet = host.nodeSet === 'compute' ? 'networker' : 'compute'
    })
    const after = renderEdited('networkers', PINNED_RELEASE, exchange, first.lock).objects.filter(isNodeSet)
    const findDeployed = ({ kind, metadata }: KubeObject): KubeObject | undefined =>
      deployed.find((object) => object.kind === kind && object.metadata.name === metadata.name)
    const changes = after.map((object) => compareObject(object, findDeployed(object)))
    for (const { desired } of departures(changes)) await cluster.client.apply(desired, { fieldManager: 'stackloom' })
    for (const object of after) await cluster.client.apply(object, { fieldManager: 'stackloom' })
    await remove(deployed)
  }, 300_000)

  describe.each(refusedEdits)('%s', (example, edits) => {
    const first = useDeployed(example)

    it.each(edits)('is refused before anything is applied when %s', async (_, edit, expected) => {
      const found = await judge(first, renderEdited(example, PINNED_RELEASE, edit, first.lock))
      expect(found.join('\n')).toMatch(expected)
    })
  })
})

function siteOn(cluster: Cluster) {
  /** Creates the objects, and an IPSet for each host as the operator does: addresses in use make its rules stricter. */
  const deploy = async (objects: readonly KubeObject[]): Promise<readonly KubeObject[]> => {
    const namespaces = objects.filter(({ kind }) => kind === 'Namespace')
    const ours = objects.filter(isOfOperators)
    const groups = [namespaces, ours, ours.flatMap(ipSets)]
    for (const group of groups)
      await mapConcurrently(group, 8, (object) => cluster.client.apply(object, { fieldManager: 'stackloom' }))
    return groups.flat()
  }
  const remove = async (objects: readonly KubeObject[]): Promise<void> => {
    const isIpSet = ({ kind }: KubeObject): boolean => kind === 'IPSet'
    const others = objects.filter((object) => object.kind !== 'Namespace' && !isIpSet(object))
    for (const group of [objects.filter(isIpSet), others])
      await mapConcurrently(group, 8, (object) => cluster.client.delete(objectRef(object)))
  }
  /** What the update of the deployed site meets: errors of the plan, or refusals that `up` reports before it writes. */
  const judge = async (first: Rendered, after: Rendered): Promise<readonly string[]> => {
    expect(first.errors).toEqual([])
    const changes = await mapConcurrently(after.objects.filter(isOfOperators), 8, async (object) =>
      compareObject(object, await cluster.client.get(objectRef(object))),
    )
    const options = { force: false, signal: neverAborted() }
    const refused = await findRefusedUpdates(changes, cluster.client, options)
    return [...after.errors, ...refused.map(({ code, message }) => `${code} ${message}`)]
  }
  return { deploy, remove, judge }
}

function ipSets(object: KubeObject): readonly KubeObject[] {
  if (object.kind !== 'OpenStackDataPlaneNodeSet') return []
  const { namespace = '' } = object.metadata
  const nodes = getField(object, 'spec', 'nodes') as Readonly<Record<string, { networks: readonly unknown[] }>>
  return Object.entries(nodes).map(([name, { networks }]) => ({
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'IPSet',
    metadata: { name, namespace },
    spec: { immutable: false, networks },
  }))
}
