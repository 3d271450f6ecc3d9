/**
 * The network probe between real network namespaces: macvlan and whereabouts attach its pods by our own definitions, and
 * MetalLB's speaker answers ARP for the VIPs. Isolated it is silent; a cable between two clouds is caught, and so are
 * nodes that answer or forward between clouds, and a speaker that has lost its interface.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { gatherFromCluster } from '../../../src/cli/doctor/gather-evidence.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { readData } from '../../../src/data/data.ts'
import { type ProbeOutcome, probeNetworks } from '../../../src/deploy/network-probe.ts'
import { diagnose } from '../../../src/doctor/diagnose.ts'
import { rules } from '../../../src/doctor/rules.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { DesiredState } from '../../../src/render/nmstate.ts'
import { probeGateways } from '../../../src/render/probe-pods.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import type { Family } from '../../../src/site/site.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { sandboxPlan } from '../../plan.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { hasTool, requireRoot, requireTool } from '../../tools.ts'
import { makeRig, type Rig } from './net-rig.ts'

/**
 * Two networks of each cloud are enough: the rest is more of the same. Pods have both families; the VIPs are IPv4's, since
 * the API server here gives Services no other.
 */
function narrowed(plan: Plan): Plan {
  const kept = new Set(['ctlplane', 'internalapi'])
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks
        .filter(({ name }) => kept.has(name))
        .map((network) => ({
          ...network,
          vips: network.vips.filter(({ address }) => !address.includes(':')),
        })),
      uses: cloud.uses.filter(({ network }) => kept.has(network)),
    })),
  }
}

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
/** IPv6 takes its time to settle on new interfaces: tried where there is time. */
const families: readonly Family[] = count({ test: 1, soak: 2 }) === 2 ? [4, 6] : [4]
const plan = narrowed(sandboxPlan({ nodes: 2, clouds, families }))
const [near = '', far = ''] = plan.from.cluster.nodes.map(({ name }) => name)
const TOOLS = ['ip', 'ping', 'arping', 'nc', 'busybox']
const NAMESPACE = 'metallb-system'

describe('the network probe', { timeout: 240_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true })
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-probe-'))
  const program = path.join(folder, 'probe.sh')
  let rig: Rig

  beforeAll(async () => {
    if (process.getuid?.() !== 0 || !TOOLS.every(hasTool)) return
    writeFileSync(program, readData('probe.sh'))
    const names = ['cni-bridge', 'cni-macvlan', 'cni-static', 'whereabouts', 'metallb-speaker'] as const
    const { 'metallb-speaker': speaker, ...plugins } = await ensurePrograms(names, sandboxContext())
    rig = await makeRig(plan, cluster, plugins)
    rig.sysctl('net.ipv4.ip_forward', '1')
    rig.sysctl('net.ipv4.conf.all.arp_ignore', '1')
    blockForwarding('add')
    await announce()
    for (const node of [near, far])
      rig.start(node, [speaker, `--namespace=${NAMESPACE}`, `--node-name=${node}`, '--ml-bindaddr=', '--port=7573'], {
        METALLB_NODE_NAME: node,
        METALLB_POD_NAME: `speaker-${node}`,
      })
  }, 600_000)

  afterAll(() => {
    rig?.close()
    rmSync(folder, { recursive: true })
  })

  beforeEach((context) => {
    requireRoot(context)
    for (const tool of TOOLS) requireTool(context, tool)
  })

  const vips = () =>
    plan.clouds.flatMap(({ namespace, networks }) =>
      networks.flatMap(({ pool = '', vips: all }) =>
        [...new Set(all.map(({ address }) => address))].map((address) => ({ namespace, pool, address })),
      ),
    )

  /** The rendered pools and advertisements of the clouds, and a Service with an endpoint for every VIP. */
  async function announce(): Promise<void> {
    const apply = (object: KubeObject) => cluster.client.apply(object, { fieldManager: 'stackloom' })
    for (const name of [near, far])
      await apply({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      })
    // A speaker's own pod owns the statuses that it writes.
    await apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'speaker', namespace: NAMESPACE },
    })
    for (const node of [near, far])
      await apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `speaker-${node}`, namespace: NAMESPACE },
        spec: {
          nodeName: node,
          serviceAccountName: 'speaker',
          containers: [{ name: 'speaker', image: 'simulated' }],
        },
      })
    for (const { stage, object } of renderDocuments(plan))
      if (stage === 'namespace' || stage === 'metallb-config') await apply(object)
    for (const { namespace, pool, address } of vips()) {
      const name = vipName(address)
      const annotations = { 'metallb.io/address-pool': pool, 'metallb.io/loadBalancerIPs': address }
      await apply({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace, annotations },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      })
      await apply({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.0.9'], nodeName: near, conditions: { ready: true } }],
        ports: [{ port: 80 }],
      })
    }
  }

  /** The rules and routes of the rendered node policies, which are the same on both nodes. */
  function blockForwarding(verb: 'add' | 'del'): void {
    const states = renderDocuments(plan)
      .map(({ object }) => object)
      .filter(({ kind, metadata }) => kind === 'NodeNetworkConfigurationPolicy' && metadata.name.endsWith(near))
      .map((policy) => (policy['spec'] as { desiredState: DesiredState }).desiredState)
    const config = (field: 'routes' | 'route-rules') =>
      states.flatMap((state) => (state[field]?.config ?? []) as readonly Record<string, string>[])
    const family = (isSix: boolean): string => (isSix ? '-6' : '-4')
    for (const route of config('routes')) {
      const { destination = '', 'route-type': type = '', 'table-id': table = '' } = route
      rig.onNodes('ip', family(destination.includes(':')), 'route', verb, type, destination, 'table', String(table))
    }
    for (const { iif = '', family: of, 'route-table': table, priority } of config('route-rules')) {
      const rule = ['iif', iif, 'lookup', String(table), 'priority', String(priority)]
      rig.onNodes('ip', family(of === 'ipv6'), 'rule', verb, ...rule)
    }
  }

  async function announced(): Promise<number> {
    const status = { apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status' }
    return (await cluster.client.list(status)).items.length
  }

  /** Kubelet and Multus, for the probe's pods: the API server judges each pod, the CNI plugins attach it. */
  async function probe(env: Record<string, string> = {}): Promise<ProbeOutcome> {
    const running = new Map<string, KubeObject>()
    const key = (namespace: string, name: string): string => `${namespace}/${name}`
    return probeNetworks(
      plan,
      { image: 'busybox', program: readData('probe.sh') },
      {
        client: {
          get: cluster.client.get,
          apply: async (object, options) => {
            const isPod = object.kind === 'Pod'
            const taken = await cluster.client.apply(object, { ...options, dryRun: isPod })
            if (!isPod) return taken
            const { namespace = '', name, labels = {}, annotations } = object.metadata
            const network = labels['stackloom.dev/network'] ?? ''
            const ips = await rig.attach(key(namespace, name), labels['stackloom.dev/node'] ?? '', namespace, network)
            for (const gateway of probeGateways(object)) await rig.route(key(namespace, name), gateway)
            const status = JSON.stringify([{ name: `${namespace}/${network}`, interface: 'net1', ips }])
            const shown = { ...annotations, 'k8s.v1.cni.cncf.io/network-status': status }
            const pod = {
              ...taken,
              metadata: { ...taken.metadata, annotations: shown },
              status: { phase: 'Running' },
            }
            running.set(key(namespace, name), pod)
            return pod
          },
          list: async (_, { namespace } = {}) => ({
            items: [...running.values()].filter(({ metadata }) => metadata.namespace === namespace),
            resourceVersion: 'x',
          }),
          delete: async (ref, options) => {
            if (ref.kind !== 'Pod') return cluster.client.delete(ref, options)
            await rig.detach(key(ref.namespace ?? '', ref.name))
            return running.delete(key(ref.namespace ?? '', ref.name))
          },
        },
        ask: ({ namespace, name }, [shell = 'sh', , ...words]) =>
          rig.run(key(namespace, name), [shell, program, ...words], env),
        clock: systemClock,
        stop: new AbortController().signal,
        say: () => undefined,
      },
    )
  }

  const errors = ({ results }: ProbeOutcome): readonly string[] =>
    results.flatMap(({ findings }) =>
      findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`),
    )

  it('runs with speakers that announce every VIP', async () => {
    await expect.poll(announced, { timeout: 60_000, interval: 250 }).toBe(vips().length)
  })

  it('proves two isolated clouds with busybox and releases all addresses', async () => {
    for (const tool of ['sh', 'ip', 'ping', 'arping', 'nc', 'sed', 'sort', 'tr', 'timeout'])
      symlinkSync('/bin/busybox', path.join(folder, tool))
    const probed = await probe({ PATH: `${folder}:${process.env['PATH']}` })
    expect(errors(probed)).toEqual([])
    expect(probed.results.map(({ verdict }) => verdict)).toEqual(Array<string>(8).fill('passed'))
    expect(new Set(probed.results.map(({ seen }) => seen))).toEqual(new Set(['4 probes']))
    const books = await cluster.client.list({
      apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
      kind: 'IPPool',
    })
    const held = books.items.flatMap((item) => Object.keys((item['spec'] as { allocations: object }).allocations))
    expect(books.items).toHaveLength(4 * families.length)
    expect(held).toEqual([])
  })

  it('reports a connection between two clouds and a small MTU with iputils', async () => {
    const unplug = rig.bridge('openstack/internalapi', 'openstack2/internalapi')
    rig.portMtu('openstack/ctlplane', far, 1400)
    const found = errors(await probe())
    unplug()
    rig.portMtu('openstack/ctlplane', far, 1500)

    const crossings = found.filter((one) => one.startsWith('SL9101'))
    const between = (from: string, to: string) =>
      crossings.filter((crossing) => crossing.includes(`pod of ${from}`) && crossing.includes(to))
    // Both ways, from both nodes: the other cloud's pods, and its VIPs by MetalLB's own answer.
    for (const node of [near, far]) {
      expect(between(`rhoso1/internalapi on ${node}`, 'rhoso2/internalapi')).not.toEqual([])
      expect(between(`rhoso2/internalapi on ${node}`, 'rhoso1/internalapi')).not.toEqual([])
    }
    expect(between(`rhoso1/internalapi on ${far}`, 'VIP of')).toContainEqual(
      expect.stringMatching(/of rhoso2 .* by ARP; ([0-9a-f]{2}:){5}[0-9a-f]{2} answered/),
    )
    if (families.includes(6))
      expect(crossings).toContainEqual(expect.stringMatching(/\(fe80:[0-9a-f:]+\) by IPv6 multicast$/))
    // The segments without a cable stay silent.
    expect(crossings.filter((crossing) => crossing.includes('ctlplane'))).toEqual([])

    const others = found.filter((one) => !one.startsWith('SL9101'))
    // Both ways, in each family.
    expect(others.map((other) => other.slice(0, 6))).toEqual(Array<string>(2 * families.length).fill('SL9103'))
    expect(others[0]).toContain('rhoso1/ctlplane')
  })

  it('reports nodes that answer for their addresses in the other cloud, and nodes that forward to it', async () => {
    const restore = rig.sysctl('net.ipv4.conf.all.arp_ignore', '0')
    blockForwarding('del')
    const found = errors(await probe())
    blockForwarding('add')
    restore()

    expect(new Set(found.map((error) => error.slice(0, 6)))).toEqual(new Set(['SL9125', 'SL9126']))
    for (const [from, to] of [
      ['rhoso1', 'rhoso2'],
      ['rhoso2', 'rhoso1'],
    ])
      for (const code of ['SL9125', 'SL9126'])
        expect(found).toContainEqual(
          expect.stringMatching(`^${code} a pod of ${from}/internalapi .* ${to}/internalapi`),
        )
  })

  it('does not get an answer from a leader without its interface, which the doctor reports', async () => {
    // Which node answers for an address is MetalLB's choice, by their names: the same every time.
    const { items } = await cluster.client.list({ apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status' })
    const chosen = items
      .map((item) => item['status'] as Record<'node' | 'serviceName' | 'serviceNamespace', string>)
      .find(({ node }) => node === far)
    const vip = vips().find(
      ({ address, namespace }) => namespace === chosen?.serviceNamespace && vipName(address) === chosen.serviceName,
    )
    const network = vip?.pool.replace(`${vip.namespace}-`, '') ?? ''
    const face = plan.clouds
      .find(({ namespace }) => namespace === vip?.namespace)
      ?.networks.find(({ name }) => name === network)?.interface
    rig.removeInterface(`${vip?.namespace}/${network}`, far)

    const asker = `${vip?.namespace}/asker`
    await rig.attach(asker, near, vip?.namespace ?? '', network)
    const answer = () => rig.run(asker, ['sh', program, 'net1', `arp,${vip?.address}`])
    await expect.poll(answer, { timeout: 60_000 }).toBe(`arp,${vip?.address} silent\n`)
    await rig.detach(asker)

    for (const { object } of renderDocuments(plan))
      if (object.kind === 'NodeNetworkConfigurationPolicy')
        await cluster.client.apply(without(object, far, face ?? ''), { fieldManager: 'stackloom' })
    const { snapshot } = await gatherFromCluster(cluster.client, rules, {
      namespaces: [],
      ask: () => Promise.reject(new Error('no command runs here')),
      stop: new AbortController().signal,
    })
    const { diagnoses } = diagnose({ snapshot, now: Date.now() }, rules)
    const told = diagnoses.filter(({ rule }) => rule === 'metallb/leader-without-interface')
    expect(told.map(({ where, message }) => ({ where, message }))).toMatchObject([
      {
        where: { kind: 'L2Advertisement', name: vip?.pool },
        message: expect.stringMatching(
          new RegExp(
            `^Service ${vip?.namespace}/vip-.* is announced by ${far}, which does not have ${face}: no node answers$`,
          ),
        ),
      },
    ])
  })
})

function vipName(address: string): string {
  return `vip-${address.replaceAll('.', '-')}`
}

/** A node's policy without one interface; the policy of another node as it is. */
function without(policy: KubeObject, node: string, face: string): KubeObject {
  const { spec } = policy as unknown as {
    spec: {
      nodeSelector: Record<string, string>
      desiredState: { interfaces: readonly { readonly name: string }[] }
    }
  }
  if (spec.nodeSelector['kubernetes.io/hostname'] !== node) return policy
  const interfaces = spec.desiredState.interfaces.filter(({ name }) => name !== face)
  return { ...policy, spec: { ...spec, desiredState: { ...spec.desiredState, interfaces } } }
}
