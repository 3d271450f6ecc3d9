/**
 * Runs what a site with two clouds needs in pods of real nodes: the network probe on every network and node, and a DNS server
 * on an address that a speaker announces.
 */
import { describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { probe } from '../../../src/cli/verify/probe-command.ts'
import { dnsDatas } from '../../../src/controllers/dns/dns-kinds.ts'
import type { ProbeOutcome } from '../../../src/deploy/network-probe.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { PROBE_LABEL } from '../../../src/render/probe-pods.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { PROBE_REFERENCE } from '../../../src/sandbox/images/image-table.ts'
import { loadImages, loadIntoAll } from '../../../src/sandbox/images/load-image.ts'
import { requireSoak } from '../../counts.ts'
import { dnsData, dnsMasq, host } from '../../dns.ts'
import { testIo } from '../../io.ts'
import { sandboxPlan } from '../../plan.ts'
import { type PodSandbox, usePodSandbox } from '../../pod-sandbox.ts'
import { operatorImage } from './operator-images.ts'
import { collectOperatorLogs } from './operator-logs.ts'

vi.setConfig({ testTimeout: 600_000 })

const soon = { timeout: 240_000, interval: 200 }
const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

/** Two networks of each cloud are enough: the rest is more of the same. No Service has a VIP here. */
function narrow(plan: Plan): Plan {
  const kept = new Set(['ctlplane', 'internalapi'])
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.filter(({ name }) => kept.has(name)).map((network) => ({ ...network, vips: [] })),
      uses: [],
    })),
  }
}

// Multus 4.2 ignores `default-route` (its netlink calls 0.0.0.0/0 what Multus expects to be nil), so that pods cannot test
// whether nodes forward to another cloud.
const plan = narrow(sandboxPlan({ nodes: 2, clouds, cluster: { isolation: { forwarding: 'allow' } } }))
/** The bridge of the untagged segment on the switch of the only NIC; that of a VLAN has the id behind it. */
const UNTAGGED = 'seg0'
const DNS_ADDRESS = '192.168.122.80'

const sandbox = usePodSandbox(
  { crds: 'own', nodes: ['worker-0', 'worker-1'], actors: ['nmstate'] },
  async (started) => {
    const { client, layout, context } = started
    const operator = await operatorImage()
    await loadImages(['dnsmasq', 'probe'], layout.nodes, context)
    await loadIntoAll(layout.nodes, operator.archive, context)
    for (const { stage, object } of renderDocuments(plan)) {
      // Node tuning is of an operator that does not run here.
      if (['nncp', 'namespace', 'netattach', 'metallb-config'].includes(stage) && object.kind !== 'Tuned')
        await client.apply(object, { fieldManager: 'test' })
    }
    // What the Tuned object asks for.
    for (const { name } of layout.nodes)
      await started.run(name, ['sh', '-c', 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore'])
    await install(started, operator.reference)
  },
)

async function install({ kubeconfig }: PodSandbox, image: string): Promise<void> {
  const io = testIo()
  const code = await main(['operator', 'install', '--image', image, '--kubeconfig', kubeconfig], io)
  if (code !== 0) throw new Error(io.err())
}

const listPods = async (namespace: string, labelSelector: string): Promise<readonly Pod[]> =>
  (await sandbox.client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector })).items as readonly Pod[]

interface Pod extends KubeObject {
  readonly status?: {
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly ready: boolean }[]
  }
}

describe('`verify --probe` with real pods', () => {
  const run = (): Promise<ProbeOutcome> =>
    probe(plan, { probeImage: 'busybox:1.37', kubeconfig: sandbox.kubeconfig }, testIo())
  const problems = ({ results, findings }: ProbeOutcome): readonly string[] =>
    [...findings, ...results.flatMap((result) => result.findings)]
      .filter(({ severity }) => severity === 'error')
      .map(({ code, message }) => `${code} ${message}`)

  it('proves two isolated clouds, and leaves no pod', async () => {
    const outcome = await run()
    expect(problems(outcome)).toEqual([])
    expect(outcome.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
    expect(outcome.results.length).toBeGreaterThan(0)
    for (const { namespace } of clouds) await expect.poll(() => listPods(namespace, PROBE_LABEL), soon).toEqual([])
  })

  it('reports a cable between networks of the two clouds, both ways and from both nodes', async () => {
    const [first, second] = plan.clouds.map(({ networks }) => networks.find(({ name }) => name === 'internalapi')?.vlan)
    const bridge = (vlan = 0): string => `${UNTAGGED}v${vlan}`
    const onSwitch = (...words: readonly string[]): Promise<string> => sandbox.run('switch', ['ip', 'link', ...words])
    await onSwitch('add', 'cable0', 'type', 'veth', 'peer', 'name', 'cable1')
    await onSwitch('set', 'cable0', 'master', bridge(first), 'up')
    await onSwitch('set', 'cable1', 'master', bridge(second), 'up')
    const found = problems(await run())
    await onSwitch('del', 'cable0')
    const crossings = found.filter((problem) => problem.startsWith('SL9101'))
    for (const node of ['worker-0', 'worker-1']) {
      for (const [from, to] of [
        ['rhoso1', 'rhoso2'],
        ['rhoso2', 'rhoso1'],
      ]) {
        const text = `pod of ${from}/internalapi on ${node}`
        expect(
          crossings.filter((crossing) => crossing.includes(text) && crossing.includes(`${to}/internalapi`)),
        ).not.toEqual([])
      }
    }
    expect(crossings.filter((crossing) => crossing.includes('ctlplane'))).toEqual([])
  })
})

describe('the pods of a DNSMasq', () => {
  const namespace = 'openstack'
  const pods = (): Promise<readonly Pod[]> => listPods(namespace, 'service=dnsmasq')
  const ready = async (): Promise<number> =>
    (await pods()).filter(({ status }) => status?.containerStatuses?.every((container) => container.ready)).length
  /** What a machine on the ctlplane segment gets from the address of the Service. */
  const answer = async (name: string): Promise<string> => {
    const words = ['dig', `@${DNS_ADDRESS}`, '+short', '+time=2', '+tries=1', name]
    return (await sandbox.run('control', ['nsenter', '--net=/run/netns/client', ...words]).catch(String)).trim()
  }

  it('answer on the address that a speaker announces, from the rendered Deployment', async () => {
    await addClient()
    const metadata = {
      annotations: { 'metallb.io/address-pool': 'openstack-ctlplane', 'metallb.io/loadBalancerIPs': DNS_ADDRESS },
    }
    const { containerImage: _image, ...spec } = dnsMasq('dns', namespace, { replicas: 2 }).spec
    const made = {
      ...dnsMasq('dns', namespace),
      spec: { ...spec, override: { service: { metadata, spec: { type: 'LoadBalancer' } } } },
    }
    // Refused until the first pod of the operator is ready.
    await vi.waitFor(() => sandbox.client.create(made as unknown as KubeObject), soon)
    await sandbox.client.create(dnsData('hosts', [host('172.17.0.100', 'api.example.com')], namespace))
    await expect.poll(ready, soon).toBe(2)
    await expect.poll(() => answer('api.example.com'), soon).toBe('172.17.0.100')
  })

  it('answer with a changed record without a restart', async () => {
    const before = (await pods()).map(({ metadata }) => metadata.uid ?? '').toSorted()
    const started = performance.now()
    const patch = { spec: { hosts: [host('172.17.0.101', 'api.example.com')] } }
    await sandbox.client.patch({ ...dnsDatas, namespace, name: 'hosts' }, patch, { type: 'merge' })
    await expect.poll(() => answer('api.example.com'), soon).toBe('172.17.0.101')
    console.log(`a changed record was answered after ${Math.round(performance.now() - started)} ms`)
    const after = await pods()
    expect(after.map(({ metadata }) => metadata.uid ?? '').toSorted()).toEqual(before)
    for (const { status } of after) expect(status?.containerStatuses).toMatchObject([{ restartCount: 0 }])
  })

  // Takes up to two minutes, because nothing but the kubelet's interval brings the change.
  it('would get a change through the volume alone, when the kubelet looks at its pods again', async (context) => {
    requireSoak(context)
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'delay', namespace },
      data: { value: 'old' },
    }
    await sandbox.client.create(config)
    await sandbox.client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'delay', namespace },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: PROBE_REFERENCE,
            command: ['sh', '-c', 'until grep -q new /config/value; do sleep 0.1; done'],
            volumeMounts: [{ name: 'config', mountPath: '/config' }],
          },
        ],
        restartPolicy: 'Never',
        volumes: [{ name: 'config', configMap: { name: 'delay' } }],
      },
    })
    const phase = async (): Promise<string | undefined> => {
      const pod = await sandbox.client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'delay' })
      return (pod?.['status'] as { phase?: string } | undefined)?.phase
    }
    await expect.poll(phase, soon).toBe('Running')
    // A pod that has just started is looked at more often.
    await new Promise((resolve) => setTimeout(resolve, 30_000))
    const started = performance.now()
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'delay' }
    await sandbox.client.patch(ref, { data: { value: 'new' } }, { type: 'merge' })
    await expect.poll(phase, soon).toBe('Succeeded')
    console.log(`the kubelet alone needed ${Math.round((performance.now() - started) / 1000)} s`)
  })

  async function addClient(): Promise<void> {
    const netns = '/run/netns/client'
    await sandbox.run('control', ['ip', 'netns', 'add', 'client'])
    await sandbox.run('switch', ['ip', 'link', 'add', 'client', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns])
    await sandbox.run('switch', ['ip', 'link', 'set', 'client', 'master', UNTAGGED, 'up'])
    for (const words of [
      ['address', 'add', '192.168.122.240/24', 'dev', 'eth0'],
      ['link', 'set', 'eth0', 'up'],
    ])
      await sandbox.run('control', ['nsenter', `--net=${netns}`, 'ip', ...words])
  }
})

describe('the operator beside them', () => {
  it('needs no right that it does not have', async () => {
    const logs = collectOperatorLogs(() => sandbox.kubeconfig)
    expect(await logs.denied()).toEqual([])
    expect(logs.pods()).toBeGreaterThan(0)
  })
})
