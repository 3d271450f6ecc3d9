/** SL402x: what a cluster must bring before clouds can be deployed on it. */
import { problem } from '../../errors/finding.ts'

export const multusMissing = problem<object>({
  code: 'SL4020',
  severity: 'error',
  title: 'The cluster has no Multus',
  message: () => 'the cluster does not serve NetworkAttachmentDefinition: Multus is not installed',
  remedy: () => 'install Multus (OpenShift has it built in), then run the same command',
  description: `The pods of OpenStack services have several network interfaces, which Multus attaches by
NetworkAttachmentDefinitions. Without it they cannot start.`,
  example: {},
})

export const whereaboutsMissing = problem<object>({
  code: 'SL4021',
  severity: 'error',
  title: 'The cluster has no whereabouts',
  message: () => 'the cluster does not serve the IPPool of whereabouts: nobody would give pods their addresses',
  remedy: () => 'install whereabouts (OpenShift brings it with Multus), then run the same command',
  description: `Addresses of pods on a cloud's networks come from whereabouts, which keeps its books in IPPool objects.`,
  example: {},
})

export const storageClassMissing = problem<{ name: string; known: readonly string[] }>({
  code: 'SL4022',
  severity: 'error',
  title: 'The storage class of the site does not exist',
  message: ({ name, known }) => `there is no storage class ${name}; the cluster has ${known.join(', ') || 'none'}`,
  remedy: () => 'create it, or name another one as `storageClass` in the site file',
  description: `Databases and queues keep their data on volumes of this class. With a class that does not exist their
claims stay pending for ever, which shows late: so it is checked first.`,
  example: { name: 'local-storage', known: ['lvms-vg1'] },
})

export const noDefaultStorageClass = problem<{ known: readonly string[] }>({
  code: 'SL4023',
  severity: 'warning',
  title: 'The cluster has no default storage class',
  message: ({ known }) =>
    `the site names no storage class and the cluster has no default one (it has ${known.join(', ') || 'none'})`,
  remedy: () => 'name a `storageClass` in the site file',
  description: `A volume claim without a class takes the cluster's default. Where there is none it stays pending.`,
  example: { known: ['local-storage'] },
})

export const gatewaySettings = problem<object>({
  code: 'SL4024',
  severity: 'warning',
  title: 'The cluster does not route through its nodes',
  message: () =>
    'network.operator/cluster lacks `routingViaHost: true` or `ipForwarding: Global`: VIPs on secondary interfaces will not answer',
  remedy: () => 'run `stackloom up --configure-cluster`, which sets both, or set them by hand',
  description: `OVN-Kubernetes answers for LoadBalancer addresses on the default interface only, unless its gateway routes
through the host and the host forwards everywhere. The change restarts the network of each node once. It belongs to
the whole cluster, so it is made only with consent.`,
  example: {},
})

export const clusterDnsMissing = problem<{ servers: readonly string[] }>({
  code: 'SL4025',
  severity: 'warning',
  title: "The cluster does not ask the site's DNS servers",
  message: ({ servers }) => `dns.operator/default does not ask ${servers.join(', ')}`,
  remedy: () => 'run `stackloom up --configure-cluster`, which adds them, or add them by hand',
  description: `Pods resolve names through the cluster's DNS. Names that only the site's servers know stay unknown to them
until the cluster's DNS asks there. The change belongs to the whole cluster, so it is made only with consent.`,
  example: { servers: ['192.168.122.1'] },
})

export const crdMismatch = problem<{ gone: readonly string[]; added: readonly string[] }>({
  code: 'SL4026',
  severity: 'warning',
  title: "The cluster's control plane has another schema than the plan",
  message: ({ gone, added }) =>
    `the OpenStackControlPlane of this cluster is not the one that the lock records: ${formatSlots(gone, added)}`,
  remedy: () =>
    'plan for the one that is there: `stackloom plan --crd live`, look at what changes, then run `stackloom up` again',
  description: `The lock records for which schema of the OpenStackControlPlane the addresses were planned, because each place
that takes a Service override needs one. Another version of the operator brings another schema. Fields that it does
not know are refused by the server; a place that the plan does not know gets no address of its cloud.`,
  example: { gone: [], added: ['watcher.template.apiServiceTemplate.override.service'] },
})

function formatSlots(gone: readonly string[], added: readonly string[]): string {
  const words = [
    ...(gone.length > 0 ? [`it lacks ${formatSome(gone)}`] : []),
    ...(added.length > 0 ? [`it adds ${formatSome(added)}`] : []),
  ]
  return words.join(', ') || 'the places that take a Service override are the same'
}

function formatSome(words: readonly string[]): string {
  const more = words.length > 3 ? ` and ${words.length - 3} more` : ''
  return `${words.slice(0, 3).join(', ')}${more}`
}
