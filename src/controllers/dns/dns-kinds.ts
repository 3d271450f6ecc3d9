/** Names the kinds, labels and annotations of the DNS controllers, as upstream has them. */
import { networkVersion } from '../../api/netconfig.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import type { CacheReader } from '../../kube/cache.ts'

export const dnsMasqs = { apiVersion: networkVersion, kind: 'DNSMasq' } as const
export const dnsDatas = { apiVersion: networkVersion, kind: 'DNSData' } as const
export const topologies = { apiVersion: 'topology.openstack.org/v1beta1', kind: 'Topology' } as const
export const configMaps = { apiVersion: 'v1', kind: 'ConfigMap' } as const
export const services = { apiVersion: 'v1', kind: 'Service' } as const
export const pods = { apiVersion: 'v1', kind: 'Pod' } as const
export const serviceAccounts = { apiVersion: 'v1', kind: 'ServiceAccount' } as const
export const deployments = { apiVersion: 'apps/v1', kind: 'Deployment' } as const

export const FIELD_MANAGER = 'stackloom-dns'

/** On a ConfigMap with hosts: the selector value of the DNSMasqs that serve them. */
export const HOSTS_LABEL = 'dnsmasqhosts'
/** On every object that belongs to a DNSMasq or DNSData: its name. */
export const NAME_LABEL = 'dnsmasq.openstack.org/name'
/** On the ConfigMaps from which the pods of a DNSMasq read its hosts. */
export const PART_LABEL = 'dnsmasq.stackloom.dev/part'
/** On a LoadBalancer Service: the names under which it is registered. */
export const HOSTNAME_ANNOTATION = 'dnsmasq.network.openstack.org/hostname'
/** On an IPSet: whether its addresses are registered. */
export const DNS_ANNOTATION = 'stackloom.dev/dns'
/** Upstream's controllers add these; ours remove them from deleted objects. */
export const UPSTREAM_FINALIZERS: readonly string[] = ['openstack.org/dnsmasq', 'openstack.org/dnsdata']

export function ownerLabels({ metadata }: KubeObject): Readonly<Record<string, string>> {
  const { name, namespace = '', uid = '' } = metadata
  return {
    'dnsmasq.openstack.org/uid': uid,
    'dnsmasq.openstack.org/namespace': namespace,
    [NAME_LABEL]: name,
  }
}

/** The value that a DNSMasq and the DNSData that it serves have in common. */
export function selectorValue(spec: { readonly dnsDataLabelSelectorValue?: string | undefined }): string {
  return (spec.dnsDataLabelSelectorValue || 'dnsdata').toLowerCase()
}

/** The watched objects that are limited by labels. */
export const sources = {
  /** Any namespace may have many large ones: only those that a DNSMasq serves are read. */
  hostMaps: { kind: configMaps, labelSelector: HOSTS_LABEL, metadataOnly: true },
  /** Those that belong to a DNSMasq or a DNSData; any namespace may have others with the label. */
  ownMaps: { kind: configMaps, labelSelector: NAME_LABEL, metadataOnly: true },
  deployments: { kind: deployments, labelSelector: NAME_LABEL },
  accounts: { kind: serviceAccounts, labelSelector: NAME_LABEL },
  pods: { kind: pods, labelSelector: `service=dnsmasq,${NAME_LABEL}` },
} as const

/** Keys of the DNSMasqs of a namespace: any change of hosts there concerns them. */
export function dnsMasqKeysIn(dnsMasqs: Pick<CacheReader, 'list'>, namespace = ''): readonly string[] {
  return dnsMasqs.list(namespace).map(({ metadata }) => objectKey(metadata))
}
