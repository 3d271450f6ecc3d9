/**
 * Runs the installed operator in pods of two real nodes: with its rights, its security context, its probes and its webhook
 * Service, with names for machines, through the loss of the leader, a rolling update under load, and its removal.
 */
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AddressBlock, addressBlocks } from '../../../src/api/address-block.ts'
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { type Connection, connect } from '../../../src/kube/connect.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import type { BuiltImage } from '../../../src/sandbox/images/ensure-images.ts'
import { loadImages, loadIntoAll } from '../../../src/sandbox/images/load-image.ts'
import { count, isSoak, requireSoak } from '../../counts.ts'
import { testIo } from '../../io.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { sandboxPlan } from '../../plan.ts'
import { OPERATOR_ACCOUNT, usePodSandbox } from '../../pod-sandbox.ts'
import { defineConformance } from '../ipam/conformance-cases.ts'
import { defineDataPlane } from './dataplane-cases.ts'
import { defineDns } from './dns-cases.ts'
import { earlierOperatorImage, operatorImage } from './operator-images.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const cluster = usePodSandbox(
  { crds: 'own-2023', nodes: ['worker-0', 'worker-1'], actors: ['nmstate'] },
  async ({ client, kubeconfig, layout, context }) => {
    connection = await connect({ kubeconfig, env: process.env })
    const now = await operatorImage()
    images = { before: isSoak() ? ((await earlierOperatorImage()) ?? now) : now, now }
    for (const archive of new Set([images.before.archive, now.archive]))
      await loadIntoAll(layout.nodes, archive, context)
    await loadImages(['dnsmasq', 'ansible-runner'], layout.nodes, context)
    const plan = sandboxPlan({ nodes: layout.nodes.length, clouds: [{ name: 'rhoso1', namespace: 'openstack' }] })
    for (const { stage, object } of renderDocuments(plan)) {
      // Node tuning is of an operator that does not run here.
      if (['nncp', 'namespace', 'netattach', 'metallb-config'].includes(stage) && object.kind !== 'Tuned')
        await client.apply(object, { fieldManager: 'test' })
    }
  },
)
// A pod of the operator took 70 s to become ready on a machine with ten times the work that it has cores for.
const soon = { timeout: 600_000, interval: 200 }
const home = 'stackloom-operator'
const namespace = 'addresses'
let images: { readonly before: BuiltImage; readonly now: BuiltImage }
let connection: Connection

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: home, name: home }
const podKind = { apiVersion: 'v1', kind: 'Pod' }

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] }
  readonly status?: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}

const pods = async (): Promise<readonly Pod[]> => {
  const labelSelector = 'app.kubernetes.io/name=stackloom-operator'
  return (await cluster.client.list(podKind, { namespace: home, labelSelector })).items as unknown as readonly Pod[]
}
const isReady = ({ status, metadata }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false)

async function run(...words: readonly string[]): Promise<string> {
  const io = testIo()
  const code = await main([...words, '--kubeconfig', cluster.kubeconfig], io)
  expect({ code, err: code === 0 ? '' : io.err() }).toEqual({ code: 0, err: '' })
  return io.out()
}

/** Both pods are ready and run this image; no other pod is left. */
async function rolledOut(image: string): Promise<string> {
  const all = await pods()
  const done = all.length === 2 && all.every((pod) => isReady(pod) && pod.spec.containers[0]?.image === image)
  return done
    ? ''
    : JSON.stringify(all.map(({ metadata, spec, status }) => [metadata.name, spec.containers[0]?.image, status]))
}

async function addressProblem(): Promise<string> {
  const sets = (await cluster.client.list(ipSets, { namespace })).items as unknown as readonly IpSet[]
  const assigned = sets.flatMap(({ status }) => (status?.reservations ?? []).map(({ address }) => address))
  const twice = assigned.filter((address, index) => assigned.indexOf(address) !== index)
  if (twice.length > 0) throw new Error(`assigned twice: ${twice.join(', ')}`)
  const blocks = (await cluster.client.list(addressBlocks)).items as unknown as readonly AddressBlock[]
  const held = blocks.flatMap(({ spec }) => Object.keys(spec.holders))
  if (held.toSorted().join() !== assigned.toSorted().join())
    return `the ledger has ${held.length}, IPSets ${assigned.length}`
  return assigned.length === sets.length ? '' : `${assigned.length} addresses for ${sets.length} IPSets`
}

/** Creates IPSets until stopped; every request that fails is kept. */
function createUnderLoad(prefix: string): {
  readonly stop: () => Promise<{ created: number; failed: readonly string[] }>
} {
  let isRunning = true
  let created = 0
  const failed: string[] = []
  // Also after a failure: the tests that follow must not run under it.
  onTestFinished(() => {
    isRunning = false
  })
  const work = (async () => {
    while (isRunning) {
      const name = `${prefix}-${created + failed.length}`
      await cluster.client.create(ipSet(name, [{}], namespace)).then(
        () => (created += 1),
        (error: unknown) => failed.push(String(error)),
      )
      // A mistake must be refused by a webhook at any time, too.
      await cluster.client.create(ipSet(`${name}-wrong`, [{ fixedIP: '10.0.0.1' }], namespace)).then(
        () => failed.push(`${name}-wrong was accepted`),
        (error: unknown) => {
          if (!String(error).includes('address not in IP address prefix')) failed.push(String(error))
        },
      )
    }
  })()
  return {
    stop: async () => {
      isRunning = false
      await work
      return { created, failed }
    },
  }
}

/** Without grace: the pod ends as with its node. */
async function killPod(name: string): Promise<void> {
  await connection.transport.json({
    method: 'DELETE',
    path: `/api/v1/namespaces/${home}/pods/${name}`,
    body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 },
    idempotent: true,
    verb: 'delete',
    subject: 'pod',
  })
}

const wide = {
  networks: threeNetworks.networks.map((network, index) => ({
    ...network,
    subnets: network.subnets.map((subnet) => ({
      ...subnet,
      cidr: `10.${index + 1}.0.0/16`,
      gateway: `10.${index + 1}.0.1`,
      excludeAddresses: [],
      allocationRanges: [{ start: `10.${index + 1}.0.100`, end: `10.${index + 1}.200.200` }],
    })),
  })),
}

afterAll(async () => {
  await connection?.close()
})

describe('the operator in pods', () => {
  it('becomes ready on both nodes as installed, in a namespace that enforces the restricted profile', async () => {
    await run('operator', 'install', '--image', images.before.reference)
    await expect.poll(() => rolledOut(images.before.reference), soon).toBe('')
    expect(new Set((await pods()).map(({ spec }) => spec.nodeName)).size).toBe(2)
    const { metadata } = (await cluster.client.get({ apiVersion: 'v1', kind: 'Namespace', name: home })) as KubeObject
    expect(metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })

  it('serves IPSets, and its webhooks refuse a mistake behind their Service', async () => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const made = netConfig(wide)
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
    await cluster.client.create(ipSet('first', [{}], namespace))
    await expect.poll(addressProblem, soon).toBe('')
    const wrong = cluster.client.create(ipSet('wrong', [{ fixedIP: '10.9.0.1' }], namespace))
    await expect(wrong).rejects.toThrow('address not in IP address prefix')
  })

  defineDns(cluster, soon)

  it('continues when the pod of the leader is killed, and assigns no address twice', async () => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: home, name: home }
    const holder = async (): Promise<string> =>
      ((await cluster.client.get(lease))?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity ?? ''
    const leader = (await holder()).split('_')[0] ?? ''
    expect((await pods()).map(({ metadata }) => metadata.name)).toContain(leader)
    const load = createUnderLoad('leader')
    await killPod(leader)
    await expect.poll(holder, soon).not.toContain(leader)
    await expect.poll(() => rolledOut(images.before.reference), soon).toBe('')
    // Reviews that the killed pod had are lost; the objects of all others have addresses.
    const { created } = await load.stop()
    expect(created).toBeGreaterThan(0)
    await expect.poll(addressProblem, soon).toBe('')
  })

  it('is updated from the program before its last change under load: no review fails and no IPSet is lost', async (context) => {
    requireSoak(context)
    if (images.before === images.now) context.skip('the checkout has no earlier commit')
    const load = createUnderLoad('update')
    await run('operator', 'install', '--image', images.now.reference)
    await expect.poll(() => rolledOut(images.now.reference), soon).toBe('')
    const { created, failed } = await load.stop()
    expect(failed).toEqual([])
    expect(created).toBeGreaterThan(0)
    await expect.poll(addressProblem, soon).toBe('')
    for (const { status } of await pods()) expect(status?.containerStatuses).toMatchObject([{ restartCount: 0 }])
  })

  it('loses no address and assigns none twice when all its pods are killed at once under load', async () => {
    for (let round = 0; round < count({ test: 1, soak: 10 }); round += 1) {
      const load = createUnderLoad(`chaos-${round}`)
      for (const { metadata } of await pods()) await killPod(metadata.name)
      await expect.poll(() => rolledOut(images.now.reference), soon).toBe('')
      expect((await load.stop()).created).toBeGreaterThan(0)
      const { items } = await cluster.client.list(ipSets, { namespace })
      const [first] = items
      if (first) await cluster.client.delete({ ...ipSets, namespace, name: first.metadata.name })
      await expect.poll(addressProblem, soon).toBe('')
    }
  })

  describe('serves the conformance list of infra-operator', () => {
    defineConformance(cluster, soon)
  })

  defineDataPlane(cluster, soon)

  it('needs no right that it does not have', async () => {
    const { accounts, denied } = cluster.requests()
    expect(accounts).toContain(OPERATOR_ACCOUNT)
    expect(denied).toEqual([])
  })

  it('leaves nothing when it is uninstalled with its objects', async () => {
    await run('operator', 'uninstall', '--yes', '--delete-objects')
    await expect.poll(() => cluster.client.get(deployment), soon).toBeUndefined()
    await expect.poll(pods, soon).toEqual([])
    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
      const { items } = await cluster.client.list({ apiVersion: 'rbac.authorization.k8s.io/v1', kind })
      expect(items.filter(({ metadata }) => metadata.name.startsWith('stackloom'))).toEqual([])
    }
    for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']) {
      const { items } = await cluster.client.list({ apiVersion: 'admissionregistration.k8s.io/v1', kind })
      expect(items.filter(({ metadata }) => metadata.name.startsWith('stackloom'))).toEqual([])
    }
    await expect
      .poll(() => cluster.client.get({ apiVersion: 'v1', kind: 'Namespace', name: home }), soon)
      .toBeUndefined()
  })
})
