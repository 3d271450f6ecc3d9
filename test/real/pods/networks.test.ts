/**
 * Tests a sandbox with two nodes: pods, volumes, and the networks of two rendered clouds with packets: policies create the
 * interfaces of the nodes, pods attach to them by Multus, macvlan and whereabouts, and MetalLB's speakers announce an address
 * that kube-proxy serves, on the pod network to every cloud. `verify --probe` judges the same networks. At the end programs are
 * killed.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse as parseYaml } from 'yaml'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { NETWORK_STATUS } from '../../../src/api/pod-networks.ts'
import { runProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { CLOUD_LABEL } from '../../../src/render/labels.ts'
import { NETWORKS_ANNOTATION } from '../../../src/render/multus.ts'
import { type DocumentStage, renderDocuments } from '../../../src/render/render.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { PROBE_REFERENCE } from '../../../src/sandbox/images/image-table.ts'
import { loadImages } from '../../../src/sandbox/images/load-image.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'
import { requireSoak } from '../../counts.ts'
import { planTextForRelease } from '../../examples.ts'
import { type PodStatus, pausePod, usePodSandbox, waitFor, waitForPod } from '../../pod-sandbox.ts'
import { TODAY } from '../../sandbox-context.ts'
import { defineCrashes } from './crash-cases.ts'
import { applyPolicyCrds, startPolicyEnforcers } from './policy-enforcers.ts'
import { defineProbe } from './probe-cases.ts'

const sandbox = usePodSandbox(
  { crds: 'today', nodes: ['worker-0', 'worker-1'], actors: ['nmstate'] },
  async ({ layout, context, client, run }) => {
    await loadImages(['probe'], layout.nodes, context)
    // What the Tuned object asks for.
    for (const { name } of layout.nodes) await run(name, ['sh', '-c', 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore'])
    for (const stage of ['nncp', 'namespace', 'netattach', 'metallb-config'] as const) await apply(client, stage)
  },
)
// Multus 4.2 ignores `default-route` (its netlink calls 0.0.0.0/0 what Multus expects to be nil), so that pods cannot test
// whether nodes forward to another cloud.
const plan = planTextForRelease(
  readFileSync('examples/two-clouds.yaml', 'utf8')
    .replace(/^.*worker-2.*\n/m, '')
    .replace(/^  cluster:\n/m, '  cluster:\n    isolation: {forwarding: allow}\n'),
  'two-clouds.yaml',
  TODAY,
)
const documents = renderDocuments(plan)
const POOL = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' }
const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }

async function apply(client: KubeClient, stage: DocumentStage): Promise<void> {
  for (const { object } of documents.filter((document) => document.stage === stage)) {
    // Node tuning is of an operator that does not run here.
    if (object.kind !== 'Tuned') await client.apply(object, { fieldManager: 'test' })
  }
}

function conditionOf(object: KubeObject, wanted: string): string | undefined {
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions.find(({ type }) => type === wanted)?.status
}

function probePod(
  name: string,
  namespace: string,
  node: string,
  command: readonly string[],
  networks = '',
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { app: name },
      ...(networks !== '' && { annotations: { [NETWORKS_ANNOTATION]: networks } }),
    },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: PROBE_REFERENCE, imagePullPolicy: 'Never', command }],
    },
  }
}

/** Runs a command in a new pod to its end; returns whether it succeeded. */
async function succeedsInPod(pod: KubeObject): Promise<boolean> {
  const { name, namespace = '' } = pod.metadata
  await sandbox.client.create(pod)
  const phase = await waitFor(`end of pod ${name}`, async () => {
    const live = await sandbox.client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name })
    const status = (live?.['status'] ?? {}) as PodStatus
    return status.phase === 'Succeeded' || status.phase === 'Failed' ? status.phase : undefined
  })
  return phase === 'Succeeded'
}

const serve = ['busybox', 'httpd', '-f', '-p', '8080', '-h', '/etc']

describe('the nodes of a sandbox with pods', { timeout: 300_000 }, () => {
  it('run a pod each, with an address that the other node reaches', async () => {
    const addresses: string[] = []
    for (const node of ['worker-0', 'worker-1']) {
      await sandbox.client.create(pausePod(`pause-${node}`, node))
      const pod = await waitForPod(sandbox.client, 'default', `pause-${node}`)
      addresses.push((pod['status'] as PodStatus).podIP ?? '')
    }
    const [first = '', second = ''] = addresses
    expect([first.split('.')[2], second.split('.')[2]]).toEqual(['1', '2'])
    await sandbox.run('worker-0', ['ping', '-c', '1', '-W', '10', second])
    await sandbox.run('worker-1', ['ping', '-c', '1', '-W', '10', first])
    await sandbox.run('control', ['ping', '-c', '1', '-W', '10', first])
  })

  it('bind a claim to a volume of the node that runs its pod', async () => {
    await sandbox.client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    })
    const pod = pausePod('stateful', 'worker-1')
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await sandbox.client.create({ ...pod, spec: { ...(pod['spec'] as object), volumes } })
    await waitForPod(sandbox.client, 'default', 'stateful')
    const claim = await sandbox.client.get({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: 'default',
      name: 'data',
    })
    expect(claim?.['spec']).toMatchObject({ volumeName: expect.stringMatching(/^worker-1-volume-/) as unknown })
  })
})

describe('Pod Security in a sandbox with pods', { timeout: 300_000 }, () => {
  const privileged = (namespace: string): KubeObject => {
    const pod = pausePod('privileged', 'worker-0')
    const spec = { ...(pod['spec'] as object), hostNetwork: true }
    return { ...pod, metadata: { ...pod.metadata, namespace }, spec }
  }

  it('lets the speakers run in the network of their node', async () => {
    const namespace = await sandbox.client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'metallb-system' })
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'privileged' })
    await waitFor('speakers', async () => {
      const speaker = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'metallb-system', name: 'speaker' }
      const status = (await sandbox.client.get(speaker))?.['status'] as { readonly numberReady?: number } | undefined
      return status?.numberReady === 2 ? true : undefined
    })
  })

  it('refuses such a pod where the restricted profile is enforced', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await sandbox.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels } })
    // The service account of a new namespace is there a moment later.
    const refusal = async (): Promise<string> => sandbox.client.create(privileged('strict')).then(() => '', String)
    await expect.poll(refusal, { timeout: 60_000 }).toContain('violates PodSecurity "restricted:latest"')
  })
})

describe('the networks of two clouds', { timeout: 300_000 }, () => {
  it('exist on the nodes after their policies are applied', async () => {
    const names = ['openstack-worker-0', 'openstack-worker-1', 'openstack2-worker-0', 'openstack2-worker-1']
    for (const name of names) {
      await waitFor(`available policy ${name}`, async () => {
        const policy = await sandbox.client.get({ ...POLICY, name })
        return policy && conditionOf(policy, 'Available') === 'True' ? policy : undefined
      })
    }
    expect(await sandbox.run('worker-0', ['ip', '-br', 'address', 'show', 'enp6s0.20'])).toContain('172.17.0.10/24')
    await sandbox.run('worker-0', ['ping', '-c', '1', '-W', '10', '172.17.0.11'])
  })

  it('fail on a node that has no such NIC', async () => {
    const desiredState = { interfaces: [{ name: 'eno9.5', type: 'vlan', vlan: { 'base-iface': 'eno9', id: 5 } }] }
    const nodeSelector = { 'kubernetes.io/hostname': 'worker-0' }
    await sandbox.client.create({ ...POLICY, metadata: { name: 'wrong' }, spec: { nodeSelector, desiredState } })
    const degraded = await waitFor('degraded policy', async () => {
      const policy = await sandbox.client.get({ ...POLICY, name: 'wrong' })
      return policy && conditionOf(policy, 'Degraded') === 'True' ? policy : undefined
    })
    expect(conditionOf(degraded, 'Available')).toBe('False')
    await sandbox.client.delete({ ...POLICY, name: 'wrong' })
  })

  it('connect pods of one cloud on both nodes, and no pod of another cloud', async () => {
    await sandbox.client.create(probePod('server', 'openstack', 'worker-0', serve, 'internalapi,ctlplane'))
    const server = await waitForPod(sandbox.client, 'openstack', 'server')
    const networks = JSON.parse(server.metadata.annotations?.[NETWORK_STATUS] ?? '[]') as {
      readonly name: string
      readonly ips: readonly string[]
    }[]
    expect(networks.map(({ name }) => name)).toEqual(['pod-network', 'openstack/internalapi', 'openstack/ctlplane'])
    const [, internalapi, ctlplane] = networks.map(({ ips }) => ips[0] ?? '')
    expect([internalapi, ctlplane]).toEqual(['172.17.0.30', '192.168.122.30'])
    // On the segment itself: the pod network is connected to every node, and its packets are routed there.
    const arping = (link: string, address = ''): readonly string[] => [
      'arping',
      '-c',
      '2',
      '-w',
      '10',
      '-I',
      link,
      address,
    ]
    const reaches = (name: string, namespace: string, command: readonly string[]): Promise<boolean> =>
      succeedsInPod(probePod(name, namespace, 'worker-1', command, 'internalapi,ctlplane'))
    const reached = await Promise.all([
      reaches('same-internalapi', 'openstack', arping('net1', internalapi)),
      reaches('same-ctlplane', 'openstack', arping('net2', ctlplane)),
      reaches('other-internalapi', 'openstack2', arping('net1', internalapi)),
      reaches('other-ctlplane', 'openstack2', arping('net2', ctlplane)),
    ])
    expect(reached).toEqual([true, true, false, false])
  })

  it('give a pod the address that it names, by the static plugin', async () => {
    const config = {
      cniVersion: '0.3.1',
      name: 'fixed',
      type: 'macvlan',
      master: 'enp6s0.20',
      capabilities: { ips: true },
      ipam: { type: 'static' },
    }
    await sandbox.client.create({
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'fixed', namespace: 'openstack' },
      spec: { config: JSON.stringify(config) },
    })
    const networks = JSON.stringify([{ name: 'fixed', ips: ['172.17.0.210/24'] }])
    await sandbox.client.create(probePod('fixed', 'openstack', 'worker-0', serve, networks))
    const pod = await waitForPod(sandbox.client, 'openstack', 'fixed')
    expect(pod.metadata.annotations?.[NETWORK_STATUS]).toContain('172.17.0.210')
    await sandbox.run('worker-1', ['ping', '-c', '1', '-W', '10', '172.17.0.210'])
  })

  it('have an address that a speaker announces and kube-proxy serves, on its segment only', async () => {
    await sandbox.client.create(probePod('web', 'openstack', 'worker-1', serve))
    await waitForPod(sandbox.client, 'openstack', 'web')
    const address = '172.17.0.80'
    await sandbox.client.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'web',
        namespace: 'openstack',
        annotations: { 'metallb.io/address-pool': 'openstack-internalapi', 'metallb.io/loadBalancerIPs': address },
      },
      spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    })
    await addClient('client', 'seg0v20', '172.17.0.200/24')
    await addClient('stranger', 'seg0v21', '172.17.0.201/24')
    const answer = await waitFor('answer of the service', () => ask('client', `http://${address}/passwd`))
    expect(answer).toContain('root:x:0:0')
    expect(await ask('stranger', `http://${address}/passwd`)).toBeUndefined()
  })

  it('have no Service of another cloud: the rendered admission policy refuses it', async () => {
    const thief = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'thief',
        namespace: 'openstack2',
        annotations: { 'metallb.io/address-pool': 'openstack-internalapi' },
      },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    }
    await expect(sandbox.client.create(thief)).rejects.toThrow(/stackloom-vips-openstack2?\b/)
  })

  it('are not kept apart by NetworkPolicies, which the pod network does not enforce', async () => {
    await sandbox.client.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'deny', namespace: 'openstack' },
      spec: { podSelector: {}, policyTypes: ['Ingress'] },
    })
    const web = await waitForPod(sandbox.client, 'openstack', 'web')
    const { podIP = '' } = web['status'] as PodStatus
    const ask = ['timeout', '30', 'busybox', 'wget', '-q', '-O', '/dev/null', `http://${podIP}:8080/passwd`]
    expect(await succeedsInPod(probePod('passer', 'openstack2', 'worker-0', ask))).toBe(true)
    await sandbox.client.delete({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      namespace: 'openstack',
      name: 'deny',
    })
  })

  it('get an address back whose pod is gone without a trace, and no other', async (context) => {
    requireSoak(context)
    const pool = await waitFor('pool of internalapi', async () => {
      const { items } = await sandbox.client.list(POOL)
      return items.find((item) => item.metadata.name.includes('172.17.0.0'))
    })
    const { name, namespace = '' } = pool.metadata
    const ref = { ...POOL, namespace, name }
    const leaked = { id: 'gone', podref: 'openstack/gone', ifname: 'net1' }
    // As a node leaves it that lost its power: the plugin is never called to free it.
    await sandbox.client.patch(ref, { spec: { allocations: { '99': leaked } } }, { type: 'merge' })
    const holders = async (): Promise<readonly string[]> => {
      const { allocations = {} } = ((await sandbox.client.get(ref))?.['spec'] ?? {}) as {
        readonly allocations?: Readonly<Record<string, { readonly podref: string }>>
      }
      return Object.values(allocations).map(({ podref }) => podref)
    }
    expect(await holders()).toContain('openstack/gone')
    await waitFor('reconciled pool', async () => ((await holders()).includes('openstack/gone') ? undefined : true))
    expect(await holders()).toContain('openstack/server')
  })

  it('have names that pods resolve', async () => {
    const resolve = ['busybox', 'nslookup', 'web.openstack.svc.cluster.local']
    expect(await succeedsInPod(probePod('resolver', 'openstack', 'worker-0', resolve))).toBe(true)
  })
})

defineProbe(sandbox, plan, { timeout: 240_000, interval: 200 })

describe('the pod network between two clouds', { timeout: 900_000 }, () => {
  const VIP = '172.17.0.80'
  const ADMIN_POLICY = { apiVersion: 'policy.networking.k8s.io/v1alpha1', kind: 'AdminNetworkPolicy' }
  /** Pods that stay: what enforces a policy learns the address of a pod only after it has started. */
  const askers = new Set<string>()
  const reaches = async (namespace: string, node: string, address: string): Promise<boolean> => {
    const name = `asker-${node}`
    if (!askers.has(`${namespace}/${name}`)) {
      await sandbox.client.create(probePod(name, namespace, node, ['sleep', '3600']))
      await waitForPod(sandbox.client, namespace, name)
      askers.add(`${namespace}/${name}`)
    }
    const { kubectl } = await ensurePrograms(['kubectl'], sandbox.context)
    const ask = ['timeout', '10', 'busybox', 'wget', '-q', '-O', '/dev/null', `http://${address}/passwd`]
    const words = [kubectl, '--kubeconfig', sandbox.kubeconfig, 'exec', '-n', namespace, name, '--', ...ask]
    return succeeded((await runProcess(toProgram(words))).exit)
  }

  it('connects pods to the VIPs of every cloud', async () => {
    expect(await reaches('openstack2', 'worker-0', VIP)).toBe(true)
  })

  it('accepts the policy of the guide, whose selectors are labels of rendered namespaces', async (context) => {
    requireSoak(context)
    await applyPolicyCrds(sandbox)
    const policy = readGuidePolicy()
    expect(policy).toMatchObject(ADMIN_POLICY)
    await waitFor('accepted policy', () =>
      sandbox.client.apply(policy, { fieldManager: 'test' }).catch(() => undefined),
    )
    const namespaces = await sandbox.client.list({ apiVersion: 'v1', kind: 'Namespace' })
    const clouds = namespaces.items.flatMap(({ metadata }) => metadata.labels?.[CLOUD_LABEL] ?? [])
    expect(clouds.toSorted()).toEqual(['rhoso1', 'rhoso2'])
    const misspelt = { ...policy, metadata: { name: 'misspelt' }, spec: { ...(policy['spec'] as object), ingres: [] } }
    await expect(sandbox.client.apply(misspelt, { fieldManager: 'test' })).rejects.toThrow('ingres')
  })

  it('is closed by that policy to pods of other clouds, and to nothing else, where policies are enforced', async (context) => {
    requireSoak(context)
    const program = await findTestProgram('kube-network-policies')
    if (program === undefined) return context.skip('kube-network-policies is not built')
    const stop = await startPolicyEnforcers(sandbox, program)
    onTestFinished(stop)
    const web = await waitForPod(sandbox.client, 'openstack', 'web')
    const pod = `${(web['status'] as PodStatus).podIP}:8080`
    const policyTakesEffect = { timeout: 240_000, interval: 1000 }
    await expect.poll(() => reaches('openstack2', 'worker-0', VIP), policyTakesEffect).toBe(false)
    await expect.poll(() => reaches('openstack2', 'worker-1', VIP), policyTakesEffect).toBe(false)
    expect(await reaches('openstack2', 'worker-0', pod)).toBe(false)
    for (const node of ['worker-0', 'worker-1']) expect(await reaches('openstack', node, VIP)).toBe(true)
    expect(await reaches('default', 'worker-0', VIP)).toBe(true)
    expect(await ask('client', `http://${VIP}/passwd`)).toContain('root:x:0:0')
    await sandbox.client.delete({ ...ADMIN_POLICY, name: readGuidePolicy().metadata.name })
    await expect.poll(() => reaches('openstack2', 'worker-0', VIP), policyTakesEffect).toBe(true)
  })
})

defineCrashes(sandbox)

/** The only AdminNetworkPolicy of the guide. */
function readGuidePolicy(): KubeObject {
  const blocks = readFileSync('docs/guide/verify.md', 'utf8').split('```yaml\n').slice(1)
  const [policy] = blocks.filter((block) => block.includes('kind: AdminNetworkPolicy'))
  return parseYaml(policy?.split('```')[0] ?? '') as KubeObject
}

/** A machine outside of the cluster on one segment. */
async function addClient(name: string, bridge: string, address: string): Promise<void> {
  const namespace = `/run/netns/${name}`
  await sandbox.run('control', ['ip', 'netns', 'add', name])
  await sandbox.run('switch', ['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace])
  await sandbox.run('switch', ['ip', 'link', 'set', name, 'master', bridge, 'up'])
  for (const words of [
    ['address', 'add', address, 'dev', 'eth0'],
    ['link', 'set', 'eth0', 'up'],
  ])
    await sandbox.run('control', ['nsenter', `--net=${namespace}`, 'ip', ...words])
}

async function ask(client: string, url: string): Promise<string | undefined> {
  const command = ['nsenter', `--net=/run/netns/${client}`, 'curl', '--silent', '--max-time', '3', url]
  return sandbox.run('control', command).catch(() => undefined)
}
