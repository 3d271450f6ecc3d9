/** Compares the actors `kubelet` and `services` with what real nodes report of the same pods. */
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { NETWORK_STATUS, NETWORKS } from '../../../src/api/pod-networks.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { renderPod } from '../../../src/sandbox/actors/openstack/service-operators.ts'
import { type Cluster, startCluster } from '../../cluster.ts'
import { pausePod, usePodSandbox } from '../../pod-sandbox.ts'
import { prepareCluster, type RunningActors, startActors } from '../deploy/deployment-fixture.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const soon = { timeout: 240_000, interval: 250 }
const NODE = 'worker-0.example.com'
const real = usePodSandbox({ crds: 'today', nodes: [NODE], soakOnly: true })
let light: { readonly cluster: Cluster; readonly stop: () => Promise<void> } | undefined
let actors: RunningActors | undefined

beforeEach(async () => {
  if (light) return
  // Two files that each wait for a second place would wait forever, so it takes none.
  light = await startCluster({ crds: 'today', controllerManager: true }, async () => ({ release: async () => {} }))
  await prepareCluster(light.cluster.client, [NODE])
  actors = startActors(light.cluster.connection, ['kubelet'])
})
afterAll(async () => {
  await actors?.stop()
  await light?.stop()
})

const podKind = { apiVersion: 'v1', kind: 'Pod' }
const poolKind = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' }

/** A network without a NIC: a bridge of the node. */
function attachment(name: string, third: number): KubeObject {
  const ipam = { type: 'whereabouts', range: `172.20.${third}.0/24`, range_start: `172.20.${third}.30` }
  const config = { cniVersion: '0.3.1', name, type: 'bridge', bridge: `br-${name}`, ipam }
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: 'default' },
    spec: { config: JSON.stringify(config) },
  }
}

function annotated(pod: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject {
  return { ...pod, metadata: { ...pod.metadata, annotations } }
}

function withImage(pod: KubeObject, image: string): KubeObject {
  const containers = [{ name: 'main', image, imagePullPolicy: 'Never' }]
  return { ...pod, spec: { ...(pod['spec'] as object), containers } }
}

interface PodStatus {
  readonly phase?: string
  readonly podIP?: string
  readonly conditions?: readonly Condition[]
  readonly containerStatuses?: readonly {
    readonly ready: boolean
    readonly state?: { readonly waiting?: { readonly reason?: string }; readonly running?: object }
  }[]
}

interface AttachedNetwork {
  readonly name: string
  readonly interface: string
  readonly ips: readonly string[]
  readonly default?: boolean
}

/** What readiness rules, `verify` and `doctor` read of a pod; the address on the pod network differs. */
function describePod({ metadata, status }: KubeObject & { readonly status?: PodStatus }): object {
  const { phase, podIP, conditions = [], containerStatuses = [] } = status ?? {}
  const networks = JSON.parse(metadata.annotations?.[NETWORK_STATUS] ?? '[]') as readonly AttachedNetwork[]
  const attached = networks.map(({ name, interface: link, ips, default: isDefault = false }) => {
    if (isDefault) return `${link} ${name} ${ips[0] === podIP ? 'the address of the pod' : ips.join()}`
    return `${link} ${name} ${ips.join()}`
  })
  const [container] = containerStatuses
  return {
    phase,
    hasAddress: podIP !== undefined,
    conditions: conditions.map(({ type, status, reason = '' }) => `${type} ${status} ${reason}`.trim()).toSorted(),
    container: container?.state?.waiting?.reason ?? (container?.state?.running ? 'running' : 'none'),
    // Multus lists the network of all pods also where no other is requested; the actor writes nothing then.
    attached: attached.length > 1 ? attached : [],
  }
}

async function describeAll(client: KubeClient, names: readonly string[]): Promise<object> {
  const found = await Promise.all(
    names.map(async (name) => {
      const pod = await client.get({ ...podKind, namespace: 'default', name })
      return [name, pod ? describePod(pod) : 'gone'] as const
    }),
  )
  return Object.fromEntries(found)
}

/** The pods and interfaces that hold addresses. */
async function holders(client: KubeClient): Promise<readonly string[]> {
  const { items } = await client.list(poolKind)
  return items
    .flatMap((pool) => {
      const { allocations = {} } = pool['spec'] as {
        readonly allocations?: Readonly<Record<string, { readonly podref: string; readonly ifname?: string }>>
      }
      return Object.entries(allocations).map(
        ([offset, { podref, ifname = '' }]) => `${pool.metadata.name} ${offset} ${podref} ${ifname}`,
      )
    })
    .toSorted()
}

const ready = [
  'ContainersReady True',
  'Initialized True',
  'PodReadyToStartContainers True',
  'PodScheduled True',
  'Ready True',
]
const running = { phase: 'Running', hasAddress: true, conditions: ready, container: 'running', attached: [] }
const unready = (sandboxed: 'True' | 'False'): readonly string[] => [
  'ContainersReady False ContainersNotReady',
  'Initialized True',
  `PodReadyToStartContainers ${sandboxed}`,
  'PodScheduled True',
  'Ready False ContainersNotReady',
]

async function expectSame(objects: readonly KubeObject[], expected: object, held: readonly string[]): Promise<void> {
  const names = Object.keys(expected)
  for (const client of [real.client, light?.cluster.client].filter((known) => known !== undefined)) {
    for (const object of objects) await client.create(object)
    await expect.poll(() => describeAll(client, names), soon).toEqual(expected)
    expect(await holders(client)).toEqual(held)
    for (const name of names) await client.delete({ ...podKind, namespace: 'default', name })
    await expect
      .poll(() => describeAll(client, names), soon)
      .toEqual(Object.fromEntries(names.map((name) => [name, 'gone'])))
    await expect.poll(() => holders(client), soon).toEqual([])
  }
}

describe('what is reported of pods', () => {
  it('by the actor `kubelet` is what a kubelet with Multus and whereabouts reports', async () => {
    const pod = (name: string): KubeObject => pausePod(name, NODE)
    const objects = [
      attachment('net', 1),
      pod('plain'),
      annotated(pod('attached'), { [NETWORKS]: 'net' }),
      annotated(pod('lost'), { [NETWORKS]: 'nothing' }),
      annotated(withImage(pod('imageless'), 'localhost/none:1'), {
        'sandbox.stackloom.dev/never-ready': 'ErrImageNeverPull',
      }),
    ]
    const expected = {
      plain: running,
      attached: { ...running, attached: ['eth0 pod-network the address of the pod', 'net1 default/net 172.20.1.30'] },
      lost: {
        phase: 'Pending',
        hasAddress: false,
        conditions: unready('False'),
        container: 'ContainerCreating',
        attached: [],
      },
      imageless: { ...running, phase: 'Pending', conditions: unready('True'), container: 'ErrImageNeverPull' },
    }
    await expectSame(objects, expected, ['172.20.1.0-24 30 default/attached net1'])
  })

  it('of the actor `services` is the same on real nodes, with the networks by their names', async () => {
    const workload = { path: ['glance', 'template', 'glanceAPIs', 'default'], networks: ['storage', 'internalapi'] }
    const service = renderPod(workload, 'default')
    const objects = [attachment('storage', 2), attachment('internalapi', 3), service]
    const attached = [
      'eth0 pod-network the address of the pod',
      'storage default/storage 172.20.2.30',
      'internalapi default/internalapi 172.20.3.30',
    ]
    const { name } = service.metadata
    await expectSame(objects, { [name]: { ...running, attached } }, [
      `172.20.2.0-24 30 default/${name} storage`,
      `172.20.3.0-24 30 default/${name} internalapi`,
    ])
  })
})
