/**
 * Shows packets in `make demo`, where the cluster has nodes with pods: a pod reaches the VIP of its own cloud on its network, and
 * the VIP of the other cloud does not exist there. Over the pod network of a cluster every pod reaches every Service.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../src/api/object.ts'
import { getString } from '../src/api/raw-object.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { NETWORKS_ANNOTATION } from '../src/render/multus.ts'
import { PROBE_REFERENCE } from '../src/sandbox/images/image-table.ts'
import { type ImageNode, loadImages } from '../src/sandbox/images/load-image.ts'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import { ingressAddresses } from '../src/verify/readiness/load-balancer.ts'

const POD = { apiVersion: 'v1', kind: 'Pod' }
const SERVICE = { apiVersion: 'v1', kind: 'Service' }
const ANNOUNCED = { apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status' }
const NAME = 'keystone-internal'
const CLOUDS = ['openstack', 'openstack2']

export interface Answer {
  readonly question: string
  readonly answered: boolean
}

/** Runs a server behind Keystone's internal VIP of each cloud, and asks for both from a pod of the first one. */
export async function askForVips(
  client: KubeClient,
  nodes: readonly ImageNode[],
  context: SandboxContext,
): Promise<readonly Answer[]> {
  await loadImages(['probe'], nodes, context)
  const [first, second] = await Promise.all(CLOUDS.map((namespace) => serveVip(client, namespace)))
  const announcer = await waitFor(async () => {
    const { items } = await client.list(ANNOUNCED)
    const found = items.find(
      (item) =>
        getString(item, 'status', 'serviceName') === NAME &&
        getString(item, 'status', 'serviceNamespace') === CLOUDS[0],
    )
    return found && getString(found, 'status', 'node')
  })
  // A macvlan interface does not reach its own node.
  const node = nodes.find(({ name }) => name !== announcer)?.name ?? ''
  const { address = '', port = 0 } = first ?? {}
  const page = `printf 'GET /passwd HTTP/1.0\\r\\n\\r\\n' | nc -w 5 ${address} ${port} | grep -q root`
  const tries = `for try in 1 2 3 4 5 6 7 8 9 10 11 12; do ${page} && exit 0; sleep 2; done; exit 1`
  const arping = (vip = ''): readonly string[] => ['arping', '-q', '-I', 'net1', '-c', '3', '-w', '6', vip]
  const questions: readonly (readonly [string, readonly string[]])[] = [
    [`HTTP from the VIP ${address} of its own cloud`, ['sh', '-c', tries]],
    [`ARP for ${address} on internalapi`, arping(address)],
    [`ARP for ${second?.address}, the VIP of the other cloud, on internalapi`, arping(second?.address)],
  ]
  return Promise.all(
    questions.map(async ([question, command], index) => {
      const pod = probePod(`demo-client-${index}`, CLOUDS[0] ?? '', command, { node, networks: 'internalapi' })
      return { question, answered: await succeeds(client, pod) }
    }),
  )
}

async function succeeds(client: KubeClient, pod: KubeObject): Promise<boolean> {
  await client.create(pod)
  const { name, namespace = '' } = pod.metadata
  const phase = await waitFor(async () => {
    const live = await client.get({ ...POD, namespace, name })
    const current = live && getString(live, 'status', 'phase')
    return current === 'Succeeded' || current === 'Failed' ? current : undefined
  })
  return phase === 'Succeeded'
}

interface Vip {
  readonly address: string | undefined
  readonly port: number
}

async function serveVip(client: KubeClient, namespace: string): Promise<Vip> {
  const service = await waitFor(async () => {
    const found = await client.get({ ...SERVICE, namespace, name: NAME })
    return found && ingressAddresses(found).length > 0 ? found : undefined
  })
  const { selector, ports } = service['spec'] as {
    readonly selector: Readonly<Record<string, string>>
    readonly ports: readonly { readonly port: number }[]
  }
  const port = ports[0]?.port ?? 0
  const command = ['busybox', 'httpd', '-f', '-p', String(port), '-h', '/etc']
  await client.create(probePod('demo-keystone', namespace, command, { labels: selector }))
  await waitFor(async () => {
    const pod = await client.get({ ...POD, namespace, name: 'demo-keystone' })
    return pod && getString(pod, 'status', 'phase') === 'Running' ? pod : undefined
  })
  return { address: ingressAddresses(service)[0], port }
}

interface ProbePodOptions {
  readonly node?: string
  readonly networks?: string
  readonly labels?: Readonly<Record<string, string>>
}

function probePod(
  name: string,
  namespace: string,
  command: readonly string[],
  { node, networks, labels = {} }: ProbePodOptions,
): KubeObject {
  const annotations = networks === undefined ? {} : { [NETWORKS_ANNOTATION]: networks }
  return {
    ...POD,
    metadata: { name, namespace, labels, annotations },
    spec: {
      ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: PROBE_REFERENCE, imagePullPolicy: 'Never', command }],
    },
  }
}

const LIMIT_MS = 120_000

async function waitFor<T>(read: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`nothing after ${LIMIT_MS / 1000} s`)
    await sleep(250)
  }
}
