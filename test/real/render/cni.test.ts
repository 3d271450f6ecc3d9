/**
 * Tests rendered attachments with the real CNI plugins: macvlan and bridge create the link, whereabouts and static assign
 * the address, with a real API server as store. Everything runs in the cluster's own network namespace.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src/plan/plan.ts'
import { renderPodDefinitions } from '../../../src/render/control-plane/control-plane.ts'
import { networksAnnotation, renderAttachments } from '../../../src/render/multus.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { planSpec } from '../../site.ts'
import { requireRoot, requireTool } from '../../tools.ts'

const cluster = useCluster({ crds: 'today' })
const plugins = mkdtempSync(path.join(tmpdir(), 'stackloom-cni-'))
const pods: ChildProcess[] = []

beforeAll(async () => {
  const names = ['cni-bridge', 'cni-macvlan', 'cni-static', 'whereabouts'] as const
  const paths = await ensurePrograms(names, sandboxContext())
  for (const name of names) symlinkSync(paths[name], path.join(plugins, name.replace('cni-', '')))
  const settings = { kubernetes: { kubeconfig: cluster.insideKubeconfig }, log_level: 'error' }
  writeFileSync(path.join(plugins, 'whereabouts.conf'), JSON.stringify({ ...settings, datastore: 'kubernetes' }))
}, 600_000)

afterAll(() => {
  for (const pod of pods) pod.kill('SIGKILL')
  rmSync(plugins, { recursive: true })
})

beforeEach((context) => {
  requireRoot(context)
  requireTool(context, 'ip')
})

function inside(words: readonly string[], input = '', env: Record<string, string> = {}): string {
  const [file = '', ...args] = [...cluster.inside, ...words]
  const { status, stdout, stderr } = spawnSync(file, args, {
    input,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Creates an interface of a node that is connected to nothing, which is enough to attach pods. */
function link(name: string): void {
  const end = `end-${name.replaceAll('.', '-')}`.slice(0, 15)
  inside(['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', end])
  for (const link of [name, end]) inside(['ip', 'link', 'set', link, 'up'])
}

/** A network namespace without a container, as long as the process lives. */
async function newPod(): Promise<number> {
  const pod = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  pods.push(pod)
  await new Promise((resolve) => pod.stdout?.once('data', resolve))
  return pod.pid ?? 0
}

interface CniResult {
  readonly ips: readonly { readonly address: string }[]
  readonly routes?: readonly { readonly dst: string; readonly gw?: string }[]
}

/** Does what the kubelet and Multus do for an attachment: runs the plugin of the definition. */
function attach(config: Record<string, unknown>, pod: number, name: string, ips?: readonly string[]): CniResult {
  const ipam = config['ipam'] as Record<string, unknown>
  const file = path.join(plugins, 'whereabouts.conf')
  const complete = {
    ...config,
    // On a node whereabouts finds this file in a fixed folder.
    ...(ipam['type'] === 'whereabouts' && { ipam: { ...ipam, configuration_path: file } }),
    ...(ips && { runtimeConfig: { ips } }),
  }
  const answer = inside([path.join(plugins, String(config['type']))], JSON.stringify(complete), {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: name,
    CNI_NETNS: `/proc/${pod}/ns/net`,
    CNI_IFNAME: 'net1',
    CNI_PATH: plugins,
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=openstack;K8S_POD_NAME=${name}`,
  })
  return JSON.parse(answer) as CniResult
}

function configOf(plan: Plan, name: string): Record<string, unknown> {
  const [cloud] = plan.clouds
  const found =
    cloud &&
    [...renderAttachments(plan, cloud), ...renderPodDefinitions(plan, cloud)].find(
      (definition) => definition.metadata.name === name,
    )
  const { config } = (found as unknown as { spec: { config: string } }).spec
  return JSON.parse(config) as Record<string, unknown>
}

describe('the CNI plugins', () => {
  it('assign a pod an address of the planned span, on the VLAN of its cloud', async () => {
    const config = configOf(planExample('two-clouds'), 'internalapi')
    expect(config['master']).toBe('enp6s0.20')
    link('enp6s0.20')
    const pod = await newPod()
    expect(attach(config, pod, 'first').ips.map((ip) => ip.address)).toEqual(['172.17.0.30/24'])
    const shown = spawnSync('nsenter', [
      '--target',
      String(pod),
      '--net',
      '--',
      'ip',
      '-o',
      '-4',
      'addr',
      'show',
      'net1',
    ])
    expect(shown.stdout.toString()).toContain('inet 172.17.0.30/24')
    expect(attach(config, await newPod(), 'second').ips.map((ip) => ip.address)).toEqual(['172.17.0.31/24'])
  })

  it('assign an address of each family', async () => {
    const config = configOf(planExample('five-clouds-bgp'), 'storage')
    link(String(config['master']))
    const addresses = attach(config, await newPod(), 'dual').ips.map((ip) => ip.address)
    expect(addresses).toEqual(['172.18.0.30/24', 'fd00:cccc::30/64'])
  })

  it('skip reserved addresses of the span', async () => {
    const plan = planExample('two-clouds')
    const [cloud] = plan.clouds
    const reserved = [{ start: '172.19.0.30', end: '172.19.0.33' }]
    const networks = cloud?.networks.map((network) =>
      network.name === 'tenant'
        ? { ...network, subnets: network.subnets.map((subnet) => ({ ...subnet, reserved })) }
        : network,
    )
    const config = configOf({ ...plan, clouds: cloud && networks ? [{ ...cloud, networks }] : [] }, 'tenant')
    link(String(config['master']))
    expect(attach(config, await newPod(), 'passing').ips.map((ip) => ip.address)).toEqual(['172.19.0.34/24'])
  })

  it('attach a pod of octavia to its bridge, with the route to the amphorae', async () => {
    const config = configOf(planExample('every-service'), 'octavia')
    expect(config).toMatchObject({ type: 'bridge', bridge: 'octbr' })
    const { ips, routes } = attach(config, await newPod(), 'octavia')
    expect(ips.map((ip) => ip.address)).toEqual(['172.23.0.30/24'])
    expect(routes).toContainEqual({ dst: '172.24.0.0/16', gw: '172.23.0.150' })
  })

  it('attach a pod to datacentre without an address', async () => {
    const config = configOf(planExample('two-clouds'), 'datacentre')
    expect(attach(config, await newPod(), 'datacentre').ips ?? []).toEqual([])
  })

  it('assign an individual endpoint the address of its annotation', async () => {
    const plan = planExample('networking-2023')
    const value = networksAnnotation([{ name: 'internalapi-static', namespace: 'openstack', ips: ['172.17.0.20/24'] }])
    const [{ ips } = { ips: [] }] = JSON.parse(value) as readonly { readonly ips: readonly string[] }[]
    const config = configOf(plan, 'internalapi-static')
    expect(attach(config, await newPod(), 'ovs-0', ips).ips.map((ip) => ip.address)).toEqual(['172.17.0.20/24'])
  })

  it('assign the pod of a service the address in its definition', async () => {
    const internalapi = { endpoints: [{ name: 'ovsdbserver-sb-0', address: '172.17.0.20' }] }
    const { plan } = planSpec({ networks: { internalapi } })
    const config = configOf(plan, 'internalapi-static-ovsdbserver-sb-0')
    expect(attach(config, await newPod(), 'ovsdbserver-sb-0').ips.map((ip) => ip.address)).toEqual(['172.17.0.20/24'])
  })
})
