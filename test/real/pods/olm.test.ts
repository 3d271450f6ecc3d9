/** Stages of `up` and `down` with OLM itself, and the simulated OLM beside it: both must say the same. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { type Cluster, startCluster, useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import {
  deploy,
  failedStages,
  nodeNames,
  prepareCluster,
  type RunningActors,
  startActors,
  takeDown,
} from '../deploy/deployment-fixture.ts'

const GROUP = 'operators.coreos.com'
const subscriptionKind = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Subscription' }
const versionKind = { apiVersion: `${GROUP}/v1alpha1`, kind: 'ClusterServiceVersion' }
const installPlanKind = { apiVersion: `${GROUP}/v1alpha1`, kind: 'InstallPlan' }

const real = useCluster({ crds: 'today', controllerManager: true, metallb: true, olm: true })

const plan = planExample('two-clouds')
const shared = ['nmstate', 'metallb', 'cert-manager', 'openstack', 'openstack-init']
let actors: RunningActors | undefined

beforeEach(async () => {
  if (actors) return
  await prepareCluster(real.client, nodeNames(plan))
  actors = startActors(real.connection, ['kubelet', 'operators', 'nmstate'], 20, ['olm'])
}, 120_000)
afterAll(() => actors?.stop())

describe('up with OLM', { timeout: 600_000 }, () => {
  it('installs the operators, changes nothing at the second run, and removes them', async () => {
    const first = await deploy(real.client, plan, { selection: { stages: shared } })
    expect(failedStages(first)).toEqual([])
    const { items } = await real.client.list(versionKind)
    const installed = items.filter(({ metadata }) => metadata.labels?.['olm.copiedFrom'] === undefined)
    expect(installed.map(({ metadata }) => metadata.namespace ?? '').toSorted()).toEqual([
      'cert-manager-operator',
      'metallb-system',
      'openshift-nmstate',
      'openstack-operators',
    ])
    // The point of the real program: it copies versions into namespaces that the simulated one does not touch.
    expect(items.length).toBeGreaterThan(installed.length)
    const second = await deploy(real.client, plan, { selection: { stages: shared } })
    expect(failedStages(second)).toEqual([])
    const down = await takeDown(real.client, 'all')
    expect(failedStages(down)).toEqual([])
    const left = async (): Promise<readonly KubeObject[]> => (await real.client.list(versionKind)).items
    await expect.poll(left, { timeout: 240_000, interval: 250 }).toEqual([])
  })
})

interface Case {
  readonly groups: number
  readonly spec?: Readonly<Record<string, unknown>>
}

const cases: Readonly<Record<string, Case>> = {
  installed: { groups: 1 },
  'without-group': { groups: 0 },
  'two-groups': { groups: 2 },
  'unknown-package': { groups: 1, spec: { name: 'metallb-operators' } },
  'unknown-catalog': { groups: 1, spec: { source: 'red-hat-operators' } },
  'unknown-channel': { groups: 1, spec: { channel: 'fast' } },
  'manual-approval': { groups: 1, spec: { installPlanApproval: 'Manual' } },
}

function objects(namespace: string, { groups, spec }: Case): readonly KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...Array.from({ length: groups }, (_, index) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'OperatorGroup',
      metadata: { name: `group-${index}`, namespace },
      spec: { targetNamespaces: [namespace] },
    })),
    {
      ...subscriptionKind,
      metadata: { name: 'sub', namespace },
      spec: {
        channel: 'stable',
        name: 'metallb-operator',
        source: 'redhat-operators',
        sourceNamespace: 'openshift-marketplace',
        ...spec,
      },
    },
  ]
}

/** What `up`, `status` and `doctor` read of an installation. */
async function readOutcome({ client }: Cluster, namespace: string): Promise<object> {
  const subscription = await client.get({ ...subscriptionKind, namespace, name: 'sub' })
  const { conditions = [], state = '' } = (subscription?.['status'] ?? {}) as {
    readonly conditions?: readonly Condition[]
    readonly state?: string
  }
  const { items: plans } = await client.list(installPlanKind, { namespace })
  const { items: versions } = await client.list(versionKind, { namespace })
  const { phase, reason } = (versions[0]?.['status'] ?? {}) as { readonly phase?: string; readonly reason?: string }
  return {
    problems: conditions.filter(({ status }) => status === 'True').map(({ type }) => type),
    state,
    plans: plans.map((plan) => (plan['status'] as { readonly phase?: string } | undefined)?.phase),
    phase,
    reason,
  }
}

const nothing = { problems: [], state: '', plans: [], phase: undefined, reason: undefined }
const unresolved = { ...nothing, problems: ['ResolutionFailed'] }

const expected: Readonly<Record<string, object>> = {
  installed: {
    ...nothing,
    state: 'AtLatestKnown',
    plans: ['Complete'],
    phase: 'Succeeded',
    reason: 'InstallSucceeded',
  },
  // It resolves nothing there, and does not say so.
  'without-group': nothing,
  'two-groups': nothing,
  'unknown-package': unresolved,
  'unknown-catalog': { ...unresolved, problems: ['CatalogSourcesUnhealthy', 'ResolutionFailed'] },
  'unknown-channel': unresolved,
  'manual-approval': {
    ...nothing,
    problems: ['InstallPlanPending'],
    state: 'UpgradePending',
    plans: ['RequiresApproval'],
  },
}

async function expectOutcomes(cluster: Cluster): Promise<void> {
  for (const [name, given] of Object.entries(cases))
    for (const object of objects(name, given)) await cluster.client.apply(object, { fieldManager: 'test' })
  const read = async (): Promise<object> => {
    const found = Object.keys(cases).map(async (name) => [name, await readOutcome(cluster, name)] as const)
    return Object.fromEntries(await Promise.all(found)) as object
  }
  await expect.poll(read, { timeout: 240_000, interval: 250 }).toEqual(expected)
}

describe('what can go wrong with a Subscription', { timeout: 600_000 }, () => {
  it('is reported by OLM', () => expectOutcomes(real))

  it('is reported by the simulated OLM in the same way', async () => {
    // Two files that each wait for a second place would wait forever, so it takes none.
    const noPlace = async () => ({ release: async () => undefined })
    const { cluster, stop } = await startCluster({ crds: 'today', controllerManager: true }, noPlace)
    try {
      await prepareCluster(cluster.client, ['worker-0'])
      const simulation = startActors(cluster.connection, ['kubelet', 'olm'], 20)
      await expectOutcomes(cluster)
      await simulation.stop()
    } finally {
      await stop()
    }
  })
})
