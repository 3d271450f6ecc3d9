/**
 * Renders the network probe: a pod on every network of a cloud and on every node, and the program that it runs.
 *
 * Names and labels show that the pods are no workload; they end by themselves if they are not removed.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { addOwnershipLabels } from './labels.ts'
import { NETWORKS_ANNOTATION } from './multus.ts'

export const PROBE_LABEL = 'stackloom.dev/probe'
const PROBE_NODE_LABEL = 'stackloom.dev/node'
const NAME = 'stackloom-probe'
/** The interface that Multus creates. */
const PROBE_INTERFACE = 'net1'
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
  const pods = cloud.networks
    .filter(isProbed)
    .flatMap((network) =>
      plan.from.cluster.nodes.map(({ name }) => addLabels(pod(cloud, network, name, settings.image), network.name)),
    )
  return [addLabels(account), addLabels(program), ...pods]
}

/** Networks on which pods get addresses; datacentre uses ctlplane's bridge and has none. */
export function isProbed(network: PlannedNetwork): boolean {
  return network.attach !== 'none' && network.subnets.some(({ spans }) => spans.some(({ role }) => role === 'pods'))
}

function pod({ namespace }: PlannedCloud, network: PlannedNetwork, node: string, image: string): KubeObject {
  const attachment = [{ name: network.name, namespace, interface: PROBE_INTERFACE }]
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
          // ARP needs raw packets, and the probe needs no other capability.
          securityContext: {
            runAsUser: 0,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'], add: ['NET_RAW'] },
          },
          volumeMounts: [{ name: 'program', mountPath: '/probe', readOnly: true }],
        },
      ],
      volumes: [{ name: 'program', configMap: { name: NAME } }],
    },
  }
}
