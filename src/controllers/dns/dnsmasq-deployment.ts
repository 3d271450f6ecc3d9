/**
 * The Deployment of one DNSMasq: its pod's template depends on the options, the image and the placement, and on no
 * host, so that no change of a record rolls it.
 *
 * Pure.
 */
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { renderConfig } from './config.ts'
import { controllerReference, deployments, NAME_LABEL, ownerLabels } from './dns-kinds.ts'
import { SCRIPT_NAME, serveScript } from './serve-script.ts'
import { SHARDS, shortHash } from './shards.ts'

export const DEFAULT_IMAGE = 'quay.io/podified-antelope-centos9/openstack-neutron-server:current-podified'
export const DNS_PORT = 5353

const CONFIG_FOLDER = '/etc/dnsmasq.d'
const SCRIPT_FOLDER = '/usr/local/share/stackloom'
const SOURCE_FOLDER = '/var/lib/stackloom/hosts'
const RUN_FOLDER = '/run/dnsmasq'

/**
 * Upstream's arguments, but for two: hosts are read from the folder that the reloader keeps, and it listens on the
 * pod's address alone, not on whatever other networks the pod is attached to.
 */
const DNSMASQ_ARGUMENTS: readonly string[] = [
  `--conf-dir=${CONFIG_FOLDER}`,
  `--hostsdir=${RUN_FOLDER}/hosts`,
  '--keep-in-foreground',
  '--pid-file=',
  '--log-debug',
  '--bind-interfaces',
  '--listen-address=$(POD_IP)',
  `--port=${DNS_PORT}`,
  '--log-facility=-',
  '--no-hosts',
  '--domain-needed',
  '--no-resolv',
  '--bogus-priv',
  '--log-queries',
]

export const childName = (dnsMasq: KubeObject): string => `dnsmasq-${dnsMasq.metadata.name}`
export const scriptsName = (dnsMasq: KubeObject): string => `${childName(dnsMasq)}-scripts`
export const hostsIndexName = (dnsMasq: KubeObject): string => `${childName(dnsMasq)}-hosts`
export const hostsShardName = (dnsMasq: KubeObject, number: number): string =>
  `${hostsIndexName(dnsMasq)}-${String(number).padStart(2, '0')}`
export const configName = ({ metadata }: KubeObject): string => metadata.name.toLowerCase()

/** Every DNSMasq selects its own pods; upstream's select each other's. */
export const podLabels = ({ metadata }: KubeObject): Readonly<Record<string, string>> => ({
  service: 'dnsmasq',
  [NAME_LABEL]: metadata.name,
})

export interface PodPlacement {
  /** From a Topology: replaces the preference for different nodes. */
  readonly topologySpreadConstraints?: unknown
  readonly affinity?: unknown
}

export function buildDeployment(dnsMasq: DnsMasq, placement?: PodPlacement): KubeObject {
  const { spec, metadata } = dnsMasq
  const { namespace = '' } = metadata
  const labels = podLabels(dnsMasq)
  const { nodeSelector = {} } = spec
  return {
    ...deployments,
    metadata: {
      name: childName(dnsMasq),
      namespace,
      labels: { ...ownerLabels(dnsMasq), service: 'dnsmasq' },
      ownerReferences: [controllerReference(dnsMasq)],
    },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: childName(dnsMasq),
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 10,
          ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
          ...(placement ?? { affinity: spreadAcrossNodes(labels) }),
          initContainers: [buildContainer(dnsMasq, 'init')],
          containers: [{ ...buildContainer(dnsMasq, 'dnsmasq-dns'), ...probes }],
          volumes: buildVolumes(dnsMasq),
        },
      },
    },
  }
}

/** The init container tries the configuration: a pod that cannot start never replaces one that runs. */
function buildContainer(dnsMasq: DnsMasq, name: 'init' | 'dnsmasq-dns'): Readonly<Record<string, unknown>> {
  const command = name === 'init' ? ['dnsmasq'] : ['/bin/sh', `${SCRIPT_FOLDER}/${SCRIPT_NAME}`]
  return {
    name,
    image: dnsMasq.spec.containerImage || DEFAULT_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command,
    args: name === 'init' ? [...DNSMASQ_ARGUMENTS, '--test'] : DNSMASQ_ARGUMENTS,
    env: [
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
      // What is mounted by subPath is never refreshed: another configuration is another pod.
      { name: 'CONFIG_HASH', value: shortHash(renderConfig(dnsMasq) + serveScript) },
      { name: 'HOSTS_SOURCE', value: SOURCE_FOLDER },
      { name: 'HOSTS_RUN', value: RUN_FOLDER },
      { name: 'HOSTS_RELOAD' },
      { name: 'HOSTS_LOOK', value: '5' },
    ],
    volumeMounts: [
      {
        name: 'config',
        mountPath: `${CONFIG_FOLDER}/config.cfg`,
        subPath: dnsMasq.metadata.name,
        readOnly: true,
      },
      { name: 'scripts', mountPath: SCRIPT_FOLDER, readOnly: true },
      { name: 'hosts', mountPath: SOURCE_FOLDER, readOnly: true },
      { name: 'run', mountPath: RUN_FOLDER },
    ],
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(name === 'dnsmasq-dns' && {
      ports: [
        { name: 'dnsmasq', containerPort: DNS_PORT, protocol: 'UDP' },
        { name: 'dnsmasq-tcp', containerPort: DNS_PORT, protocol: 'TCP' },
      ],
    }),
  }
}

const tcpSocket = { port: DNS_PORT }
const probes = {
  livenessProbe: { tcpSocket, initialDelaySeconds: 3, periodSeconds: 3, timeoutSeconds: 5 },
  readinessProbe: { tcpSocket, initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 5 },
}

function buildVolumes(dnsMasq: DnsMasq): readonly unknown[] {
  const parts = [hostsIndexName(dnsMasq), ...Array.from({ length: SHARDS }, (_, at) => hostsShardName(dnsMasq, at))]
  return [
    { name: 'config', configMap: { name: configName(dnsMasq) } },
    { name: 'scripts', configMap: { name: scriptsName(dnsMasq) } },
    { name: 'hosts', projected: { sources: parts.map((name) => ({ configMap: { name, optional: true } })) } },
    { name: 'run', emptyDir: {} },
  ]
}

function spreadAcrossNodes(matchLabels: Readonly<Record<string, string>>): unknown {
  const podAffinityTerm = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } }
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
    },
  }
}
