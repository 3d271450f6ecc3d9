/**
 * Tests the audit and the repair of addresses with the real whereabouts, which keeps its reservations in a real API server. Pods are
 * objects without a kubelet here; `test/real/pods` does the same with pods that run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { allocatedPodAddresses, NETWORK_STATUS } from '../../../src/api/pod-networks.ts'
import { repairAddresses } from '../../../src/cli/ip/repair-addresses.ts'
import { main } from '../../../src/cli/main.ts'
import { renderAttachments } from '../../../src/render/multus.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { instantClock } from '../../instant-clock.ts'
import { testIo } from '../../io.ts'
import { sandboxContext } from '../../sandbox-context.ts'

const cluster = useCluster({ crds: 'today' })
const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-leaks-'))
const settings = path.join(folder, 'whereabouts.conf')
let whereabouts = ''

beforeAll(async () => {
  whereabouts = (await ensurePrograms(['whereabouts'], sandboxContext())).whereabouts
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true }))

const LIVING = 5
const LEAKED = 10
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
const IP_POOL = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' }
const OVERLAP = { ...IP_POOL, kind: 'OverlappingRangeIPReservation' }

/** What the kubelet and Multus do: the plugin reserves an address, and the pod's status gets it. */
async function startPod(definition: KubeObject, name: string): Promise<string> {
  const { config } = definition['spec'] as { readonly config: string }
  const { ipam } = JSON.parse(config) as { readonly ipam: object }
  const input = { cniVersion: '0.3.1', name: 'net', type: 'macvlan', ipam: { ...ipam, configuration_path: settings } }
  const [file, ...args] = [...cluster.inside, whereabouts]
  const { status, stdout, stderr } = spawnSync(file, args, {
    input: JSON.stringify(input),
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: `container-of-${name}`,
      // Another namespace than the plugin's own; whereabouts only reserves and does not enter it.
      CNI_NETNS: `/proc/${process.pid}/ns/net`,
      CNI_IFNAME: 'net1',
      CNI_PATH: folder,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=openstack;K8S_POD_NAME=${name}`,
    },
  })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  const { ips } = JSON.parse(stdout) as { readonly ips: readonly { readonly address: string }[] }
  const address = ips[0]?.address.split('/')[0] ?? ''
  const pod = await cluster.client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'openstack',
      name,
      annotations: { [NETWORK_STATUS]: JSON.stringify([{ name: 'openstack/internalapi', ips: [address] }]) },
    },
    spec: { containers: [{ name: 'main', image: 'none' }] },
  })
  await cluster.client.update({ ...pod, status: { phase: 'Running' } }, { subresource: 'status' })
  return address
}

async function reserved(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(IP_POOL)
  return items.flatMap(allocatedPodAddresses).map(({ address }) => address)
}

async function ip(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const io = testIo()
  const code = await main(['ip', ...words, '--kubeconfig', cluster.kubeconfig], io)
  return { code, out: io.out() }
}

it('finds 10 addresses that whereabouts leaked, and frees exactly these', { timeout: 300_000 }, async () => {
  const kubernetes = { kubeconfig: cluster.insideKubeconfig }
  writeFileSync(settings, JSON.stringify({ datastore: 'kubernetes', kubernetes, log_level: 'error' }))
  const plan = planExample('two-clouds')
  const definition = plan.clouds
    .slice(0, 1)
    .flatMap((cloud) => renderAttachments(plan, cloud))
    .find(({ metadata }) => metadata.name === 'internalapi')
  if (!definition) throw new Error('the example has no internalapi')
  const { client } = cluster
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } })
  await client.create(definition)
  await client.create({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'openstack' },
  })
  const living: string[] = []
  const leaked: string[] = []
  for (const name of names('gone', LEAKED)) leaked.push(await startPod(definition, name))
  for (const name of names('alive', LIVING)) living.push(await startPod(definition, name))
  expect((await ip('audit')).code).toBe(0)
  // Deleted while the node was lost: the plugin is never called with DEL.
  for (const name of names('gone', LEAKED))
    await client.delete({ apiVersion: 'v1', kind: 'Pod', namespace: 'openstack', name })

  const audit = await ip('audit', '-o', 'json')
  expect(audit.code).toBe(1)
  const { addresses } = JSON.parse(audit.out) as {
    readonly addresses: readonly { readonly kind: string; readonly address: string; readonly network?: string }[]
  }
  const found = addresses.filter(({ kind }) => kind === 'leaked')
  expect(found.map(({ address }) => address).sort()).toEqual(leaked.toSorted())
  expect(new Set(found.map(({ network }) => network))).toEqual(new Set(['internalapi']))
  const overlaps = addresses.filter(({ kind }) => kind === 'leaked-overlap')
  expect(overlaps.map(({ address }) => address).sort()).toEqual(leaked.toSorted())

  expect((await ip('repair', '--dry-run')).code).toBe(0)
  expect(await reserved()).toHaveLength(LEAKED + LIVING)

  const io = testIo()
  const options = { kubeconfig: cluster.kubeconfig, yes: true, output: 'json' } as const
  expect(await repairAddresses(options, io, instantClock())).toBe(0)
  expect((await reserved()).toSorted()).toEqual(living.toSorted())
  expect((await client.list(OVERLAP)).items).toHaveLength(LIVING)
  const proof = JSON.parse(io.out()) as { readonly proof: Readonly<Record<string, readonly string[]>> }
  expect(proof.proof['Pod']).toEqual(names('alive', LIVING).map((name) => `openstack/${name}`))
  expect((await ip('audit')).code).toBe(0)

  // whereabouts gives the freed addresses out again.
  expect(leaked).toContain(await startPod(definition, 'next'))
})
