import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { defaultRetryPolicy } from '../../../src/deploy/retry.ts'
import { runIdentity, withRunLease } from '../../../src/deploy/run-lease.ts'
import { NODE_FAILURE } from '../../../src/sandbox/actors/nmstate/nmstate-actor.ts'
import { defaultGrace } from '../../../src/verify/readiness/verdict.ts'
import { useCluster } from '../../cluster.ts'
import { sandboxPlan } from '../../plan.ts'
import {
  deploy,
  failedStages,
  nodeNames,
  prepareCluster,
  type RunningActors,
  startActors,
} from './deployment-fixture.ts'

const plan = sandboxPlan({ nodes: 2, clouds: [{ name: 'rhoso1', namespace: 'openstack' }] })
const poolRef = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', namespace: 'metallb-system' }
/** The address that the APIs of internalapi share. */
function apiVip(): string {
  const vips = plan.clouds[0]?.networks.flatMap((network) => network.vips) ?? []
  return vips.find(({ address }) => address.startsWith('172.17.'))?.address ?? ''
}

const grace = { errorMs: 5_000, podMs: 5_000, allocationMs: 2_000 }

describe('up', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, nodeNames(plan))
    cast = startActors(cluster.connection)
  })
  afterAll(() => cast?.stop())

  const annotate = (node: string, value: string | null) =>
    cluster.client.patch(
      { apiVersion: 'v1', kind: 'Node', name: node },
      { metadata: { annotations: { [NODE_FAILURE]: value } } },
      { type: 'merge' },
    )

  it('stops at the node that refuses its network, with the reason, before the next node', async () => {
    await annotate('worker-0', 'interface enp6s0 not found')
    const failed = await deploy(cluster.client, plan, { selection: { until: ['netattach'] }, grace })
    expect(failedStages(failed)[0]).toMatch(/^nncp failed: node worker-0 failed to apply .*interface enp6s0 not found/s)
    expect(failedStages(failed)[1]).toMatch(/^rhoso1\/netattach blocked: needs nncp, which failed/)
    const policies = await cluster.client.list({
      apiVersion: 'nmstate.io/v1',
      kind: 'NodeNetworkConfigurationPolicy',
    })
    expect(policies.items.filter(({ metadata }) => metadata.name.endsWith('worker-1'))).toEqual([])
    await annotate('worker-0', null)
    const repaired = await deploy(cluster.client, plan, { selection: { until: ['netattach'] } })
    expect(failedStages(repaired)).toEqual([])
  })

  it('continues after the API server was killed', async () => {
    let killed: Promise<void> | undefined
    const ridden = await deploy(cluster.client, plan, {
      selection: { until: ['metallb-config', 'netconfig'] },
      seen: (event) => {
        if (event.kind === 'stage-started' && event.stage === 'metallb-config')
          killed ??= cluster.restart('kube-apiserver')
      },
    })
    await killed
    expect(killed).toBeDefined()
    expect(failedStages(ridden)).toEqual([])
  })

  it('waits for a webhook that is down, and continues when it serves', async () => {
    await cluster.kill('metallb-webhooks')
    const pools = await cluster.client.list({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' })
    const [pool] = pools.items
    if (!pool) throw new Error('there are pools')
    const ref = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name: pool.metadata.name,
    }
    let back: Promise<void> | undefined
    const waits: string[] = []
    // A delete is not asked about, so that there is something to create again.
    await cluster.client.delete(ref)
    const ridden = await deploy(cluster.client, plan, {
      selection: { stages: ['metallb-config'] },
      seen: (event) => {
        if (event.kind !== 'waiting' || !event.reason.includes('webhook')) return
        waits.push(event.reason)
        back ??= cluster.start('metallb-webhooks')
      },
    })
    await back
    expect(waits[0]).toMatch(/an admission webhook does not serve yet/)
    expect(failedStages(ridden)).toEqual([])
  })

  it('fails with the name of a webhook that stays down', async () => {
    await cluster.kill('metallb-webhooks')
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name: 'openstack-tenant',
    }
    await cluster.client.delete(pool)
    const retryPolicy = { limits: { ...defaultRetryPolicy.limits, webhook: 1_000 }, pauseMs: 200 }
    const failed = await deploy(cluster.client, plan, { selection: { stages: ['metallb-config'] }, retryPolicy })
    expect(failedStages(failed)[0]).toMatch(/rhoso1\/metallb-config failed: .*webhook/)
    await cluster.start('metallb-webhooks')
    expect(failedStages(await deploy(cluster.client, plan, { selection: { stages: ['metallb-config'] } }))).toEqual([])
  })

  it('reports which Service has the address that another one needs', async () => {
    // Another Service has the VIP of the APIs, in the cloud's own namespace.
    const vip = apiVip()
    const squatter: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        namespace: 'openstack',
        name: 'squatter',
        annotations: {
          'metallb.io/address-pool': 'openstack-internalapi',
          'metallb.io/loadBalancerIPs': vip,
          'metallb.io/allow-shared-ip': 'openstack-internalapi',
        },
      },
      // The port of keystone: a shared address has each port once.
      spec: { type: 'LoadBalancer', ports: [{ port: 5000 }] },
    }
    await cluster.client.create(squatter)
    const failed = await deploy(cluster.client, plan, { grace, selection: { until: ['control-plane'] } })
    expect(failedStages(failed).join('\n')).toMatch(
      /control-plane failed: Service openstack\/\S+ has no address: .*in use by openstack\/squatter/,
    )
    await cluster.client.delete({
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'openstack',
      name: 'squatter',
    })
    expect(failedStages(await deploy(cluster.client, plan, { grace: defaultGrace }))).toEqual([])
  })

  it('reports the Service for which a pool is too small', async () => {
    const vip = apiVip()
    const pool = { ...poolRef, name: 'openstack-internalapi' }
    const range = `${vip}-${vip}`
    await cluster.client.patch(pool, { spec: { addresses: [range] } }, { type: 'merge', fieldManager: 'a-hand' })
    const failed = await deploy(cluster.client, plan, { grace, selection: { stages: ['control-plane'] } })
    expect(failedStages(failed).join('\n')).toMatch(
      /control-plane failed: Service openstack\/\S+ has no address: .*not allowed/,
    )
    expect(failedStages(await deploy(cluster.client, plan, { force: true }))).toEqual([])
  })

  it('is refused while another run holds the Lease, with its name', async () => {
    const stop = new AbortController().signal
    const { client } = cluster
    await withRunLease({ client, identity: 'alice@elsewhere:1:x', stop }, async () => {
      const second = withRunLease({ client, identity: runIdentity(), stop }, async () => 'ran')
      await expect(second).rejects.toThrow(/alice@elsewhere/)
    })
    await expect(withRunLease({ client, identity: runIdentity(), stop }, async () => 'ran')).resolves.toBe('ran')
  })
})
