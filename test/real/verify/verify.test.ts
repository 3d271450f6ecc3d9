/** A site in the sandbox, deployed by `up`: verify proves it, and finds what a hand has done to it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { testIo } from '../../io.ts'
import {
  allActors,
  deploy,
  failedStages,
  nodeNames,
  prepareCluster,
  type RunningActors,
  startActors,
} from '../deploy/deployment-fixture.ts'

const plan = planExample('two-clouds')
const FILE = ['-f', 'examples/two-clouds.yaml']

interface Told {
  readonly proved: boolean
  readonly checks: readonly {
    readonly id: string
    readonly cloud?: string
    readonly seen: string
    readonly verdict: string
    readonly findings: readonly { readonly code: string; readonly message: string }[]
  }[]
}

describe('a deployed site', { timeout: 240_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, nodeNames(plan))
    const classes = [plan.from.cluster.storageClass, ...plan.clouds.map((cloud) => cloud.from.file.storageClass)]
    for (const name of new Set(classes)) if (name !== undefined) await offer(name)
    cast = startActors(cluster.connection, [...allActors, 'services'])
    expect(failedStages(await deploy(cluster.client, plan))).toEqual([])
  }, 240_000)
  afterAll(() => cast?.stop())

  const offer = (name: string) =>
    cluster.client.apply(
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name },
        provisioner: 'kubernetes.io/no-provisioner',
      },
      { fieldManager: 'other' },
    )

  const run = async (...words: readonly string[]) => {
    const io = testIo()
    const code = await main([...words, ...FILE, '--kubeconfig', cluster.kubeconfig, '-o', 'json'], io)
    return { code, told: JSON.parse(io.out()) as unknown, err: io.err() }
  }

  const verify = async () => {
    const { code, told } = await run('verify')
    const { proved, checks } = told as Told
    const wrong = checks.flatMap(({ id, cloud, findings }) =>
      findings.map((finding) => `${id} ${cloud ?? '-'} ${finding.code}`),
    )
    return { code, proved, wrong, checks }
  }

  /** The services' operators come after the deployment: until everything that they make is there. */
  const settled = () => expect.poll(async () => (await verify()).wrong, { timeout: 120_000, interval: 500 }).toEqual([])

  it('passes every check', async () => {
    await settled()
    const { code, proved, wrong, checks } = await verify()
    expect(wrong).toEqual([])
    expect({ code, proved }).toEqual({ code: 0, proved: true })
    const seen = (id: string) => checks.find((check) => check.id === id && check.cloud === 'rhoso1')?.seen
    expect(seen('ipaddresspools')).toBe('5 pools')
    expect(seen('service-ip-allocation')).toMatch(/^\d+ Services, \d+ VIPs$/)
    expect(seen('keystone-endpoints')).toMatch(/^\d+ KeystoneEndpoints$/)
    expect(seen('pod-networks')).toMatch(/^\d+ pods with networks$/)
    expect(seen('whereabouts-pools')).toMatch(/^\d+ addresses of pods$/)
    // Simulated nodes report no capacity, no operator tunes them, and none assigns addresses to hosts: these are empty.
    const nothing = checks.filter(({ verdict }) => verdict === 'empty').map(({ id }) => id)
    expect(new Set(nothing)).toEqual(new Set(['room', 'node-tuning', 'reservations']))
  })

  it('fails while a pool is open, and passes after the command of the remedy', async () => {
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name: 'openstack-internalapi',
    }
    const scope = (namespaces: readonly string[]) =>
      cluster.client.patch(
        pool,
        { spec: { serviceAllocation: { namespaces } } },
        { type: 'merge', fieldManager: 'a-hand' },
      )
    await scope(['openstack', 'openstack2'])
    expect(await verify()).toMatchObject({ code: 1, wrong: ['namespace-scoping rhoso1 SL9011'] })
    await scope(['openstack'])
    expect(await verify()).toMatchObject({ code: 0, wrong: [] })
  })

  it('fails while a Service of another namespace has an address of a cloud', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    await cluster.client.apply(namespace, { fieldManager: 'shop' })
    const service = { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web' }
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      // Another load balancer's, which does not ask MetalLB.
      spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other', ports: [{ port: 80 }] },
    })
    await cluster.client.patch(
      service,
      { status: { loadBalancer: { ingress: [{ ip: '172.17.0.90' }] } } },
      { type: 'merge', subresource: 'status', fieldManager: 'other' },
    )
    expect(await verify()).toMatchObject({ code: 1, wrong: ['foreign-holders rhoso1 SL9025'] })

    const { code, told } = await run('ip', '172.17.0.90', '--live')
    expect(code).toBe(1)
    expect(told).toMatchObject({
      live: [{ holders: [{ kind: 'has', who: 'Service shop/web' }, { kind: 'gives' }] }],
      findings: [{ code: 'SL9082' }],
    })
    await cluster.client.delete(service)
  })

  it('shows the holder of an address with its pool and time', async () => {
    const before = Date.now()
    const { code, told } = await run('ip', '172.17.0.80', '--live')
    expect(code).toBe(0)
    const [{ holders } = { holders: [] }] = (told as { live: { holders: { who: string; since: string }[] }[] }).live
    const keystone = holders.find(({ who }) => who === 'Service openstack/keystone-internal')
    expect(keystone).toMatchObject({ how: 'LoadBalancer address from pool openstack-internalapi' })
    expect(Date.parse(keystone?.since ?? '')).toBeGreaterThan(before - 600_000)
    expect(Date.parse(keystone?.since ?? '')).toBeLessThanOrEqual(before)
  })
})
