import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getField, getString } from '../../../src/api/raw-object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { adopt, inspectCloud } from '../../../src/deploy/adopt/adopt.ts'
import type { Adoption } from '../../../src/deploy/adopt/adoption.ts'
import { isEmpty } from '../../../src/deploy/adopt/service-moves.ts'
import { ADOPT_MANAGER } from '../../../src/deploy/adopt/writes.ts'
import { type LiveView, openLiveView } from '../../../src/deploy/live-view.ts'
import type { PlannedCloud } from '../../../src/plan/plan.ts'
import type { EventSink } from '../../../src/run/events.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { neverAborted } from '../../never-aborted.ts'
import { adoptUntil } from './adopt-killed.ts'
import { adoptPlan } from './adopt-plan.ts'
import { prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'
import { addressesIn, type InstalledBy, installCloud, installedObjects, SAMPLE, settled } from './install-yamls.ts'

/** The APIs, two message queues and the cloud's DNS; with designate also its API and three servers. */
const servicesOf = (cloud: PlannedCloud): number => (cloud.from.file.services?.['designate'] ? 16 : 12)
/** The first clouds have a case each; the adoption of the others is killed. */
const CASES = 3
const clouds = CASES + count({ test: 1, soak: 22 })
const plan = adoptPlan(clouds)
const cloudAt = (index: number): PlannedCloud => plan.clouds[index] as PlannedCloud

/** Describes what an adoption would still do. */
function leftToDo({ networks, oldAdvertisements, missing }: Adoption): readonly string[] {
  const moves = networks.flatMap(({ services, slots }) => [...services, ...slots])
  return [
    ...networks.filter(({ kind }) => kind !== 'as planned').map(({ network, kind }) => `${network} ${kind}`),
    ...networks.flatMap(({ old }) => old.map(({ pool }) => `old pool ${pool.metadata.name}`)),
    ...moves
      .filter(({ missing: annotations }) => !isEmpty(annotations))
      .map(({ name, missing: annotations }) => `${name} ${JSON.stringify(annotations)}`),
    ...oldAdvertisements.map(({ metadata }) => `old advertisement ${metadata.name}`),
    ...missing.map(({ kind, metadata }) => `no ${kind} ${metadata.name}`),
  ]
}

const quiet = { emit: () => undefined, stop: neverAborted(), clock: systemClock }

describe('adopt moves a cloud of install_yamls', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: '0.6.0', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, [])
    cast = startActors(cluster.connection, ['openstack'])
  })
  afterAll(() => cast?.stop())

  const install = async (cloud: PlannedCloud, by: InstalledBy): Promise<ReadonlyMap<string, string>> => {
    await installCloud(cluster.client, installedObjects(plan, cloud, by))
    return settled(cluster.client, cloud.namespace, servicesOf(cloud))
  }

  const withView = async <T>(work: (view: LiveView) => Promise<T>): Promise<T> => {
    const view = openLiveView(cluster.client)
    try {
      return await work(view)
    } finally {
      await view.close()
    }
  }

  const run = async (cloud: PlannedCloud, sink: EventSink = () => undefined) => {
    const { client } = cluster
    const settings = { client, plan, cloud, run: 'test', sink, stop: neverAborted() }
    const done = await withView((view) => adopt({ ...settings, view }))
    expect(done.report.stages.filter(({ outcome }) => outcome !== 'done')).toEqual([])
    // A new view: the old one may not show the last write yet.
    return { ...done, after: await withView((view) => inspectCloud({ view, plan, cloud }, quiet)) }
  }

  const get = (kind: string, name: string, namespace?: string, apiVersion = 'metallb.io/v1beta1') =>
    cluster.client.get({ apiVersion, kind, name, ...(namespace !== undefined && { namespace }) })

  describe('with pools without prefix or scope', () => {
    const cloud = cloudAt(0)
    let before: ReadonlyMap<string, string>

    it('to its own pools, and every Service keeps its address', async () => {
      before = await install(cloud, { pool: (network) => network })
      const { gaps } = await run(cloud)
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
      expect([...gaps.keys()]).toEqual(['ctlplane', 'internalapi', 'designateext'])
    })

    it('to pools for its namespace only, and removes the old ones', async () => {
      const pool = await get('IPAddressPool', `${cloud.namespace}-internalapi`, 'metallb-system')
      expect(pool?.['spec']).toMatchObject({
        autoAssign: false,
        serviceAllocation: { namespaces: [cloud.namespace] },
      })
      expect(await get('IPAddressPool', 'internalapi', 'metallb-system')).toBeUndefined()
      expect(await get('L2Advertisement', 'internalapi', 'metallb-system')).toBeUndefined()
      expect(await get('L2Advertisement', `${cloud.namespace}-internalapi`, 'metallb-system')).toBeDefined()
    })

    it('and sets both spellings in the control plane, with all other fields unchanged', async () => {
      const live = await get('OpenStackControlPlane', SAMPLE, cloud.namespace, 'core.openstack.org/v1beta1')
      const internal = getField(live, ...'spec.keystone.template.override.service.internal'.split('.'))
      expect(getField(internal, 'metadata', 'annotations')).toEqual({
        'metallb.universe.tf/address-pool': `${cloud.namespace}-internalapi`,
        'metallb.universe.tf/allow-shared-ip': `${cloud.namespace}-internalapi`,
        'metallb.universe.tf/loadBalancerIPs': '172.17.0.80',
        'metallb.io/address-pool': `${cloud.namespace}-internalapi`,
        'metallb.io/allow-shared-ip': `${cloud.namespace}-internalapi`,
        'metallb.io/loadBalancerIPs': '172.17.0.80',
      })
      expect(getField(internal, 'spec')).toEqual({ type: 'LoadBalancer' })
      expect(getField(live, 'spec', 'dns', 'template', 'options')).toMatchObject([{ key: 'server' }])
      const list = 'spec.designate.template.designateBackendbind9.override.services'.split('.')
      expect(getField(live, ...list)).toMatchObject([
        {
          metadata: { annotations: { 'metallb.io/address-pool': `${cloud.namespace}-designateext` } },
          spec: { type: 'LoadBalancer' },
        },
      ])
      expect(live?.metadata.managedFields?.map(({ manager }) => manager)).toContain(ADOPT_MANAGER)
    })

    it('and does not change its network attachments', async () => {
      const live = await get('NetworkAttachmentDefinition', 'internalapi', cloud.namespace, 'k8s.cni.cncf.io/v1')
      expect(getString(live, 'spec', 'config')).toContain('172.17.0.0/24')
      expect(getString(live, 'spec', 'config')).not.toContain('network_name')
      expect(live?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kubectl-client-side-apply'])
    })

    it('and from then on refuses its pool to other namespaces', async () => {
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'thief',
          namespace: 'default',
          annotations: { 'metallb.io/address-pool': `${cloud.namespace}-internalapi` },
        },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }
      const steal = async () => cluster.client.create(service)
      await expect
        .poll(() => steal().then(() => cluster.client.delete({ ...service, ...service.metadata }), String))
        .toContain(cloud.name)
    })

    it('completely: a second run finds nothing to move', async () => {
      const { after, gaps } = await run(cloud)
      expect(leftToDo(after)).toEqual([])
      expect(gaps.size).toBe(0)
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
    })
  })

  describe('that is moved already, while MetalLB has not assigned an address again', () => {
    const cloud = cloudAt(0)

    it('and waits for MetalLB', async () => {
      const before = await addressesIn(cluster.client, cloud.namespace)
      await cluster.kill('metallb-controller')
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        namespace: cloud.namespace,
        name: 'keystone-internal',
      }
      await cluster.client.patch(service, { status: { loadBalancer: null } }, { type: 'merge', subresource: 'status' })
      let starting: Promise<void> | undefined
      await run(cloud, (event) => {
        if (event.kind === 'waiting' && event.reason.startsWith('MetalLB to give 172.17.0.80 back'))
          starting ??= cluster.start('metallb-controller')
      })
      expect(starting).toBeDefined()
      await starting
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
    })
  })

  describe('with the prefixed and scoped pools of document 000, patched into its control plane', () => {
    const cloud = cloudAt(1)

    it('in place: keeps pools and addresses, and disables automatic assignment', async () => {
      const pool = (network: string) => `${cloud.namespace}-${network}`
      const before = await install(cloud, { pool, scoped: true, patched: true })
      const { after, gaps } = await run(cloud)
      expect(leftToDo(after)).toEqual([])
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
      // Its pools stay; only the sharing key that the script gave to the message queues is removed.
      expect([...gaps.keys()].filter((network) => network !== 'internalapi')).toEqual([])
      expect((await get('IPAddressPool', pool('internalapi'), 'metallb-system'))?.['spec']).toMatchObject({
        autoAssign: false,
        serviceAllocation: { namespaces: [cloud.namespace] },
      })
    })
  })

  describe('with the scoped pools of document 001, which have no prefix', () => {
    const cloud = cloudAt(2)

    it('to its own pools, and every Service keeps its address', async () => {
      const advertisement = (network: string) => `${network}-${cloud.namespace}`
      const before = await install(cloud, { pool: (network) => network, advertisement, scoped: true })
      const { after } = await run(cloud)
      expect(leftToDo(after)).toEqual([])
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
      expect(await get('IPAddressPool', 'internalapi', 'metallb-system')).toBeUndefined()
      expect(await get('L2Advertisement', advertisement('internalapi'), 'metallb-system')).toBeUndefined()
    })
  })

  describe('whose adoption was killed', () => {
    const points = Array.from({ length: clouds - CASES }, (_, index) => index + CASES)

    it.for(points)('converges with the next run, every address as before (%i)', async (point) => {
      const cloud = cloudAt(point)
      const before = await install(cloud, { pool: (network) => `${network}${point}` })
      // Spread over all writes, from the first to the last.
      const writes = 5 + Math.round(((point - CASES) * 60) / points.length)
      await adoptUntil(writes, { clouds, index: point, kubeconfig: cluster.kubeconfig })
      const { after } = await run(cloud)
      expect(leftToDo(after)).toEqual([])
      expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
    })
  })
})
