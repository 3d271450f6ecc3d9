import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { formatGroupKind } from '../../../src/api/snapshot.ts'
import { readInventories } from '../../../src/deploy/inventory.ts'
import { findLeftovers } from '../../../src/deploy/site-changes.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { addOwnershipLabels } from '../../../src/render/labels.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { fieldDifferences } from '../../../src/verify/field-differences.ts'
import { ingressAddresses } from '../../../src/verify/readiness/load-balancer.ts'
import { useCluster } from '../../cluster.ts'
import { sandboxPlan } from '../../plan.ts'
import {
  deploy,
  failedStages,
  nodeNames,
  objectContents,
  objectsIn,
  prepareCluster,
  type RunningActors,
  startActors,
  takeDown,
  writes,
} from './deployment-fixture.ts'

const rhoso1 = { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] }
const rhoso2 = { name: 'rhoso2', namespace: 'openstack2' }
const rhoso3 = { name: 'rhoso3', namespace: 'openstack3' }
const two = sandboxPlan({ nodes: 2, clouds: [rhoso1, rhoso2] })
const three = sandboxPlan({ nodes: 2, clouds: [rhoso1, rhoso2, rhoso3] })

const DEPLOYMENT = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment' }

/** Of the first cloud, as an earlier site file had it. */
function extraPool(address: number): KubeObject {
  const object = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name: `extra-${address}`, namespace: 'metallb-system' },
    spec: { addresses: [`172.18.0.${address}-172.18.0.${address + 1}`], autoAssign: false },
  }
  return addOwnershipLabels(object, { site: 'lab', cloud: 'rhoso1' })
}

function serviceOf(address: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'user', annotations: { 'metallb.io/loadBalancerIPs': address } },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }
}

describe('up and down', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  let before: Readonly<Record<string, string>> = {}

  beforeAll(async () => {
    await prepareCluster(cluster.client, nodeNames(two))
    before = objectContents(await objectsIn(cluster.client, two))
    cast = startActors(cluster.connection)
  })
  afterAll(() => cast?.stop())

  /** What belongs to one cloud: by its label, or by its namespace. */
  const ofCloud = async (plan: Plan, cloud: string, namespace: string) => {
    const all = await objectsIn(cluster.client, plan)
    const owned = [...all].filter(
      ([, { metadata }]) => metadata.labels?.['stackloom.dev/cloud'] === cloud || metadata.namespace === namespace,
    )
    return objectContents(new Map(owned))
  }

  it('deploys two clouds, every Service with an address of its own cloud', async () => {
    expect(failedStages(await deploy(cluster.client, two))).toEqual([])
    for (const { namespace, networks } of two.clouds) {
      const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
      const addresses = new Set(items.flatMap(ingressAddresses))
      const planned = new Set(networks.flatMap(({ vips }) => vips.map(({ address }) => address)))
      expect([...addresses].sort()).toEqual([...planned].sort())
    }
  })

  it('apply exactly what render prints', async () => {
    const live = await objectsIn(cluster.client, two)
    const differences = renderDocuments(two).flatMap(({ object }) => {
      const { namespace, name } = object.metadata
      const found = live.get(`${formatGroupKind(object)} ${namespace === undefined ? '' : `${namespace}/`}${name}`)
      return found ? fieldDifferences(object, found).map(({ path }) => `${object.kind} ${name} ${path}`) : [name]
    })
    expect(differences).toEqual([])
  })

  it('write nothing in a second run', async () => {
    const contents = objectContents(await objectsIn(cluster.client, two))
    const again = await deploy(cluster.client, two)
    expect(failedStages(again)).toEqual([])
    expect(writes(again)).toEqual([])
    expect(objectContents(await objectsIn(cluster.client, two))).toEqual(contents)
  })

  it('discover hosts again only when a run ended before the discovery', async () => {
    const { items } = await cluster.client.list(DEPLOYMENT, { namespace: 'openstack' })
    const [deployment] = items
    if (!deployment) throw new Error('the first cloud has hosts')
    const { name } = deployment.metadata
    const patch = { metadata: { annotations: { 'stackloom.dev/hosts-discovered': null } } }
    await cluster.client.patch({ ...DEPLOYMENT, namespace: 'openstack', name }, patch, { type: 'merge' })
    const discovered: string[] = []
    const discovering = (ends: () => string) => ({
      selection: { stages: ['data-plane'] },
      discoverHosts: async (namespace: string) => {
        discovered.push(namespace)
        return ends()
      },
    })
    const killed = discovering(() => {
      throw new Error('killed')
    })
    expect(failedStages(await deploy(cluster.client, two, killed))[0]).toMatch(/^rhoso1\/data-plane failed/)
    const fine = discovering(() => 'found')
    expect(failedStages(await deploy(cluster.client, two, fine))).toEqual([])
    expect(failedStages(await deploy(cluster.client, two, fine))).toEqual([])
    expect(discovered).toEqual(['openstack', 'openstack'])
  })

  it('prune what left the site, except a pool whose address is in use', async () => {
    const before = await ofCloud(two, 'rhoso2', 'openstack2')
    const rendered = renderDocuments(two)
    const extras = [50, 60].map((address) => ({
      stage: 'metallb-config' as const,
      cloud: 'rhoso1',
      object: extraPool(address),
    }))
    const selection = { clouds: ['rhoso1'], stages: ['metallb-config'] }
    expect(failedStages(await deploy(cluster.client, two, { documents: [...rendered, ...extras], selection }))).toEqual(
      [],
    )
    const user = serviceOf('172.18.0.50')
    await cluster.client.create(user)
    const used = () => cluster.client.get({ apiVersion: 'v1', kind: 'Service', ...user.metadata })
    await expect.poll(async () => ingressAddresses((await used()) ?? user), { timeout: 120_000 }).toHaveLength(1)

    const left = async () => findLeftovers(two, rendered, await readInventories(cluster.client), ['rhoso1'])
    expect((await left()).map(({ ref }) => ref.name).sort()).toEqual(['extra-50', 'extra-60'])
    const kept = await deploy(cluster.client, two, { selection, prune: await left() })
    expect(failedStages(kept)).toEqual([])
    expect(kept.events).toContainEqual(
      expect.objectContaining({
        kind: 'finding',
        finding: expect.objectContaining({ code: 'SL4018', message: expect.stringContaining('extra-50') }),
      }),
    )
    expect((await left()).map(({ ref }) => ref.name)).toEqual(['extra-50'])
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Service', ...user.metadata })
    await expect.poll(used, { timeout: 120_000 }).toBeUndefined()
    await deploy(cluster.client, two, { selection, prune: await left() })
    expect(await left()).toEqual([])
    expect(await ofCloud(two, 'rhoso2', 'openstack2')).toEqual(before)
  })

  it('add and remove a third cloud without a change to the others', async () => {
    const first = await ofCloud(three, 'rhoso1', 'openstack')
    const second = await ofCloud(three, 'rhoso2', 'openstack2')
    expect(failedStages(await deploy(cluster.client, three))).toEqual([])
    expect(await ofCloud(three, 'rhoso1', 'openstack')).toEqual(first)
    expect(failedStages(await takeDown(cluster.client, ['rhoso3']))).toEqual([])
    expect(await ofCloud(three, 'rhoso1', 'openstack')).toEqual(first)
    expect(await ofCloud(three, 'rhoso2', 'openstack2')).toEqual(second)
    expect(await ofCloud(three, 'rhoso3', 'openstack3')).toEqual({})
  })

  it('report a manual edit of a pool with its manager', async () => {
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name: 'openstack-storage',
    }
    const patch = { spec: { autoAssign: true } }
    await cluster.client.patch(pool, patch, { type: 'merge', fieldManager: 'a-hand' })
    const refused = await deploy(cluster.client, two, { selection: { stages: ['metallb-config'] } })
    expect(failedStages(refused)[0]).toMatch(/rhoso1\/metallb-config failed: .*autoAssign belongs to a-hand/)
    const forced = await deploy(cluster.client, two, {
      selection: { stages: ['metallb-config'] },
      force: true,
    })
    expect(failedStages(forced)).toEqual([])
    expect((await cluster.client.get(pool))?.['spec']).toMatchObject({ autoAssign: false })
  })

  it('replace routers of BGP in any order, and a peer that has an earlier name', async () => {
    const withRouters = (routers: readonly string[], name?: string) => {
      const peers = routers.map((address) => ({ address, asn: 65000, ...(name !== undefined && { name }) }))
      return sandboxPlan({
        nodes: 2,
        clouds: [rhoso1, rhoso2],
        cluster: { metallb: { mode: 'bgp', asn: 64999, peers } },
      })
    }
    const routersAfter = async (plan: Plan) => {
      const prune = findLeftovers(plan, renderDocuments(plan), await readInventories(cluster.client))
      const selection = { stages: ['metallb', 'metallb-config'] }
      expect(failedStages(await deploy(cluster.client, plan, { selection, prune }))).toEqual([])
      const { items } = await cluster.client.list({ apiVersion: 'metallb.io/v1beta2', kind: 'BGPPeer' })
      return items.map(({ spec }) => (spec as { readonly peerAddress: string }).peerAddress).sort()
    }
    expect(await routersAfter(withRouters(['192.0.2.1'], 'earlier'))).toEqual(['192.0.2.1'])
    expect(await routersAfter(withRouters(['192.0.2.1', '192.0.2.2']))).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(await routersAfter(withRouters(['192.0.2.3', '192.0.2.2']))).toEqual(['192.0.2.2', '192.0.2.3'])
    expect(await routersAfter(withRouters(['192.0.2.2']))).toEqual(['192.0.2.2'])
  })

  it('leave nothing after down', async () => {
    const gone = await takeDown(cluster.client, 'all')
    expect(failedStages(gone)).toEqual([])
    const left = Object.keys(objectContents(await objectsIn(cluster.client, two)))
    const ours = left.filter((id) => !(id in before) && id !== 'Namespace stackloom-system')
    expect(ours).toEqual([])
  })
})
