/**
 * Renders the network probe: a pod on every network of a cloud and on every node, and the program that it runs.
 *
 * Names and labels show that the pods are no workload; they end by themselves if they are not removed.
 */
import type { KubeObject } from '../api/object.ts'
import { getList } from '../api/raw-object.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { addOwnershipLabels } from './labels.ts'
import { NETWORKS_ANNOTATION } from './multus.ts'

export const PROBE_LABEL = 'stackloom.dev/probe'
const PROBE_NODE_LABEL = 'stackloom.dev/node'
const NAME = 'stackloom-probe'
/** The interface that Multus creates. */
const PROBE_INTERFACE = 'net1'
const SECOND_INTERFACE = 'net2'
/** Multus makes it the only default route of the pod. */
const DEFAULT_ROUTE = 'default-route'
export const PROBE_COMMAND = ['sh', '/probe/probe.sh', PROBE_INTERFACE]
const LIFE_SECONDS = 900

export interface ProbeSettings {
  readonly image: string
  /** The source of the program. */
  readonly program: string
}

export function renderProbe(plan: Plan, cloud: PlannedCloud, settings: ProbeSettings): readonly KubeObject[] {
  const { namespace } = cloud
  const addLabels = (object: KubeObject, network?: string): KubeObject =>
    addOwnershipLabels(
      { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [PROBE_LABEL]: 'network' } } },
      { site: plan.site, cloud: cloud.name, ...(network !== undefined && { network }) },
    )
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: NAME, namespace },
    automountServiceAccountToken: false,
  }
  const program = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: NAME, namespace },
    data: { 'probe.sh': settings.program },
  }
  const pods = cloud.networks.flatMap((network) => {
    const isBridge = hasFilteredBridge(plan, network)
    if (!isProbed(network) && !isBridge) return []
    return plan.from.cluster.nodes.map(({ name: node }) => {
      const attachments = isBridge ? twice(network) : [routed(network, nodeGateways(plan, network, node))]
      return addLabels(pod(cloud, network, { node, attachments, isBridge, image: settings.image }), network.name)
    })
  })
  return [addLabels(account), addLabels(program), ...pods]
}

/** Networks on which pods get addresses; datacentre uses ctlplane's bridge and has none. */
function isProbed(network: PlannedNetwork): boolean {
  return network.attach !== 'none' && network.subnets.some(({ spans }) => spans.some(({ role }) => role === 'pods'))
}

/**
 * The addresses of the next node, one per family, as the default route of a pod: with it the pod tests whether nodes forward
 * to other clouds, and needs no right to change its routes. A macvlan does not reach its own node.
 */
function nodeGateways({ from }: Plan, network: PlannedNetwork, node: string): readonly string[] {
  const { nodes, isolation } = from.cluster
  const next = nodes[(nodes.findIndex(({ name }) => name === node) + 1) % nodes.length]?.name
  const isReachable = next !== node || network.attach === 'bridge'
  if (isolation.forwarding === 'allow' || !isReachable) return []
  const addresses = network.nodes.filter(({ name }) => name === next).map(({ address }) => address)
  return [addresses.find((text) => !text.includes(':')), addresses.find((text) => text.includes(':'))].filter(
    (address) => address !== undefined,
  )
}

/** A network of pods without addresses on a bridge over a whole NIC, which must drop tagged frames. */
function hasFilteredBridge({ from, segments }: Plan, network: PlannedNetwork): boolean {
  const segment = segments.find(({ bridge }) => bridge !== undefined && bridge === network.bridge)
  const isFiltered =
    from.cluster.isolation.taggedFrames === 'block' && segment !== undefined && segment.vlan === undefined
  return isFiltered && network.attach === 'bridge' && !isProbed(network)
}

type Attachment = Readonly<Record<string, unknown>>

function routed({ name }: PlannedNetwork, gateways: readonly string[]): Attachment {
  return { name, interface: PROBE_INTERFACE, ...(gateways.length > 0 && { [DEFAULT_ROUTE]: gateways }) }
}

/** Two interfaces of one pod on the bridge: what passes between them passes between pods. */
function twice({ name }: PlannedNetwork): readonly Attachment[] {
  return [PROBE_INTERFACE, SECOND_INTERFACE].map((iface) => ({ name, interface: iface }))
}

interface PodSettings {
  readonly node: string
  readonly attachments: readonly Attachment[]
  readonly isBridge: boolean
  readonly image: string
}

function pod({ namespace }: PlannedCloud, network: PlannedNetwork, settings: PodSettings): KubeObject {
  const { node, isBridge, image } = settings
  const attachment = settings.attachments.map(({ name, ...rest }) => ({ name, namespace, ...rest }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${NAME}-${network.name}-${node}`,
      namespace,
      labels: { 'app.kubernetes.io/name': NAME, [PROBE_NODE_LABEL]: node.slice(0, 63) },
      annotations: {
        [NETWORKS_ANNOTATION]: JSON.stringify(attachment),
        'stackloom.dev/purpose': 'a test of the network, no workload; it may be deleted at any time',
      },
    },
    spec: {
      serviceAccountName: NAME,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: [{ operator: 'Exists' }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: LIFE_SECONDS,
      terminationGracePeriodSeconds: 0,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'probe',
          image,
          command: ['sleep', String(LIFE_SECONDS)],
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
          // ARP needs raw packets, and VLAN interfaces of the pod need NET_ADMIN.
          securityContext: {
            runAsUser: 0,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'], add: isBridge ? ['NET_RAW', 'NET_ADMIN'] : ['NET_RAW'] },
          },
          volumeMounts: [{ name: 'program', mountPath: '/probe', readOnly: true }],
        },
      ],
      volumes: [{ name: 'program', configMap: { name: NAME } }],
    },
  }
}

/** The gateways that a rendered probe asks Multus for. */
export function probeGateways({ metadata }: KubeObject): readonly string[] {
  const [attachment] = JSON.parse(metadata.annotations?.[NETWORKS_ANNOTATION] ?? '[]') as readonly unknown[]
  return getList(attachment, DEFAULT_ROUTE).map(String)
}

/** Whether a rendered probe tests a bridge and has no address. */
export function isBridgeProbe({ metadata }: KubeObject): boolean {
  return (metadata.annotations?.[NETWORKS_ANNOTATION] ?? '').includes(`"${SECOND_INTERFACE}"`)
}
