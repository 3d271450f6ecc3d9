/**
 * Builds the Deployment and the configuration of a DNSMasq.
 *
 * Pure. The pod template depends on options, image and placement but on no host, so that no record change rolls it.
 */
import type { DnsMasq, DnsOption } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { controllerReference } from '../../api/ownership.ts'
import { readData } from '../../data/data.ts'
import { shortHash } from '../kit/writes.ts'
import { deployments, NAME_LABEL, ownerLabels } from './dns-kinds.ts'
import { SHARDS } from './shards.ts'

export const DEFAULT_IMAGE = 'quay.io/podified-antelope-centos9/openstack-neutron-server:current-podified'
export const DNS_PORT = 5353

/** Starts dnsmasq in the pod and brings it every change of its hosts. */
export const SCRIPT_NAME = 'serve.sh'
export const serveScript = readData('dns/serve.sh')

const CONFIG_FOLDER = '/etc/dnsmasq.d'
const SCRIPT_FOLDER = '/usr/local/share/stackloom'
const SOURCE_FOLDER = '/var/lib/stackloom/hosts'
const RUN_FOLDER = '/run/dnsmasq'

/**
 * Upstream's arguments with two differences: hosts are read from the folder that the reloader writes, and dnsmasq
 * listens only on the pod's address, not on other networks that the pod is attached to.
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

/** Selects the pods of this DNSMasq only; upstream's labels are those of every DNSMasq. */
export const podLabels = ({ metadata }: KubeObject): Readonly<Record<string, string>> => ({
  service: 'dnsmasq',
  [NAME_LABEL]: metadata.name,
})

export interface PodPlacement {
  /** From a Topology: replaces the preference for distinct nodes. */
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

/** The init container tests the configuration, so that a pod that cannot start never replaces a running one. */
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
      // A subPath mount is never refreshed, so another configuration needs another pod.
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
  const parts = [
    hostsIndexName(dnsMasq),
    ...Array.from({ length: SHARDS }, (_, number) => hostsShardName(dnsMasq, number)),
  ]
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

/** dnsmasq's configuration: a line per option, as upstream writes them. */
export function renderConfig({ metadata, spec }: DnsMasq): string {
  const options = addLocalOption(spec.options ?? [], metadata.namespace ?? '')
  return [...options.map(renderOption), ...authServerLines(options)].join('')
}

function renderOption({ key, values }: DnsOption): string {
  return values.length === 0 ? `${key}\n` : `${key}=${values.join(',')}\n`
}

/** Queries for the cluster's own names are never forwarded: other servers would answer late or wrongly. */
function addLocalOption(options: readonly DnsOption[], namespace: string): readonly DnsOption[] {
  if (options.some(({ key }) => key === 'local')) return options
  return [...options, { key: 'local', values: [`/${namespace}.svc/`] }]
}

/** With an auth-zone dnsmasq does not start without the name of its server, for which the API has no option. */
function authServerLines(options: readonly DnsOption[]): readonly string[] {
  const zone = options.find(({ key }) => key === 'auth-zone')?.values[0]?.split(',')[0]
  return zone === undefined ? [] : [`auth-server=${zone}\n`]
}
